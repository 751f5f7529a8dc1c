package top

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/convert/internal/calls"
	"gprof/convert/internal/durations"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// shop is two processes whose samples and markers are easy to count.
func shop() *streamtest.Builder {
	b := streamtest.NewBuilder()
	order := b.Event(stream.Event{Name: "order"})
	again := b.Event(stream.Event{Name: "order", Fields: []stream.EventField{{Name: "n", Type: stream.Int}}}) // of another version
	for i := range uint64(2) {
		p := b.Process(stream.Process{Instance: i + 1, Pid: int(i) + 1, Name: "shop", Start: 1, End: 100})
		worker := p.Track("worker")
		for at := range stream.Time(3) {
			worker.Add(streamtest.Row{Time: at + 1, Stack: b.Stack("main.main", "main.work"), Weight: 2, CPU: 10})
		}
		p.Main.Add(streamtest.Row{Time: 5, Stack: b.Stack("main.main"), Weight: 1, CPU: 5})
		worker.Interval(10, 1000, order)
		worker.Interval(11, 3000, again, int64(1))
		worker.Mark(20, stream.PhaseStart, order)
		worker.Mark(22, stream.PhaseEnd, order)
		p.Main.Mark(23, stream.Instant, order)
		p.Main.Mark(24, stream.PhaseStart, order)
	}
	return b
}

func table(t *testing.T, by, of string, src stream.Source) *Table {
	t.Helper()
	sink, err := New(by, of)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Copy(streamtest.Validate(sink), src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return sink.Table
}

func TestTable(t *testing.T) {
	all := Amount{Samples: 14, Timed: 14, CPU: 70}
	for by, want := range map[string]*Table{
		"function": {Rows: []Row{
			{"main.work", Amount{Samples: 12, Timed: 12, CPU: 60}, Amount{Samples: 12, Timed: 12, CPU: 60}},
			{"main.main", Amount{Samples: 2, Timed: 2, CPU: 10}, Amount{Samples: 14, Timed: 14, CPU: 70}}}},
		"package": {Rows: []Row{{"main", all, all}}},
		"process": {Rows: []Row{
			{"shop · pid 1", Amount{Samples: 7, Timed: 7, CPU: 35}, Amount{Samples: 7, Timed: 7, CPU: 35}},
			{"shop · pid 2", Amount{Samples: 7, Timed: 7, CPU: 35}, Amount{Samples: 7, Timed: 7, CPU: 35}}}},
		"track": {Rows: []Row{
			{"shop · pid 1 · worker", Amount{Samples: 6, Timed: 6, CPU: 30}, Amount{Samples: 6, Timed: 6, CPU: 30}},
			{"shop · pid 2 · worker", Amount{Samples: 6, Timed: 6, CPU: 30}, Amount{Samples: 6, Timed: 6, CPU: 30}},
			{"shop · pid 1 · shop", Amount{Samples: 1, Timed: 1, CPU: 5}, Amount{Samples: 1, Timed: 1, CPU: 5}},
			{"shop · pid 2 · shop", Amount{Samples: 1, Timed: 1, CPU: 5}, Amount{Samples: 1, Timed: 1, CPU: 5}}}},
	} {
		want.By, want.Of, want.All, want.Markers, want.Counters = by, Auto, all, []MarkerRow{}, []CounterRow{}
		if diff := cmp.Diff(want, table(t, by, Auto, shop().Source())); diff != "" {
			t.Errorf("by %s (-want +got):\n%s", by, diff)
		}
	}
}

func TestMarkers(t *testing.T) {
	got := table(t, Marker, Auto, shop().Source())
	want := []MarkerRow{{Name: "order", Count: 10, Timed: 6, Unpaired: 2, All: 8004, P50: 1002, P99: 3000, Max: 3000}}
	if diff := cmp.Diff(want, got.Markers); diff != "" {
		t.Errorf("markers (-want +got):\n%s", diff)
	}
}

// The table is the same in whatever order the rows come. Every way of grouping
// takes every kind of row.
func TestOrder(t *testing.T) {
	for _, by := range Ways() {
		want := table(t, by, Auto, shop().Source())
		for range 5 {
			if diff := cmp.Diff(want, table(t, by, Auto, shop().Shuffled(rand.Uint64()))); diff != "" {
				t.Errorf("by %s, shuffled:\n%s", by, diff)
			}
		}
	}
}

// Sums are the same as those of rows: of whatever, grouped by whatever, and also if they become too many and the
// rest comes as rows.
func TestSums(t *testing.T) {
	testSums(t, "busy", streamtest.Busy(3000))
	for _, c := range streamtest.Cases {
		b := streamtest.NewBuilder()
		if c.Build(b); len(b.Rows) < 5000 { // more is nothing new
			testSums(t, c.Name, b)
		}
	}
}

func testSums(t *testing.T, name string, b *streamtest.Builder) {
	for _, by := range Ways() {
		for _, of := range append(calls.Bases(), Auto) {
			if of != Auto && (by == Marker || by == Counter) {
				continue
			}
			want := table(t, by, of, b.Source())
			for _, memory := range []int64{0, 2 << 10} {
				sink, err := New(by, of)
				if err != nil {
					t.Fatal(err)
				}
				beside, err := New("function", Auto) // may ask for more
				if err != nil {
					t.Fatal(err)
				}
				if err := stream.Copy(stream.Tee(sink, beside), b.Source(), stream.CopyOptions{Rows: memory, SpillDir: t.TempDir()}); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, sink.Table); diff != "" {
					t.Errorf("%s by %s of %s, memory %d (-rows +sums):\n%s", name, by, of, memory, diff)
				}
			}
		}
	}
}

