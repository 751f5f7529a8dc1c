package stream_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// text is what a sink is given for these events.
func text(t *testing.T, src stream.Source, o stream.CopyOptions) string {
	t.Helper()
	var out bytes.Buffer
	if err := stream.Copy(streamtest.Validate(streamtest.NewText(&out)), src, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// In whatever order, ids and batches the events come, with any memory and cores, the sink
// gets the same bytes in the same calls.
func TestCopyIsCanonical(t *testing.T) {
	cases := append(streamtest.Cases, streamtest.Case{Name: "busy", Build: nil})
	for _, c := range cases {
		b := streamtest.Busy(15_000)
		if c.Build != nil {
			b = streamtest.NewBuilder()
			c.Build(b)
		}
		want := text(t, b.Source(), stream.CopyOptions{})
		for i, memory := range []int64{0, 1, 100 << 10} {
			got := text(t, b.Shuffled(uint64(i)), stream.CopyOptions{Rows: memory, SpillDir: t.TempDir(), Jobs: i})
			if got != want {
				t.Errorf("%s, memory %d: the sink is given something else", c.Name, memory)
			}
		}
	}
}

// A Copy whose source's tables are not used again drops most of them, and gives the sink the same.
func TestCopyOnce(t *testing.T) {
	b := streamtest.Busy(15_000)
	want := text(t, b.Source(), stream.CopyOptions{})
	for order := range uint64(3) {
		src := b.Shuffled(order)
		left := func() int {
			of := src.Tables()
			return of.Stacks.Len() + of.Frames.Len() + of.Tracks.Len() + of.Strings.Len() + len(of.Processes)
		}
		if left() == 0 {
			t.Fatal("there are no stacks")
		}
		if got := text(t, src, stream.CopyOptions{Once: true}); got != want {
			t.Error("the sink is given something else")
		}
		if n := left(); n != 0 {
			t.Errorf("%d rows are left", n)
		}
	}
}

// Rows that are left in memory when large tables are made give way to these, and come as they would otherwise.
func TestCopyCrowdedTables(t *testing.T) {
	b := streamtest.Busy(15_000)
	want := text(t, b.Source(), stream.CopyOptions{})
	for _, rows := range []int64{16 << 10, 64 << 10, 100 << 10, 1 << 20} { // with the last one nothing is spilled
		s := stream.NewSorter(stream.CopyOptions{Rows: rows, SpillDir: t.TempDir()})
		s.CrowdTables()
		src, batch := b.Shuffled(uint64(rows)), stream.Batch{}
		for src.Next(&batch) == nil {
			if err := s.Add(&batch); err != nil {
				t.Fatal(err)
			}
		}
		var out bytes.Buffer
		if err := s.WriteTo(streamtest.Validate(streamtest.NewText(&out)), src.Tables()); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("%d bytes of rows: the sink is given something else", rows)
		}
		s.Close()
	}
}

// once is a source that fails when somebody goes on behind its end.
type once struct {
	*streamtest.Source
	t    *testing.T
	done bool
}

func (s *once) Next(b *stream.Batch) error {
	if s.done {
		s.t.Error("read again behind its end")
	}
	err := s.Source.Next(b)
	s.done = err == io.EOF
	return err
}

// passes counts what a sink is told.
type passes struct {
	begins, closes int
	rows           map[string]int // by series and index
}

func (p *passes) Begin(*stream.Tables) error { p.begins++; return nil }
func (p *passes) Close() error               { p.closes++; return nil }

func (p *passes) Segment(b *stream.Batch) error {
	for i := range b.Len() {
		p.rows[fmt.Sprint(b.Series, b.Time[i])]++
	}
	return nil
}

// One pass over the source gives the sink the rows of all kinds once: of threads,
// counters, pauses and overhead.
func TestCopyIsOnePass(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 1})
	c := p.Counter(stream.Counter{Name: "n"})
	for i := range stream.Time(500) {
		p.Main.Sample(i, b.Stack("main"))
		p.Track("t").Delay(i, 1)
		p.Count(i, c, int64(i), 1)
		p.Pause(i, stream.PhaseStart, 0)
		p.Overhead(i, 1, 1, 1, 1, 1)
	}
	got := passes{rows: map[string]int{}}
	if err := stream.Copy(&got, &once{Source: b.Source(), t: t}, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	if got.begins != 1 || got.closes != 1 || len(got.rows) != 5*500 {
		t.Errorf("%d begins, %d closes, %d rows, want 1, 1 and 2500", got.begins, got.closes, len(got.rows))
	}
	for row, n := range got.rows {
		if n != 1 {
			t.Errorf("%s: %d times", row, n)
		}
	}
}

