package top

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

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

func table(t *testing.T, by string, src stream.Source) *Table {
	t.Helper()
	sink, err := New(by)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Copy(streamtest.Validate(sink), src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return sink.Table
}

func TestTable(t *testing.T) {
	all := Amount{14, 14, 70}
	for by, want := range map[string]*Table{
		"function": {Rows: []Row{
			{"main.work", Amount{12, 12, 60}, Amount{12, 12, 60}},
			{"main.main", Amount{2, 2, 10}, Amount{14, 14, 70}}}},
		"package": {Rows: []Row{{"main", all, all}}},
		"process": {Rows: []Row{
			{"shop · pid 1", Amount{7, 7, 35}, Amount{7, 7, 35}},
			{"shop · pid 2", Amount{7, 7, 35}, Amount{7, 7, 35}}}},
		"track": {Rows: []Row{
			{"shop · pid 1 · worker", Amount{6, 6, 30}, Amount{6, 6, 30}},
			{"shop · pid 2 · worker", Amount{6, 6, 30}, Amount{6, 6, 30}},
			{"shop · pid 1 · shop", Amount{1, 1, 5}, Amount{1, 1, 5}},
			{"shop · pid 2 · shop", Amount{1, 1, 5}, Amount{1, 1, 5}}}},
	} {
		want.By, want.All, want.Markers = by, all, []MarkerRow{}
		if diff := cmp.Diff(want, table(t, by, shop().Source())); diff != "" {
			t.Errorf("by %s (-want +got):\n%s", by, diff)
		}
	}
}

func TestMarkers(t *testing.T) {
	got := table(t, Marker, shop().Source())
	want := []MarkerRow{{Name: "order", Count: 10, Timed: 6, Unpaired: 2, All: 8004, P50: 1002, P99: 3000, Max: 3000}}
	if diff := cmp.Diff(want, got.Markers); diff != "" {
		t.Errorf("markers (-want +got):\n%s", diff)
	}
}

// The table is the same in whatever order the rows come. Every way of grouping
// takes every kind of row.
func TestOrder(t *testing.T) {
	for _, by := range Ways() {
		want := table(t, by, shop().Source())
		for range 5 {
			if diff := cmp.Diff(want, table(t, by, shop().Shuffled(rand.Uint64()))); diff != "" {
				t.Errorf("by %s, shuffled:\n%s", by, diff)
			}
		}
	}
}

// Every kind of row is taken, in any order.
func TestSink(t *testing.T) {
	for _, by := range Ways() {
		t.Run(by, func(t *testing.T) {
			streamtest.TestSink(t, func(w io.Writer) stream.Sink {
				sink, err := New(by)
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
	if !table(t, "function", b.Source()).Timed() {
		t.Error("CPU time is known")
	}
	p.Main.Add(streamtest.Row{Time: 2, Stack: b.Stack("b"), Weight: 5, CPU: -1})
	got := table(t, "function", b.Source())
	if got.Timed() || got.Rows[0].Name != "b" {
		t.Errorf("timed %v, first %s; want samples to decide", got.Timed(), got.Rows[0].Name)
	}
}

func TestUnknownWay(t *testing.T) {
	if _, err := New("moon"); !errors.Is(err, ErrBy) {
		t.Errorf("error %v, want %v", err, ErrBy)
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
	got := table(t, Marker, b.Source()).Markers
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
	got = table(t, Marker, b.Source()).Markers
	if len(got) != durations.MaxNames+1 || got[0].Name != "request" || got[0].Count != 500 {
		t.Errorf("%d names, of which the first is %+v", len(got), got[0])
	}
}