// Every kind of row is taken, in any order.
func TestSink(t *testing.T) {
	for _, by := range Ways() {
		t.Run(by, func(t *testing.T) {
			streamtest.TestSink(t, func(w io.Writer) stream.Sink {
				sink, err := New(by, Auto)
				if err != nil {
					t.Fatal(err)
				}
				return &printed{sink, w}
			}, func(t *testing.T, output []byte) {
				if !json.Valid(output) {
					t.Errorf("not JSON: %s", output)
				}
			})
		})
	}
}

// printed writes the table.
type printed struct {
	*Sink
	w io.Writer
}

func (p *printed) Close() error {
	if err := p.Sink.Close(); err != nil {
		return err
	}
	return json.NewEncoder(p.w).Encode(p.Table)
}

// Samples whose CPU time is not known are not compared with those whose is.
func TestTimed(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Name: "shop"})
	p.Main.Add(streamtest.Row{Time: 1, Stack: b.Stack("a"), Weight: 1, CPU: 1000})
	if !table(t, "function", Auto, b.Source()).Timed() {
		t.Error("CPU time is known")
	}
	p.Main.Add(streamtest.Row{Time: 2, Stack: b.Stack("b"), Weight: 5, CPU: -1})
	got := table(t, "function", Auto, b.Source())
	if got.Timed() || got.Rows[0].Name != "b" {
		t.Errorf("timed %v, first %s; want samples to decide", got.Timed(), got.Rows[0].Name)
	}
}

