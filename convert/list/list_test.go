package list

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/stream"
	"gprof/stream/filter"
	"gprof/stream/streamtest"
)

// run lists what a query finds.
func run(t *testing.T, b *streamtest.Builder, query, order string, most int) *Report {
	t.Helper()
	q, err := filter.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	sink, err := New(q, order, most)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Copy(streamtest.Validate(sink), b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return sink.Report
}

// work is two processes with ten markers each, of which every other is at the same time in both.
func work() *streamtest.Builder {
	b := streamtest.NewBuilder()
	step := b.Event(stream.Event{Name: "step", Fields: []stream.EventField{{Name: "n", Type: stream.Int}, {Name: "text", Type: stream.Text}}})
	named := b.Event(stream.Event{Name: "call", NameField: "name", Fields: []stream.EventField{{Name: "name", Type: stream.Text}}})
	for i := range 2 {
		p := b.Process(stream.Process{Instance: uint64(i + 1), Pid: i + 1, Name: "shop"})
		for n := range 10 {
			p.Track("worker").Interval(stream.Time(100+10*n+5*i*(n%2)), int64(n%4), step, int64(n), "t")
		}
		p.Main.Mark(300, stream.PhaseStart, step, int64(1), "")
		p.Main.Mark(301, stream.PhaseEnd, step, int64(2), nil)
		p.Main.Mark(302, stream.Instant, named, "GET /cart")
		level := p.Counter(stream.Counter{Name: "memory", Unit: stream.FormatBytes})
		for n := range 50 {
			p.Count(stream.Time(100+n), level, int64(100-n), 0)
		}
	}
	return b
}

func TestOrders(t *testing.T) {
	for _, c := range []struct {
		order, query string
		want         []int64 // moments
	}{
		{"first", "step[duration<5]", []int64{100, 100, 110}},
		{"last", "step[n!=1]", []int64{195, 301, 301}},
		{"longest", "step[duration<5, n>2]", []int64{130, 135, 170}},
	} {
		r := run(t, work(), c.query, c.order, 3)
		var at []int64
		for _, m := range r.Markers {
			at = append(at, m.At)
		}
		if !slices.Equal(at, c.want) || r.Matching < 14 {
			t.Errorf("%s of %s: %v of %d, want %v", c.order, c.query, at, r.Matching, c.want)
		}
	}
	if r := run(t, work(), "step", "last", 0); len(r.Markers) != 24 || r.Matching != 24 {
		t.Errorf("%d markers of %d, want all 24", len(r.Markers), r.Matching)
	}
}

// What a marker tells is there as text, but its name, which it is called by, and values that are missing.
func TestFields(t *testing.T) {
	r := run(t, work(), "GET*", "last", 9)
	if len(r.Markers) != 2 || r.Markers[0].Name != "GET /cart" || r.Markers[0].Fields != nil || r.Markers[0].Phase != "instant" {
		t.Errorf("%+v", r.Markers)
	}
	r = run(t, work(), "step[n=2]", "last", 1)
	if diff := cmp.Diff([]Field{{"n", "2"}}, r.Markers[0].Fields); diff != "" || r.Markers[0].Phase != "end" {
		t.Errorf("%+v: %s", r.Markers[0], diff)
	}
	var c stream.Column
	for _, v := range []struct {
		t    stream.Type
		bits uint64
		f    stream.Format
		want string
	}{
		{stream.Int, math.MaxUint64, stream.FormatInteger, "-1"},
		{stream.Uint, math.MaxUint64, stream.FormatNanoseconds, "18446744073709551615"},
		{stream.Int, 1500, stream.FormatNanoseconds, "1.5µs"},
		{stream.Uint, 1, stream.FormatBool, "true"},
		{stream.Uint, 255, stream.FormatHexadecimal, "0xff"},
		{stream.Int, 1, stream.FormatTime, "1970-01-01T00:00:00.000000001Z"},
		{stream.Float, math.Float64bits(0.25), stream.FormatPercentage, "0.25"},
	} {
		c.AppendBits(v.t, v.bits)
		if got := textOf(&c, c.Len()-1, v.f); got != v.want {
			t.Errorf("%+v: %q", v, got)
		}
	}
}

// Starts and ends match conditions on durations only if any duration would do.
func TestUnknownDurations(t *testing.T) {
	for query, want := range map[string]int64{"step[n<=2, duration>=0]": 10, "step[n<=2, duration<1s]": 6, "step[n<=2]": 10} {
		if r := run(t, work(), query, "last", 0); r.Matching != want {
			t.Errorf("%s: %d match, want %d", query, r.Matching, want)
		}
	}
}

// A counter has at most so many points, which together have all its readings.
func TestCourse(t *testing.T) {
	r := run(t, work(), "mem*", "last", 5)
	if len(r.Counters) != 2 || len(r.Markers) != 0 {
		t.Fatalf("%+v", r)
	}
	c := r.Counters[1]
	if n := len(c.Points); n > maxPoints || n < maxPoints/2 || c.Readings != 50 || c.First != 100 || c.Least != 51 || c.Most != 100 || c.Unit != "bytes" {
		t.Errorf("%d points, %+v", n, c)
	}
	last := c.Points[len(c.Points)-1]
	if last.At != 149 || last.Last != 51 || c.Points[0].Most != 100 {
		t.Errorf("%+v", c.Points)
	}
	for i, p := range c.Points[1:] {
		if p.At <= c.Points[i].At || p.Most != c.Points[i].Least-1 {
			t.Errorf("point %d does not follow: %+v", i+1, c.Points)
		}
	}
	if r := run(t, work(), "memory[n=1]", "last", 5); len(r.Counters) != 0 || !slices.Equal(r.Names, []string{"call", "memory", "step"}) {
		t.Errorf("%+v", r)
	}
}

func TestRefused(t *testing.T) {
	q, err := filter.ParseQuery("step[duration>p99]")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(q, "last", 1); !errors.Is(err, ErrPercentile) {
		t.Error(err)
	}
	if _, err := New(filter.Query{}, "best", 1); err == nil {
		t.Error("an order that is none was taken")
	}
}
