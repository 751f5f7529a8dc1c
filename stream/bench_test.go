package stream

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
)

// benchRows is how many samples one operation of the benchmarks copies.
const (
	benchRows   = benchRounds * benchRound
	benchRounds = 5
	benchRound  = 1_000_000
)

// sampleBytes is what the columns of a sample take.
const sampleBytes = 8 + 8 + 4 + 8 + 8

// batches is a source of batches, some rounds of them one after the other in
// time.
type batches struct {
	tables *Tables
	list   []*Batch
	next   int
}

func (s *batches) Next(b *Batch) error {
	if s.next == benchRounds*len(s.list) {
		s.next = 0
		return io.EOF
	}
	from := s.list[s.next%len(s.list)]
	b.Reset(from.Series, len(from.Args))
	b.AppendRows(from, 0, from.Len())
	later := Time(s.next/len(s.list)) * 1e15
	for i := range b.Time {
		b.Time[i] += later
	}
	s.next++
	return nil
}

func (s *batches) Tables() *Tables { return s.tables }

// benchTracks is how many tracks the samples of the benchmarks are of.
const benchTracks = 32

// benchSource gives samples of benchTracks, with stacks of a table of
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
		all := sampleRows(uint64(track), benchRound/benchTracks)
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

// The floor is the source alone, which moves each column once; freeze is what
// Copy does with the tables. A sample's share of the CPU is cpu-ns/row; RSS-MB is
// how much the resident memory grew.
//
//	go test ./stream -run - -bench Copy -count 10 | benchstat -col /impl -
func BenchmarkCopy(b *testing.B) {
	for _, order := range []string{"sorted", "interleaved", "late", "shuffled"} {
		src := benchSource(order, 300_000)
		name := "order=" + order
		b.Run(name+"/impl=source", func(b *testing.B) { benchRun(b, func() error { return drain(src) }) })
		for impl, rows := range map[string]int64{"memory": 1 << 30, "spill": 0} {
			o := CopyOptions{Rows: rows, SpillDir: b.TempDir()}
			b.Run(name+"/impl="+impl, func(b *testing.B) { benchRun(b, func() error { return Copy(Discard, src, o) }) })
		}
	}
}

// benchRun measures one run over benchRows.
func benchRun(b *testing.B, run func() error) {
	b.SetBytes(benchRows * sampleBytes)
	b.ReportAllocs()
	before := resetPeak()
	cpu := cpuTime()
	for b.Loop() {
		if err := run(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpuTime()-cpu)/float64(b.N)/benchRows, "cpu-ns/row")
	b.ReportMetric(float64(peak()-before)/(1<<20), "RSS-MB")
}

func drain(src Source) error {
	var b Batch
	for {
		if err := src.Next(&b); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// What the freezing of the tables takes, beside a walk over the stacks.
//
//	go test ./stream -run - -bench Freeze -count 10 | benchstat -col /impl -
func BenchmarkFreeze(b *testing.B) {
	for _, stacks := range []int{300_000, 5_000_000} {
		t := benchTables(benchTracks, stacks)
		live := slices.Repeat([]bool{true}, t.Stacks.Len()+1)
		name := fmt.Sprintf("stacks=%d", stacks)
		b.Run(name+"/impl=walk", func(b *testing.B) {
			for b.Loop() {
				var sum FrameID
				for id := StackID(1); int(id) <= t.Stacks.Len(); id++ {
					_, frame := t.Stacks.At(id)
					sum += frame
				}
			}
		})
		b.Run(name+"/impl=freeze", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := freeze(t, nil, live); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
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
