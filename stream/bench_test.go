package stream

import (
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

// batches is a source of the same batches again and again.
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
	from := s.list[s.next]
	s.next++
	b.Reset(from.Series, len(from.Args))
	b.AppendRows(from, 0, from.Len())
	return nil
}

func (s *batches) Tables() *Tables { return s.tables }

// benchSource gives benchRows samples of some tracks, with 100,000 stacks. When
// they are shuffled, each batch has rows of the whole time.
func benchSource(tracks int, shuffled bool) *batches {
	s := &batches{tables: benchTables(tracks)}
	for track := range tracks {
		all := sampleRows(uint64(track), benchRows/tracks)
		all.Series.Track = TrackID(track + 1)
		if shuffled {
			order := make([]int32, all.Len())
			for i, n := range rand.New(rand.NewPCG(1, 1)).Perm(all.Len()) {
				order[i] = int32(n)
			}
			all.permute(order)
		}
		for from := 0; from < all.Len(); from += 1000 {
			b := like(all)
			b.AppendRows(all, from, min(from+1000, all.Len()))
			s.list = append(s.list, b)
		}
	}
	return s
}

func benchTables(tracks int) *Tables {
	t := &Tables{Processes: []Process{{Instance: 1}}}
	for i := range tracks {
		t.Tracks.Intern(Track{Process: 1, Main: i == 0, Name: fmt.Sprint(i)})
	}
	for i := range 1000 {
		t.Frames.Intern(Frame{Function: t.Strings.Intern(fmt.Sprint("f", i))})
	}
	r := rand.New(rand.NewPCG(1, 1))
	for t.Stacks.Len() < 100_000 {
		t.Stacks.Intern(StackID(r.IntN(t.Stacks.Len()+1)), FrameID(1+r.IntN(1000)))
	}
	return t
}

// The floors: what has to be done at least, reading the source and moving each
// column once, and for shuffled rows sorting their keys.
//
//	go test ./stream -run - -bench Copy -count 10 | benchstat -col /impl -
func BenchmarkCopy(b *testing.B) {
	for _, order := range []string{"sorted", "shuffled"} {
		src := benchSource(16, order == "shuffled")
		name := "order=" + order
		b.Run(name+"/impl=floor", func(b *testing.B) { benchFloor(b, src, order == "shuffled") })
		b.Run(name+"/impl=memory", func(b *testing.B) { benchCopy(b, src, CopyOptions{Memory: 1 << 30}) })
		b.Run(name+"/impl=spill", func(b *testing.B) { benchCopy(b, src, CopyOptions{Memory: 4 << 20, SpillDir: b.TempDir()}) })
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
}

func benchFloor(b *testing.B, src *batches, sort bool) {
	b.SetBytes(benchRows * sampleBytes)
	b.ReportAllocs()
	var batch, all Batch
	keys := make([]sortKey, 0, benchRows)
	for b.Loop() {
		keys = keys[:0]
		all.Reset(Series{}, 0)
		for src.Next(&batch) == nil {
			all.AppendRows(&batch, 0, batch.Len())
			for i := 0; sort && i < batch.Len(); i++ {
				keys = append(keys, batch.key(i))
			}
		}
		slices.SortFunc(keys, sortKey.compare)
	}
}

// What the freezing of the tables takes, beside a walk over the stacks.
//
//	go test ./stream -run - -bench Freeze -count 10 | benchstat -col /impl -
func BenchmarkFreeze(b *testing.B) {
	t := benchTables(16)
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
	block := appendBlock(nil, rows, 0, rows.Len())
	out := like(rows)
	for _, bench := range []struct {
		name string
		do   func() error
	}{
		{"floor", func() error { out.AppendRows(rows, 0, rows.Len()); return nil }},
		{"encode", func() error { block = appendBlock(block[:0], rows, 0, rows.Len()); return nil }},
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
