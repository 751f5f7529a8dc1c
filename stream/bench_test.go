package stream

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"gprof/stream/internal/pack"
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

// benchTracks is the number of tracks that the samples belong to.
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
		all.Select(benchOrder(order, all.Len()), &Batch{})
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

// The floors are the source alone, which moves each column once, and where rows
// alternate a merge of their times. A sample's share of the CPU is cpu-ns/row;
// RSS-MB is how much the resident memory grew.
//
//	go test ./stream -run - -bench Copy -count 10 | benchstat -col /impl -
func BenchmarkCopy(b *testing.B) {
	for _, order := range []string{"sorted", "interleaved", "late", "shuffled"} {
		src := benchSource(order, 300_000)
		name := "order=" + order
		b.Run(name+"/impl=source", func(b *testing.B) { benchRun(b, func() error { return drain(src) }) })
		for _, impl := range []struct {
			name string
			rows int64
		}{{"memory", 1 << 30}, {"spill", 0}} {
			o := CopyOptions{Rows: impl.rows, SpillDir: b.TempDir()}
			b.Run(name+"/impl="+impl.name, func(b *testing.B) { benchRun(b, func() error { return Copy(Discard, src, o) }) })
		}
	}
	b.Run("order=interleaved/impl=merge", func(b *testing.B) { benchRun(b, bareMerge()) })
}

// bareMerge does nothing but merge the times of eight writers that alternate.
func bareMerge() func() error {
	var writers [8][]Time
	r := rand.New(rand.NewPCG(1, 1))
	for i := range benchRound {
		w := r.IntN(len(writers))
		writers[w] = append(writers[w], Time(i))
	}
	out := make([]Time, 0, benchRound)
	return func() error {
		for range benchRounds {
			left := writers
			for out = out[:0]; len(out) < benchRound; {
				next, at := Time(math.MaxInt64), 0
				for w := range left {
					if len(left[w]) > 0 && left[w][0] < next {
						next, at = left[w][0], w
					}
				}
				out, left[at] = append(out, next), left[at][1:]
			}
		}
		return nil
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

// generator is a source that makes its rows up: of five samples one marker with
// a number and a text.
type generator struct {
	tables *Tables
	stacks uint64
	rows   int // to come
	clock  [benchTracks]Time
	index  uint64
	random rand.PCG
	turn   int
}

func newGenerated(rows, stacks int) *generator {
	g := &generator{tables: benchTables(benchTracks, stacks), stacks: uint64(stacks), rows: rows}
	g.tables.AddEvent(Event{Name: "request", Fields: []EventField{{Name: "id", Type: Uint}, {Name: "url", Type: Text}}})
	return g
}

func (g *generator) Tables() *Tables { return g.tables }

func (g *generator) Next(b *Batch) error {
	if g.rows <= 0 {
		return io.EOF
	}
	g.turn++
	track := g.turn / 6 % benchTracks
	series := Series{Process: 1, Track: TrackID(track + 1), Kind: Samples}
	if g.turn%6 == 0 {
		series.Kind, series.Event = Markers, 1
	}
	b.Reset(series, g.tables.Args(series))
	for range min(g.rows, 250) {
		g.row(b, track)
	}
	g.rows -= b.Len()
	return nil
}

func (g *generator) row(b *Batch, track int) {
	r := g.random.Uint64()
	g.clock[track] += Time(900_000 + r%200_000)
	g.index += 10 + r>>58
	b.Time, b.Index = append(b.Time, g.clock[track]), append(b.Index, g.index)
	b.Stack = append(b.Stack, StackID(1+r>>20%g.stacks))
	if b.Series.Kind == Samples {
		b.Weight, b.CPU = append(b.Weight, 1), append(b.CPU, int64(r>>40%1_000_000))
		return
	}
	b.Phase, b.Duration = append(b.Phase, Interval), append(b.Duration, int64(r>>40))
	b.Args[0].AppendBits(Uint, r>>32)
	b.Args[1].AppendText([]byte("https://example.org/cart/checkout?item=0123456789")[:30+r>>60])
}

// Memory does not depend on how much there is: the metric RSS-MB is the same for
// all numbers of rows. The tables of the source are not in it, the final ones
// are.
//
//	go test ./stream -run - -bench CopyRows -benchtime 1x
func BenchmarkCopyRows(b *testing.B) {
	for _, rows := range []int{6_000_000, 24_000_000} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			src := newGenerated(rows, 300_000)
			b.ReportAllocs()
			before := resetPeak()
			for b.Loop() {
				src.rows = rows
				if err := Copy(Discard, src, CopyOptions{SpillDir: b.TempDir()}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(peak()-before)/(1<<20), "RSS-MB")
		})
	}
}

