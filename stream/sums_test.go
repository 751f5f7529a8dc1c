package stream_test

import (
	"maps"
	"slices"
	"testing"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// stackSums sums up the samples of each stack. It notes how many came as rows.
type stackSums struct {
	need   stream.Need
	tables *stream.Tables
	sums   map[stream.StackID]stream.StackSum
	rows   map[stream.Kind]int
}

func (s *stackSums) Begin(t *stream.Tables) error {
	s.tables, s.sums, s.rows = t, map[stream.StackID]stream.StackSum{}, map[stream.Kind]int{}
	return nil
}

func (s *stackSums) Needs(k stream.Kind, _ *stream.Tables) stream.Need {
	if k == stream.Samples {
		return s.need
	}
	return stream.NeedsTally
}

func (s *stackSums) add(a stream.StackSum) {
	sum := s.sums[a.Stack]
	s.sums[a.Stack] = stream.StackSum{Stack: a.Stack, Samples: sum.Samples + a.Samples, Timed: sum.Timed + a.Timed, CPU: sum.CPU + a.CPU}
}

func (s *stackSums) Sums(all *stream.Sums) error {
	seen := map[stream.StackID]bool{}
	for _, sum := range all.Stacks {
		if seen[sum.Stack] {
			panic("a stack has two sums")
		}
		seen[sum.Stack] = true
		s.add(sum)
	}
	return nil
}

func (s *stackSums) Segment(b *stream.Batch) error {
	s.rows[b.Series.Kind] += b.Len()
	if b.Series.Kind != stream.Samples {
		return nil
	}
	for i, stack := range b.Stack {
		sum := stream.StackSum{Stack: stack, Samples: b.Weight[i]}
		if cpu := b.CPU[i]; cpu >= 0 {
			sum.Timed, sum.CPU = sum.Samples, cpu
		}
		s.add(sum)
	}
	return nil
}

func (s *stackSums) Close() error { return nil }

// Sums add up to the same as the rows, and so does a count, however much memory the
// sums may take. Other sinks get all rows.
func TestSumsInAnyMemory(t *testing.T) {
	for _, c := range append(streamtest.Cases, streamtest.Case{Name: "busy"}) {
		b := streamtest.Busy(15_000)
		if c.Build != nil {
			b = streamtest.NewBuilder()
			c.Build(b)
		}
		copyTo := func(dst stream.Sink, o stream.CopyOptions) {
			t.Helper()
			o.SpillDir = t.TempDir()
			if err := stream.Copy(dst, b.Shuffled(uint64(o.Rows)), o); err != nil {
				t.Fatal(err)
			}
		}
		want, rows := new(stackSums), new(stream.Count)
		copyTo(stream.Tee(streamtest.Validate(want), streamtest.Validate(rows)), stream.CopyOptions{})
		for _, memory := range []int64{0, 1, 3 << 10} {
			got, count := &stackSums{need: stream.NeedsStacks}, new(stream.Count)
			copyTo(stream.Tee(got, count), stream.CopyOptions{Rows: memory})
			if !maps.Equal(got.sums, want.sums) {
				t.Errorf("%s, memory %d: sums %v, want %v", c.Name, memory, got.sums, want.sums)
			}
			if !slices.Equal(count.Series, rows.Series) {
				t.Errorf("%s, memory %d: tallies %v, want %v", c.Name, memory, count.Series, rows.Series)
			}
			kinds := &stream.Count{Kinds: true}
			copyTo(stream.Tee(got, kinds), stream.CopyOptions{Rows: memory})
			sameKinds(t, kinds, rows)
			if c.Name == "busy" {
				all, some := want.rows[stream.Samples], got.rows[stream.Samples]
				if ok := map[int64]bool{0: some == 0, 1: some == all, 3 << 10: 0 < some && some < all}[memory]; !ok {
					t.Errorf("memory %d: %d of %d samples came as rows", memory, some, all)
				}
				if len(got.rows) > 1 || got.rows[stream.Samples] != some {
					t.Errorf("rows of %v, want samples only", got.rows)
				}
			}
			other := new(stackSums)
			copyTo(stream.Tee(got, other, streamtest.Validate(new(stackSums))), stream.CopyOptions{Rows: memory})
			if !maps.Equal(other.rows, want.rows) {
				t.Errorf("%s: beside a sink of rows there are %v, want %v", c.Name, other.rows, want.rows)
			}
		}
	}
}

// sameKinds compares the tallies of kinds with those of series.
func sameKinds(t *testing.T, kinds, all *stream.Count) {
	t.Helper()
	for _, k := range kinds.Series {
		if want := all.Sum(func(s stream.Series) bool { return s.Kind == k.Kind }); k.Tally != want || want.Rows == 0 || k.Series != (stream.Series{Kind: k.Kind}) {
			t.Errorf("%+v, want %+v", k, want)
		}
	}
	any := func(stream.Series) bool { return true }
	if got, want := kinds.Sum(any), all.Sum(any); got != want {
		t.Errorf("%+v in all, want %+v", got, want)
	}
}

// The parts of a source that was split are not summed up together.
func TestSumsOfParts(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Name: "shop"})
	stack := b.Stack("main.main")
	p.Main.Sample(1, stack)
	p.Main.Sample(2, stack)
	batches := streamtest.Batches(b.Tables, b.Rows, 1)
	for i, one := range batches {
		one.Series.Part = int64(i + 1)
	}
	sink := &stackSums{need: stream.NeedsStacks}
	if err := stream.Copy(sink, streamtest.NewSource(b.Tables, batches...), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	if sink.rows[stream.Samples] != 2 {
		t.Errorf("%d samples came as rows, want 2", sink.rows[stream.Samples])
	}
}

// embedding is a Sink of others that counts, and looks at the rows itself.
type embedding struct {
	stream.Count
	rows int
}

func (e *embedding) Segment(b *stream.Batch) error {
	e.rows += b.Len()
	return e.Count.Segment(b)
}

// A Sink in which a Count is embedded gets the rows.
func TestEmbeddedCount(t *testing.T) {
	b := streamtest.NewBuilder()
	b.Process(stream.Process{Instance: 1, Pid: 1}).Main.Sample(1, b.Stack("main"))
	e := new(embedding)
	if err := stream.Copy(e, b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	if n := e.Sum(func(stream.Series) bool { return true }).Rows; e.rows != 1 || n != 1 {
		t.Errorf("%d rows, counted %d, want 1", e.rows, n)
	}
}