// Markers with names of their own are summed up by these, starts and ends by name, too. Of
// names beyond a bound only the event's is left.
func TestOwnNames(t *testing.T) {
	b := streamtest.NewBuilder()
	request := b.Event(stream.Event{Name: "request", NameField: "route", Fields: []stream.EventField{{Name: "route", Type: stream.Text}}})
	p := b.Process(stream.Process{Instance: 1, Pid: 1, Name: "shop", Start: 1, End: 100})
	p.Main.Interval(10, 1000, request, "/cart")
	p.Main.Interval(11, 2000, request, nil)
	p.Main.Mark(20, stream.PhaseStart, request, "/pay")
	p.Main.Mark(21, stream.PhaseStart, request, "/cart")
	p.Main.Mark(25, stream.PhaseEnd, request, "/pay")
	p.Main.Mark(26, stream.PhaseEnd, request, "/none")
	got := table(t, Marker, Auto, b.Source()).Markers
	want := []MarkerRow{
		{Name: "request", Count: 1, Timed: 1, All: 2000, P50: 2000, P99: 2000, Max: 2000},
		{Name: "/cart", Count: 2, Timed: 1, Unpaired: 1, All: 1000, P50: 1000, P99: 1000, Max: 1000},
		{Name: "/pay", Count: 1, Timed: 1, All: 5, P50: 5, P99: 5, Max: 5},
		{Name: "/none", Count: 1, Unpaired: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("markers (-want +got):\n%s", diff)
	}
	b = streamtest.NewBuilder()
	request = b.Event(stream.Event{Name: "request", NameField: "route", Fields: []stream.EventField{{Name: "route", Type: stream.Text}}})
	p = b.Process(stream.Process{Instance: 1, Pid: 1, Name: "shop", Start: 1, End: 100})
	for i := range durations.MaxNames + 500 {
		p.Main.Mark(stream.Time(i), stream.Instant, request, fmt.Sprint(i))
	}
	got = table(t, Marker, Auto, b.Source()).Markers
	if len(got) != durations.MaxNames+1 || got[0].Name != "request" || got[0].Count != 500 {
		t.Errorf("%d names, of which the first is %+v", len(got), got[0])
	}
}

// kinds is a process with memory, waits and counters: its cache stays, what it reads goes.
func kinds() *streamtest.Builder {
	b := streamtest.NewBuilder()
	for i := range uint64(2) {
		p := b.Process(stream.Process{Instance: i + 1, Pid: int(i) + 1, Name: "shop", Start: 1, End: 2e9 + 1})
		cache, read := b.Stack("main.main", "main.cache"), b.Stack("main.main", "main.read")
		p.Main.Allocate(5, stream.PhaseStart, cache, 1000, 1) // was there before
		p.Main.Allocate(10, stream.Instant, cache, 4000, 4)
		p.Main.Allocate(11, stream.Instant, read, 8000, 1000)
		p.Main.Allocate(12, stream.Instant, read, -8000, 1000)
		p.Main.Wait(20, read, 3e9, 2)
		p.Track("worker").Wait(1e9+1, cache, 1e9, 1)
		rows := p.Counter(stream.Counter{Name: "rows", Total: true})
		memory := p.Counter(stream.Counter{Name: "memory", Unit: stream.FormatBytes, Own: true})
		for at, v := range []int64{0, 100, 400} {
			p.Count(stream.Time(1+at*1e9), rows, 1000+v, 0)
			p.Count(stream.Time(1+at*1e9), memory, v, 0)
		}
	}
	return b
}

// Of the heap what is in use at the end counts, of allocations those of the time, of waits their time; all by
// function and by process, with how old it is.
func TestBases(t *testing.T) {
	bytes := func(n int64) Amount { return Amount{Bytes: n} }
	wait := func(ns int64) Amount { return Amount{Wait: ns} }
	for of, want := range map[string]*Table{
		Heap: {All: bytes(10000), Rows: []Row{
			{"main.cache", bytes(10000), bytes(10000)}, {"main.main", bytes(0), bytes(10000)}}},
		Allocations: {All: bytes(24000), Rows: []Row{
			{"main.read", bytes(16000), bytes(16000)}, {"main.cache", bytes(8000), bytes(8000)}, {"main.main", bytes(0), bytes(24000)}}},
		Waits: {All: wait(8e9), Rows: []Row{
			{"main.read", wait(6e9), wait(6e9)}, {"main.cache", wait(2e9), wait(2e9)}, {"main.main", wait(0), wait(8e9)}}},
	} {
		seen := int64(12)
		if of == Waits {
			seen = 1e9 + 1
		}
		got := table(t, "function", of, kinds().Source())
		want.By, want.Of, want.Markers, want.Counters = "function", of, []MarkerRow{}, []CounterRow{}
		want.Ages = []Age{{Process: "shop · pid 1", Seen: seen, End: 2e9 + 1}, {Process: "shop · pid 2", Seen: seen, End: 2e9 + 1}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("of %s (-want +got):\n%s", of, diff)
		}
		if got := table(t, "process", of, kinds().Source()); len(got.Rows) != 2 || got.All != want.All || 2*got.Value(got.Rows[0].Self) != got.Value(got.All) {
			t.Errorf("of %s, by process: %+v", of, got)
		}
	}
}

// How far the heap can be trusted is what the recording's process says.
func TestHeapAge(t *testing.T) {
	b := kinds()
	b.Tables.Processes[0].Heap = stream.Heap{Sampled: 12, Explained: 5000, Counted: 1e9, InUse: 6000}
	got := table(t, "function", Heap, b.Source()).Ages[0]
	if got.Heap == nil || got.Explained != 5000 || got.InUse != 6000 || got.Seen != 12 {
		t.Errorf("%+v", got)
	}
}

// What counts up has a rate, the least and the most of which are of a second; a level has its mean over time. Those
// of the program come first.
func TestCounterRows(t *testing.T) {
	got := table(t, Counter, Auto, kinds().Source()).Counters
	rows := CounterRow{Name: "rows", Process: "shop · pid 1", Instance: "0000000000000001", Total: true, Readings: 3, LastAt: 2e9 + 1, Last: 1400, Least: 100, Mean: 200, Most: 300}
	memory := CounterRow{Name: "memory", Process: "shop · pid 1", Instance: "0000000000000001", Unit: "bytes", Readings: 3, LastAt: 2e9 + 1, Last: 400, Least: 0, Mean: 50, Most: 400, Own: true}
	want := []CounterRow{rows, rows, memory, memory}
	want[1].Process, want[1].Instance = "shop · pid 2", "0000000000000002"
	want[3].Process, want[3].Instance = want[1].Process, want[1].Instance
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
}

// profiles are two profiles of other tools, without samples, that measure the same, one of them in another unit.
func profiles() *streamtest.Builder {
	b := streamtest.NewBuilder()
	for i, unit := range []stream.Format{stream.FormatNanoseconds, stream.FormatBytes} {
		p := b.Process(stream.Process{Instance: uint64(i + 1), Pid: i + 1, Name: "shop", Start: 1, End: 10,
			Profile: stream.Profile{Types: []stream.ValueType{{Name: "wall", Unit: "nanoseconds"}, {Name: "calls", Unit: "count"}}, Default: "wall"}})
		number := p.Counter(stream.Counter{Name: "calls", Description: "count", Measure: true})
		wall := p.Counter(stream.Counter{Name: "wall", Unit: unit, Measure: true})
		p.Main.Measure(1, number, b.Stack("main.main", "main.read"), 3)
		p.Main.Measure(1, wall, b.Stack("main.main", "main.read"), 500)
		p.Main.Measure(1, wall, b.Stack("main.main"), 20)
		p.Main.Measure(1, wall, b.Stack("main.main", "main.wait"), -7)
		p.Main.Measure(1, p.Counter(stream.Counter{Name: Heap, Measure: true}), b.Stack("main.main"), 9)
	}
	return b
}

// A measure of another tool is summed up by its name, and without samples by default; rows in another unit, and those
// below 0, are told of.
func TestMeasures(t *testing.T) {
	value := func(n int64) Amount { return Amount{Value: n} }
	want := &Table{By: "function", Of: "wall", Unit: "ns", Measures: []string{"wall", "calls"}, All: value(520), Markers: []MarkerRow{}, Counters: []CounterRow{},
		Rows: []Row{{"main.read", value(500), value(500)}, {"main.main", value(20), value(520)}}}
	for _, of := range []string{Auto, "wall"} {
		if diff := cmp.Diff(want, table(t, "function", of, profiles().Source())); diff != "" {
			t.Errorf("of %s (-want +got):\n%s", of, diff)
		}
	}
	got := table(t, "process", "calls", profiles().Source())
	if got.All != value(6) || len(got.Rows) != 2 || got.Unit != "" {
		t.Errorf("calls: %+v", got)
	}
	for _, of := range []string{"moons", "wal"} {
		sink, err := New("function", of)
		if err != nil {
			t.Fatal(err)
		}
		if err := stream.Copy(sink, profiles().Source(), stream.CopyOptions{}); !errors.As(err, new(*MeasureError)) || !strings.Contains(err.Error(), "wall, calls, cpu") {
			t.Errorf("of %s: %v", of, err)
		}
	}
}

// Measurements that are not summed up are in the ledger.
func TestMeasuresLeftOut(t *testing.T) {
	sink, err := New("function", Auto)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := stream.Copy(sink, profiles().Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, line := range sink.tables.Ledger.Lines() {
		got = append(got, fmt.Sprint(line.Count, " ", line.What, " ", line.Where))
	}
	want := []string{"1 measurements below 0, as in differences", "3 measurements of the same name in another unit"}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// A recording of our own has no other default than samples.
func TestNoDefault(t *testing.T) {
	b := kinds()
	p := b.Process(stream.Process{Instance: 9, Name: "profile", Profile: stream.Profile{Types: []stream.ValueType{{Name: "wall", Unit: "nanoseconds"}}}})
	p.Main.Measure(5, p.Counter(stream.Counter{Name: "wall", Measure: true}), b.Stack("main.main"), 5)
	if got := table(t, "function", Auto, b.Source()); got.Of != Auto {
		t.Errorf("of %s", got.Of)
	}
}

// What makes no sense is refused.
func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		by, of string
		want   error
	}{{Marker, "moons", ErrOf}, {Marker, Heap, ErrOf}, {Counter, CPU, ErrOf}, {"moon", Auto, ErrBy}} {
		if _, err := New(c.by, c.of); !errors.Is(err, c.want) {
			t.Errorf("by %s of %s: %v", c.by, c.of, err)
		}
	}
}