// dumps is a source of a million samples of a thousand short processes, each
// with its own tracks.
type dumps struct {
	tables *Tables
	next   int // track
}

const (
	benchDumps = 1000
	dumpRows   = 31 // of a track
)

func newDumps(stacks int) *dumps {
	d := &dumps{tables: benchTables(0, stacks)}
	d.tables.Processes = nil
	for i := range benchDumps {
		d.tables.Processes = append(d.tables.Processes, Process{Instance: uint64(i + 1), Pid: i, Name: "shop"})
		for k := range benchTracks {
			d.tables.Tracks.Intern(Track{Process: ProcessID(i + 1), Main: k == 0, Name: fmt.Sprint("worker ", k)})
		}
	}
	return d
}

func (d *dumps) Tables() *Tables { return d.tables }

func (d *dumps) Next(b *Batch) error {
	if d.next == benchDumps*benchTracks {
		return io.EOF
	}
	process, track := d.next/benchTracks, d.next
	d.next++
	b.Reset(Series{Process: ProcessID(process + 1), Track: TrackID(track + 1), Kind: Samples}, 0)
	for i := range dumpRows {
		b.Time, b.Index = append(b.Time, Time(process*1e6+i*1e6)), append(b.Index, uint64(track%benchTracks*1000+i*30))
		b.Stack = append(b.Stack, StackID(1+(process*5000+i*7919+track*17)%d.tables.Stacks.Len()))
		b.Weight, b.CPU = append(b.Weight, 1), append(b.CPU, int64(i*1000))
	}
	return nil
}

// Many short processes, with tables that are complete: the time is for the
// whole.
//
//	go test ./stream -run - -bench CopyDumps
func BenchmarkCopyDumps(b *testing.B) {
	src := newDumps(145_000)
	b.ReportAllocs()
	before, cpu := resetPeak(), cpuTime()
	for b.Loop() {
		src.next = 0
		if err := Copy(Discard, src, CopyOptions{SpillDir: b.TempDir()}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpuTime()-cpu)/float64(b.N)/1e6, "cpu-ms")
	b.ReportMetric(float64(peak()-before)/(1<<20), "RSS-MB")
}

// slowSink is a sink that does some work for each row on the caller's goroutine, as
// one does that formats it.
type slowSink struct {
	Sink
	text []byte
}

func (s *slowSink) Segment(b *Batch) error {
	s.text = s.text[:0]
	for i := range b.Time {
		s.text = strconv.AppendInt(s.text, int64(b.Time[i]), 10)
		s.text = strconv.AppendInt(s.text, int64(b.Stack[i]), 10)
	}
	return nil
}

// With two cores segments are sorted while the sink works.
//
//	go test ./stream -run - -bench CopyJobs -count 10 | benchstat -col /jobs -
func BenchmarkCopyJobs(b *testing.B) {
	src := benchSource("interleaved", 300_000)
	for _, jobs := range []int{1, 2} {
		o := CopyOptions{Jobs: jobs, SpillDir: b.TempDir()}
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			benchRun(b, func() error { return Copy(&slowSink{Sink: Discard}, src, o) })
		})
	}
}

// Freezing of the tables, beside a walk over the stacks.
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
				if _, _, err := freeze(t, nil, live, nil, CopyOptions{}); err != nil {
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
	p := new(pack.Encoder)
	block := slices.Grow(encode(rows), pack.Slack)
	out := like(rows)
	for _, bench := range []struct {
		name string
		do   func() error
	}{
		{"floor", func() error { out.AppendRows(rows, 0, rows.Len()); return nil }},
		{"encode", func() error { block = appendBlock(block[:0], p, rows, selection{to: rows.Len()}); return nil }},
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
