package stream

import (
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
)

// benchRows is how many samples one operation of the benchmarks copies.
const benchRows = 1_000_000

// sampleBytes is what the columns of a sample take.
const sampleBytes = 8 + 8 + 4 + 8 + 8

// batches is a source of the same batches again and again. It hands them over as
// they are, as a source does that swaps them for others.
type batches struct {
	tables *Tables
	list   []*Batch
	next   int
}

func (s *batches) Next(b *Batch) error {
	if s.next == len(s.list) {
		s.next = 0
		return io.EOF
	}
	*b = *s.list[s.next]
	s.next++
	return nil
}

func (s *batches) Tables() *Tables { return s.tables }

// benchTracks is how many tracks the samples of the benchmarks are of.
const benchTracks = 32

// benchSource gives benchRows samples of benchTracks, with stacks of a table of
// that many, in batches of 250. Their order is
//
//	sorted       each track in order, tracks in turn
//	interleaved  each track's samples come from 8 writers, which are read one
//	             after the other, 2,000 of a track at a time
//	late         as sorted, but one of a hundred is 50 rows too late
//	shuffled     each batch has rows of the whole time
func benchSource(order string, stacks int) *batches {
	s := &batches{tables: benchTables(benchTracks, stacks)}
	parts := make([][]*Batch, benchTracks)
	for track := range benchTracks {
		all := sampleRows(uint64(track), benchRows/benchTracks)
		all.Series.Track = TrackID(track + 1)
		for i := range all.Stack {
			all.Stack[i] = 1 + all.Stack[i]*7919%StackID(stacks)
		}
		(&ordering{order: benchOrder(order, all.Len())}).permute(all)
		for from := 0; from < all.Len(); from += 250 {
			b := like(all)
			b.AppendRows(all, from, min(from+250, all.Len()))
			parts[track] = append(parts[track], b)
		}
	}
	for i := range parts[0] {
		for track := range parts {
			s.list = append(s.list, parts[track][i])
		}
	}
	return s
}

// benchOrder is the order in which n rows come.
func benchOrder(name string, n int) []int32 {
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	r := rand.New(rand.NewPCG(1, 1))
	switch name {
	case "shuffled":
		r.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	case "late":
		for i := 0; i < n-50; i += 100 {
			late := order[i]
			copy(order[i:], order[i+1:i+51])
			order[i+50] = late
		}
	case "interleaved":
		const writers, chunk = 8, 2000
		for from := 0; from+writers*chunk <= n; from += writers * chunk {
			slices.SortStableFunc(order[from:from+writers*chunk], func(a, b int32) int {
				return cmp.Compare(uint64(a)*0x9e3779b97f4a7c15>>61, uint64(b)*0x9e3779b97f4a7c15>>61)
			})
		}
	}
	return order
}

func benchTables(tracks, stacks int) *Tables {
	t := &Tables{Processes: []Process{{Instance: 1}}}
	for i := range tracks {
		t.Tracks.Intern(Track{Process: 1, Main: i == 0, Name: fmt.Sprint(i)})
	}
	for i := range 1000 {
		t.Frames.Intern(Frame{Function: t.Strings.Intern(fmt.Sprint("f", i))})
	}
	r := rand.New(rand.NewPCG(1, 1))
	for depth := 1; t.Stacks.Len() < stacks; depth = depth%40 + 1 {
		parent := StackID(max(0, t.Stacks.Len()-r.IntN(40*depth)))
		t.Stacks.Intern(parent, FrameID(1+r.IntN(1000)))
	}
	return t
}

// The floors: moving each column once, and a merge of the rows' keys alone. A
// sample must cost no more than a few of the first; see the metric ns/row.
//
//	go test ./stream -run - -bench Copy -count 10 | benchstat -col /impl -
func BenchmarkCopy(b *testing.B) {
	for _, order := range []string{"sorted", "interleaved", "late", "shuffled"} {
		src := benchSource(order, 300_000)
		name := "order=" + order
		b.Run(name+"/impl=memcpy", func(b *testing.B) { benchMemcpy(b, src) })
		b.Run(name+"/impl=memory", func(b *testing.B) { benchCopy(b, src, CopyOptions{Rows: 1 << 30}) })
		b.Run(name+"/impl=spill", func(b *testing.B) { benchCopy(b, src, CopyOptions{Rows: 4 << 20, SpillDir: b.TempDir()}) })
	}
}

func benchCopy(b *testing.B, src *batches, o CopyOptions) {
	b.SetBytes(benchRows * sampleBytes)
	b.ReportAllocs()
	for b.Loop() {
		if err := Copy(Discard, src, o); err != nil {
			b.Fatal(err)
		}
	}
	perRow(b)
}

func benchMemcpy(b *testing.B, src *batches) {
	b.SetBytes(benchRows * sampleBytes)
	var batch, all Batch
	for b.Loop() {
		all.Reset(Series{}, 0)
		for src.Next(&batch) == nil {
			if all.Len() >= maxSegment {
				all.Reset(Series{}, 0)
			}
			all.AppendRows(&batch, 0, batch.Len())
		}
	}
	perRow(b)
}

func perRow(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
}

// What the freezing of the tables takes, beside a walk over the stacks.
//
//	go test ./stream -run - -bench Freeze -count 10 | benchstat -col /impl -
func BenchmarkFreeze(b *testing.B) {
	t := benchTables(16, 300_000)
	live := slices.Repeat([]bool{true}, t.Stacks.Len()+1)
	b.Run("impl=floor", func(b *testing.B) {
		for b.Loop() {
			var sum FrameID
			for id := StackID(1); int(id) <= t.Stacks.Len(); id++ {
				_, frame := t.Stacks.At(id)
				sum += frame
			}
		}
	})
	b.Run("impl=freeze", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := freeze(t, nil, live); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// A block of samples, encoded and decoded, beside the move of its columns.
//
//	go test ./stream -run - -bench Block -count 10 | benchstat -col /impl -
func BenchmarkBlock(b *testing.B) {
	rows := sampleRows(1, blockRows)
	p := new(packer)
	block := slices.Grow(encode(rows), slack)
	out := like(rows)
	for _, bench := range []struct {
		name string
		do   func() error
	}{
		{"floor", func() error { out.AppendRows(rows, 0, rows.Len()); return nil }},
		{"encode", func() error { block = appendBlock(block[:0], p, rows, 0, rows.Len()); return nil }},
		{"decode", func() error { return readBlock(out, block) }},
	} {
		b.Run("impl="+bench.name, func(b *testing.B) {
			b.SetBytes(blockRows * sampleBytes)
			b.ReportAllocs()
			for b.Loop() {
				out.Reset(rows.Series, 0)
				if err := bench.do(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
