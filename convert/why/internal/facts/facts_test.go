package facts

import (
	"math"
	"testing"
	"time"

	"gprof/convert/internal/places"
	"gprof/stream"
	"gprof/stream/streamtest"
)

const second = stream.Time(time.Second)

// Each time is in one step, in order; what is outside counts to the ends.
func TestTimeline(t *testing.T) {
	for _, l := range []Timeline{NewTimeline(1000*second, 1000*second), NewTimeline(1000*second, 1001*second), NewTimeline(0, 7*24*3600*second)} {
		last := 0
		for i := range 1000 {
			at := l.From + (l.End-l.From)*stream.Time(i)/1000
			step := l.At(at)
			if step < last || at < l.Begin(step) {
				t.Fatalf("%v: %v is in step %d after %d", l, at, step, last)
			}
			last = step
		}
		if l.At(l.From-second) > 1 || l.At(l.End+second) != Steps {
			t.Errorf("%v: outside is in %d and %d", l, l.At(l.From-second), l.At(l.End+second))
		}
		if got, want := l.Seconds(0, Steps+1), time.Duration(l.End-l.From).Seconds(); math.Abs(got-want) > 1e-6*want {
			t.Errorf("%v: %v seconds, want %v", l, got, want)
		}
	}
	if week := NewTimeline(0, 7*24*3600*second); week.Length(Steps) != Recent.Seconds()/Steps {
		t.Errorf("a step of a week is %v s", week.Length(Steps))
	}
}

// Times of a damaged recording are any numbers.
func TestExtremeTimes(t *testing.T) {
	extremes := []stream.Time{math.MinInt64, -1, 0, 1, math.MaxInt64}
	for _, from := range extremes {
		for _, end := range extremes {
			l := NewTimeline(from, end)
			for _, at := range extremes {
				for _, to := range extremes {
					var s Series
					l.spread(&s, at, to, 1)
					if step := l.At(at); step < 0 || step > Steps || l.Length(step) < 0 {
						t.Errorf("%v: %v is in step %d", l, at, step)
					}
				}
			}
			b := streamtest.NewBuilder()
			p := b.Process(stream.Process{Instance: 1, Start: from, End: end})
			p.Main.Interval(math.MaxInt64-1, math.MaxInt64, b.Event(stream.Event{Name: "call"}))
			p.Main.Wait(math.MinInt64+1, b.Stack("main.f"), math.MaxInt64, 1)
			collect(t, b)
		}
	}
}

// The steps of an amount that is spread add up to the part of it that is in the timeline.
func TestSpread(t *testing.T) {
	l := NewTimeline(0, 1000*second)
	for from := stream.Time(0); from < 1000*second; from += 37 * second {
		for _, length := range []stream.Time{1, second, 15 * second, 900 * second} {
			var s Series
			l.spread(&s, from, from+length, 10)
			want := 10 * float64(min(from+length, l.End)-from) / float64(length)
			if got := s.Total(); math.Abs(got-want) > 1e-3 {
				t.Errorf("%v + %v: %v, want %v", from, length, got, want)
			}
		}
	}
}

// A change is found where it is, and noise has none.
func TestChange(t *testing.T) {
	l := NewTimeline(0, 20*second)
	for _, c := range []struct {
		name  string
		value func(step int) float64
		at    int
		clear bool
	}{
		{"constant", func(int) float64 { return 3 }, 0, false},
		{"noise", func(step int) float64 { return float64(step * 7 % 5) }, 0, false},
		{"a jump", func(step int) float64 { return float64(step / 8 * 2) }, 8, true},
		{"from nothing to noise", func(step int) float64 { return float64(step/12) * float64(1+step*7%5) }, 12, true},
		{"one step alone", func(step int) float64 { return float64(step / 20) }, 0, false},
	} {
		var s Series
		for step := 1; step <= Steps; step++ {
			s[step] = c.value(step)
		}
		got := l.ChangeOf(&s, nil)
		if got.Clear != c.clear || c.clear && got.At != c.at {
			t.Errorf("%s: %+v, want a change at %d: %v", c.name, got, c.at, c.clear)
		}
	}
	if got := l.ChangeOf(new(Series), new([Steps + 1]bool)); got.Clear {
		t.Errorf("of nothing: %+v", got)
	}
}