// Each table is in the order of its content, without the rows that nothing refers to.
func TestCopyOrder(t *testing.T) {
	b := streamtest.NewBuilder()
	late := b.Process(stream.Process{Instance: 2, Pid: 7, Start: 100})
	early := b.Process(stream.Process{Instance: 3, Pid: 7, Start: 50, Parent: late.ID})
	b.Process(stream.Process{Instance: 1, Pid: 7, Start: 100})
	b.Process(stream.Process{Instance: 9, Pid: 8, Start: 200})
	zoo, ant := early.Track("zoo"), early.Track("ant")
	blue, other := b.Category("blue", "blue"), b.Category("Other", "grey")
	b.Category("spare", "red")
	b.Stack("spare")
	late.Counter(stream.Counter{Name: "spare"})
	b.Event(stream.Event{Name: "spare"})
	zoo.Mark(60, stream.Instant, b.Event(stream.Event{Name: "z", Category: blue}))
	zoo.Mark(60, stream.Instant, b.Event(stream.Event{Name: "a"}))
	zoo.Mark(59, stream.Instant, b.Event(stream.Event{Name: "a", Category: other})) // the same event
	zoo.Sample(70, b.Stack("main", "b"))
	zoo.Sample(65, b.Stack("main", "a", "b"))
	ant.Delay(1, 2)
	early.Main.Sample(3, 0)
	late.Log(110, stream.LogInfo, "text")
	late.Count(105, late.Counter(stream.Counter{Name: "n"}), 4, 5)
	late.Main.Sample(120, b.Stack("main"))
	want := `
process 1 instance 3 parent 3 pid 7 out 7 (0000000000000003)
process 2 instance 1 parent 0 pid 7 out 7 (0000000000000001)
process 3 instance 2 parent 0 pid 7 out 7 (0000000000000002)
process 4 instance 9 parent 0 pid 8 out 8
track 1 main true of 1 ""
track 2 main false of 1 "ant"
track 3 main false of 1 "zoo"
track 4 main true of 2 ""
track 5 main true of 3 ""
track 6 main true of 4 ""
counter 1 of 3 "n"
category 1 Other
category 2 blue
event 1 "a" 1
event 2 "z" 2
string 1 "a"
string 2 "b"
string 3 "main"
frame 1 is 1
frame 2 is 2
frame 3 is 3
stack 1 is 0, 3
stack 2 is 1, 1
stack 3 is 1, 2
stack 4 is 2, 2
samples of 1 1 0 0: 3
delays of 1 2 0 0: 1
samples of 1 3 0 0: 65 70
markers of 1 3 1 0: 59 60
markers of 1 3 2 0: 60
samples of 3 5 0 0: 120
counts of 3 0 0 1: 105
logs of 3 0 0 0: 110
`
	var got outline
	if err := stream.Copy(streamtest.Validate(&got), b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	if s := "\n" + got.String(); s != want {
		t.Errorf("got %s\nwant %s", s, want)
	}
}

// outline is a sink that writes what TestCopyOrder looks at.
type outline struct{ bytes.Buffer }

func (o *outline) Begin(t *stream.Tables) error {
	for i, p := range t.Processes {
		fmt.Fprintf(o, "process %d instance %d parent %d pid %d out %s\n", i+1, p.Instance, p.Parent, p.Pid, p.OutPid)
	}
	for id := 1; id <= t.Tracks.Len(); id++ {
		k := t.Tracks.At(stream.TrackID(id))
		fmt.Fprintf(o, "track %d main %v of %d %q\n", id, k.Main, k.Process, k.Name)
	}
	for id := 1; id <= t.Counters.Len(); id++ {
		c := t.Counters.At(stream.CounterID(id))
		fmt.Fprintf(o, "counter %d of %d %q\n", id, c.Process, c.Name)
	}
	for id := 1; id <= t.Categories.Len(); id++ {
		fmt.Fprintf(o, "category %d %s\n", id, t.Categories.At(stream.CategoryID(id)).Name)
	}
	for i, e := range t.Events {
		fmt.Fprintf(o, "event %d %q %d\n", i+1, e.Name, e.Category)
	}
	for id := 1; id <= t.Strings.Len(); id++ {
		fmt.Fprintf(o, "string %d %q\n", id, t.Strings.At(stream.StringID(id)))
	}
	for id := 1; id <= t.Frames.Len(); id++ {
		fmt.Fprintf(o, "frame %d is %d\n", id, t.Frames.At(stream.FrameID(id)).Function)
	}
	for id := 1; id <= t.Stacks.Len(); id++ {
		parent, frame := t.Stacks.At(stream.StackID(id))
		fmt.Fprintf(o, "stack %d is %d, %d\n", id, parent, frame)
	}
	return nil
}

func (o *outline) Segment(b *stream.Batch) error {
	s := b.Series
	fmt.Fprintf(o, "%v of %d %d %d %d:", s.Kind, s.Process, s.Track, s.Event, s.Counter)
	for _, at := range b.Time {
		fmt.Fprintf(o, " %d", at)
	}
	fmt.Fprintln(o)
	return nil
}

func (o *outline) Close() error { return nil }

// failingPipe is a source and a sink that fails in one of its methods.
type failingPipe struct {
	*streamtest.Source
	in     string
	closed bool
}

var errTest = errors.New("test error")

func (f *failingPipe) call(name string) error {
	if f.in == name {
		return errTest
	}
	return nil
}

func (f *failingPipe) Next(b *stream.Batch) error {
	if err := f.call("next"); err != nil {
		return err
	}
	return f.Source.Next(b)
}

func (f *failingPipe) Begin(*stream.Tables) error  { return f.call("begin") }
func (f *failingPipe) Segment(*stream.Batch) error { return f.call("segment") }
func (f *failingPipe) Close() error {
	f.closed = true
	return f.call("close")
}

func TestCopyErrors(t *testing.T) {
	for _, in := range []string{"next", "begin", "segment", "close", ""} {
		f := &failingPipe{Source: streamtest.Busy(100).Source(), in: in}
		err := stream.Copy(f, struct{ stream.Source }{f}, stream.CopyOptions{}) // the sink is what is closed
		if in == "" && err != nil || in != "" && (!errors.Is(err, errTest) || err == errTest) {
			t.Errorf("an error of %q becomes %v", in, err)
		}
		if f.closed != (in == "" || in == "close") {
			t.Errorf("after an error of %q, closed is %v", in, f.closed)
		}
	}
}

// Memory that Copy allocates does not grow with the rows: they are held and spilled in
// memory that is used again.
func TestCopyAllocations(t *testing.T) {
	allocated := func(rows int64) uint64 {
		src := newGrowing(rows, func(t *stream.Tables, i int64) stream.StackID {
			return t.Stacks.Intern(0, frame(t, strconv.FormatInt(i*i%97, 10)))
		})
		o := stream.CopyOptions{Rows: 256 << 10, SpillDir: t.TempDir()}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := stream.Copy(stream.Discard, src, o); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	few, many := allocated(400_000), allocated(1_600_000)
	if many > few+few/10 {
		t.Errorf("%d bytes for 400,000 rows, %d for 1,600,000", few, many)
	}
}

func TestCopySpillError(t *testing.T) {
	o := stream.CopyOptions{Rows: 1, SpillDir: filepath.Join(t.TempDir(), "missing")}
	many := newGrowing(200_000, growStacks)
	if err := stream.Copy(stream.Discard, many, o); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a directory to spill to: %v", err)
	}
	o.Rows = 0
	if err := stream.Copy(stream.Discard, streamtest.Busy(100).Source(), o); err != nil {
		t.Errorf("without a need to spill: %v", err)
	}
}

func TestCopyBadSource(t *testing.T) {
	type change func(*stream.Tables, *stream.Batch)
	tests := map[string]struct {
		change change
		want   error
	}{
		"column":   {func(_ *stream.Tables, b *stream.Batch) { b.Index = b.Index[1:] }, stream.ErrBatch},
		"kind":     {func(_ *stream.Tables, b *stream.Batch) { b.Series.Kind = 99 }, stream.ErrBatch},
		"no track": {func(_ *stream.Tables, b *stream.Batch) { b.Series.Track = 0 }, stream.ErrBatch},
		"stranger": {func(t *stream.Tables, b *stream.Batch) { b.Series.Track = t.Tracks.Intern(stream.Track{Process: 2}) }, stream.ErrBatch},
		"args":     {func(t *stream.Tables, b *stream.Batch) { b.Series.Event = t.AddEvent(stream.Event{Name: "none"}) }, stream.ErrBatch},
		"process":  {func(_ *stream.Tables, b *stream.Batch) { b.Series.Process = 3 }, stream.ErrUndefined},
		"track":    {func(_ *stream.Tables, b *stream.Batch) { b.Series.Track = 9 }, stream.ErrUndefined},
		"event":    {func(_ *stream.Tables, b *stream.Batch) { b.Series.Event = 9 }, stream.ErrUndefined},
		"stack":    {func(_ *stream.Tables, b *stream.Batch) { b.Stack[0] = 9 }, stream.ErrUndefined},
		"negative": {func(_ *stream.Tables, b *stream.Batch) { b.Stack[0] = -1 }, stream.ErrUndefined},
		"parent":   {func(t *stream.Tables, _ *stream.Batch) { t.Processes[0].Parent = 9 }, stream.ErrUndefined},
		"owner":    {func(t *stream.Tables, _ *stream.Batch) { t.Tracks.Intern(stream.Track{Process: 9}) }, stream.ErrUndefined},
		"frame":    {func(t *stream.Tables, b *stream.Batch) { b.Stack[0] = t.Stacks.Intern(0, 9) }, stream.ErrUndefined},
		"category": {func(t *stream.Tables, _ *stream.Batch) { t.Events[0].Category = 9 }, stream.ErrUndefined},
		"function": {func(t *stream.Tables, b *stream.Batch) {
			b.Stack[0] = t.Stacks.Intern(0, t.Frames.Intern(stream.Frame{Function: 9}))
		}, stream.ErrUndefined},
		"nothing": {func(*stream.Tables, *stream.Batch) {}, nil},
	}
	for name, test := range tests {
		b := streamtest.NewBuilder()
		p := b.Process(stream.Process{Instance: 1})
		b.Process(stream.Process{Instance: 2})
		p.Main.Mark(1, stream.Instant, b.Event(stream.Event{Name: "e", Fields: make([]stream.EventField, 1)}), 5)
		batch := streamtest.Batches(b.Tables, b.Rows, 1)[0]
		test.change(b.Tables, batch)
		err := stream.Copy(stream.Discard, one{b.Tables, batch, new(bool)}, stream.CopyOptions{})
		if !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", name, err, test.want)
		}
	}
}

// one is a source of one batch as it is, wrong or not.
type one struct {
	tables *stream.Tables
	batch  *stream.Batch
	done   *bool
}

func (o one) Next(b *stream.Batch) error {
	if *o.done {
		return io.EOF
	}
	*b, *o.done = *o.batch, true
	return nil
}

func (o one) Tables() *stream.Tables { return o.tables }
