package filter_test

import (
	"strings"
	"testing"

	"gprof/stream"
	"gprof/stream/filter"
	"gprof/stream/streamtest"
)

// mark is a marker of TestPairs: its goroutine, phase, time and number.
type mark struct {
	goroutine int64
	phase     stream.Phase
	at        stream.Time
	n         int64
}

const (
	start = stream.PhaseStart
	end   = stream.PhaseEnd
)

// Starts and ends on one track are paired by goroutine, last start first; then across
// goroutines; a point that is alone lasts from the first or to the last event. There is a
// sample each 10 ns from 0 to 90 with its time as weight, of goroutine 1.
func TestPairs(t *testing.T) {
	for _, c := range []struct {
		why   string
		marks []mark
		query string
		want  string
	}{
		{"goroutines that overlap", []mark{{1, start, 10, 1}, {2, start, 20, 2}, {1, end, 30, 3}, {2, end, 40, 4}}, "e[duration=20]", "10 20 30 m1 m2 m3 m4"},
		{"one in another", []mark{{1, start, 10, 1}, {1, start, 20, 2}, {1, end, 30, 3}, {1, end, 60, 4}}, "e[duration=10]", "20 30 m2 m3"},
		{"an end that comes from another goroutine", []mark{{1, start, 10, 1}, {2, end, 30, 2}}, "e[duration=20]", "10 20 30 m1 m2"},
		{"a start alone", []mark{{1, start, 70, 1}}, "e", "70 80 90 m1"},
		{"an end alone", []mark{{1, end, 20, 1}}, "e", "0 10 20 m1"},
		{"an end before a start", []mark{{1, end, 10, 1}, {1, start, 80, 2}}, "e", "0 10 80 90 m1 m2"},
		{"no goroutine is known", []mark{{0, start, 10, 1}, {0, end, 30, 2}}, "e", "10 20 30 m1 m2"},
		{"another's", []mark{{2, start, 10, 1}, {2, end, 30, 2}}, "e", "m1 m2"},
	} {
		b := streamtest.NewBuilder()
		p := b.Process(stream.Process{Instance: 1})
		e := b.Event(stream.Event{Name: "e", Fields: []stream.EventField{{Name: "n", Type: stream.Int}}})
		on := p.Track("t")
		for at := stream.Time(0); at < 100; at += 10 {
			on.Add(streamtest.Row{Series: stream.Series{Kind: stream.Samples}, Time: at, Weight: int64(at), CPU: -1, Owner: stream.Owner{Goroutine: 1}})
		}
		for _, m := range c.marks {
			on.Add(streamtest.Row{Series: stream.Series{Kind: stream.Markers, Event: e}, Time: m.at, Phase: m.phase, Args: []any{m.n}, Owner: stream.Owner{Goroutine: m.goroutine}})
		}
		p.Page(-500, stream.PhaseStart, 1, 2, 0, 0, "from any time")
		for seed := range uint64(3) {
			got := left(t, during(t, false, c.query)(b.Shuffled(seed)))
			if text := strings.Join(got.list, " "); text != c.want {
				t.Errorf("%s: %s, want %s", c.why, text, c.want)
			}
		}
	}
}

// The time of an end without a start begins with the first event, but not with a page,
// which may be from any time.
func TestPairsIgnorePages(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1})
	e := b.Event(stream.Event{Name: "e", Fields: []stream.EventField{{Name: "n", Type: stream.Int}}})
	p.Page(-500, start, 1, 2, 0, 0, "from any time")
	p.Main.Mark(10, end, e, 1)
	p.Main.Mark(0, end, e, 2)
	if got := strings.Join(left(t, during(t, false, "e[duration=10]")(b.Source())).list, " "); got != "m1 m2" {
		t.Errorf("got %s", got)
	}
}

// A process whose parent was left out becomes a child of its grandparent.
func TestFilteredParent(t *testing.T) {
	b := streamtest.NewBuilder()
	top := b.Process(stream.Process{Instance: 1, Start: 1})
	middle := b.Process(stream.Process{Instance: 2, Start: 2, Parent: top.ID})
	bottom := b.Process(stream.Process{Instance: 3, Start: 3, Parent: middle.ID})
	top.Main.Sample(10, 0)
	middle.Main.Sample(99, 0)
	bottom.Main.Sample(10, 0)
	n := left(t, filter.ByTime(b.Source(), 0, 50))
	if len(n.tables.Processes) != 2 || n.tables.Processes[1].Instance != 3 || n.tables.Processes[1].Parent != 1 {
		t.Errorf("%+v", n.tables.Processes)
	}
}