// A level that the recorder is silent about stays as it was, and a total grows evenly between readings.
func TestCounter(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Start: 100 * second, End: 120 * second})
	level, total := p.Counter(stream.Counter{Name: "level", Own: true}), p.Counter(stream.Counter{Name: "total", Own: true, Total: true, Unit: stream.FormatNanoseconds})
	for at, v := range map[stream.Time]int64{100: 5, 110: 5, 111: 15, 119: 15} {
		p.Count(at*second, level, v, 0)
	}
	p.Count(100*second, total, 0, 0)
	p.Count(120*second, total, int64(10*second), 40)
	f := collect(t, b)
	c := f.Counter("level")
	if c.Level[3] != 5 || c.Level[11] != 10 || c.Level[Steps] != 15 || c.Last != 15 || c.Most != 15 || c.First != 5 {
		t.Errorf("%+v", c)
	}
	if c := f.Counter("total"); math.Abs(c.Gained[7]-0.5) > 1e-9 || math.Abs(c.Number.Total()-40) > 1e-9 {
		t.Errorf("%+v", c)
	}
	if f.Counter("other") != nil {
		t.Error("a counter that there is not")
	}
}

// collect returns the facts of the only process.
func collect(t *testing.T, b *streamtest.Builder) *Facts {
	t.Helper()
	var s sink
	if err := stream.Copy(&s, b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return s.End()
}

type sink struct{ *Collector }

func (s *sink) Begin(t *stream.Tables) (err error) {
	s.Collector, err = New(t, 0, 0)
	s.Collector.Begin(1)
	return err
}

func (s *sink) Segment(b *stream.Batch) error {
	s.Add(b)
	return nil
}

func (s *sink) Close() error { return nil }

// A place is the innermost of the program's own functions, with what it called and why it waits.
func TestPlace(t *testing.T) {
	b := streamtest.NewBuilder()
	stack := b.Stack("runtime.goexit", "net/http.(*conn).serve", "example.com/shop.(*Cart).Add", "sync.(*Mutex).Lock", "sync.runtime_SemacquireMutex", "runtime.gopark")
	label := b.Tables.Frames.Intern(stream.Frame{Function: b.Tables.Strings.Intern("waiting: lock"), Label: true})
	got := places.Of(b.Tables, "example.com/shop", b.Tables.Stacks.Intern(stack, label))
	want := places.Place{Function: "example.com/shop.(*Cart).Add", Via: "sync.(*Mutex).Lock", Leaf: "runtime.gopark", Root: "net/http.(*conn).serve", Reason: "lock"}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := places.Of(b.Tables, "example.com/shop", 0); got != (places.Place{}) || got.String() != "(no stack)" {
		t.Errorf("of no stack: %+v", got)
	}
	if !places.Of(b.Tables, "example.com/shop", b.Stack("gprof/recorder/internal/keeper.(*Keeper).run", "time.Sleep")).OfRecorder() {
		t.Error("the recorder's goroutine counts as the program's")
	}
}

// Messages that differ in numbers only are one.
func TestPattern(t *testing.T) {
	for text, want := range map[string]string{"order 17 of 3": "order # of #", "": "", "a1b22": "a#b#"} {
		if got := pattern(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Markers are by name, whether they are intervals or starts with their ends; failed ones and log records are
// told apart by their fields.
func TestMarkers(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Start: 100 * second, End: 120 * second})
	call := b.Event(stream.Event{Name: "call", Fields: []stream.EventField{{Name: "status", Type: stream.Int}, {Name: "err", Type: stream.Text}}})
	p.Main.Interval(101*second, int64(2*second), call, int64(200), "")
	p.Main.Interval(101*second, int64(4*second), call, int64(503), "")
	p.Main.Mark(110*second, stream.PhaseStart, call, int64(200), "")
	p.Main.Mark(119*second, stream.PhaseEnd, call, int64(200), "gone")
	log := b.Event(stream.Event{Name: "log", Type: "log", Fields: []stream.EventField{{Name: "level", Type: stream.Text}, {Name: "message", Type: stream.Text}}})
	for i := range int64(3) {
		p.Main.Mark(105*second, stream.Instant, log, "ERROR", "lost order "+string(rune('0'+i)))
	}
	f := collect(t, b)
	if len(f.Markers) != 1 || f.Markers[0].Took.Total() != 15 || f.Markers[0].Failed.Total() != 2 || f.Markers[0].Mean(0, Steps+1) != 5 || f.Markers[0].Took[Steps] != 9 {
		t.Errorf("%+v", f.Markers[0])
	}
	if len(f.Messages) != 1 || f.Messages[0].Text != "lost order #" || !f.Messages[0].IsError() || f.Messages[0].Count.Total() != 3 {
		t.Errorf("%+v", f.Messages[0])
	}
}
