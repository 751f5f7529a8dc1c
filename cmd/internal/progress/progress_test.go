package progress

import "testing"

func at(t *testing.T, g *Gauge, value Proportion, place string) {
	t.Helper()
	const cut = 8 // lost by divisions
	if got := g.Value(); got > value || got+cut < value || g.Place() != place {
		t.Errorf("the gauge stands at %v, %q; want %v, %q", got, g.Place(), value, place)
	}
}

func TestProgressLogger(t *testing.T) {
	g := new(Gauge)
	at(t, g, 0, "")
	l := New(g, "begin", "end")
	at(t, g, 0, "begin")
	l.Set(Percent(10), "")
	at(t, g, Percent(10), "begin") // an empty place leaves it
	l.Set(Percent(20), "more")
	at(t, g, Percent(20), "more")

	part := l.Part(Percent(40), Percent(60), "part", "part done")
	at(t, g, Percent(40), "part")
	part.Set(Percent(50), "")
	at(t, g, Percent(50), "part")
	inner := part.Part(Percent(50), Percent(100), "", "")
	inner.Set(Percent(50), "inner")
	at(t, g, Percent(55), "inner")
	inner.Done()
	at(t, g, Percent(60), "inner")
	part.Done()
	at(t, g, Percent(60), "part done")
	part.Set(0, "too late")
	at(t, g, Percent(60), "part done")
	part.Done()
	at(t, g, Percent(60), "part done") // a logger that is done sets nothing

	l.Part(Percent(10), Percent(20), "back", "") // an earlier part
	at(t, g, Percent(10), "back")

	l.Done()
	at(t, g, Whole, "end")
}

// A range without a width changes neither the progress nor its text.
func TestProgressNoWidth(t *testing.T) {
	g := new(Gauge)
	l := New(g, "begin", "end")
	l.Set(Percent(50), "half")
	l.Part(Percent(70), Percent(70), "empty", "empty").Done()
	l.Part(Percent(70), Percent(60), "turned", "turned").Done()
	at(t, g, Percent(50), "half")
}

func TestProgressNowhere(t *testing.T) {
	var zero Logger
	for _, l := range []*Logger{New(nil, "begin", "end"), &zero} {
		l.Set(Percent(10), "place")
		l.Part(0, Whole, "", "").Done()
		for range l.Loop(0, Whole, 2, "edge") {
		}
		l.Done()
	}
	var none *Gauge
	if none.Place() != "" || none.Value() != Unknown {
		t.Error("no gauge has a place, or a value")
	}
}

func TestProgressLoop(t *testing.T) {
	g := new(Gauge)
	l := New(g, "begin", "end")
	for i, round := range l.Loop(Percent(10), Percent(40), 3, "edge") {
		at(t, g, Percent(10+10*i), "edge")
		round.Set(Percent(50), "middle")
		at(t, g, Percent(15+10*i), "middle")
	}
	at(t, g, Percent(40), "edge")
	for i := range l.Loop(Percent(40), Whole, 6, "again") {
		if i == 1 {
			break // its round is done
		}
	}
	at(t, g, Percent(60), "again")
	for range l.Loop(0, Whole, 0, "never") {
		t.Error("no round was asked for")
	}
	at(t, g, Percent(60), "again")
	for range l.Loop(0, Whole, 7, "") {
	}
	if got := g.Value(); got != Whole {
		t.Errorf("after all rounds the gauge stands at %v", got)
	}
}
