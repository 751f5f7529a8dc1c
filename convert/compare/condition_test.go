package compare

import (
	"errors"
	"strings"
	"testing"

	"gprof/stream"
	"gprof/stream/streamtest"
)

func condition(t testing.TB, text string) Condition {
	t.Helper()
	c, err := ParseCondition(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func check(t testing.TB, r *Report, c Condition) Outcome {
	t.Helper()
	o, err := r.Check(c)
	if err != nil {
		t.Fatal(err)
	}
	return o[0]
}

func TestParseCondition(t *testing.T) {
	for text, want := range map[string]Condition{
		"p99(http.request) > +10%":        {Figure: "p99", Name: "http.request", quantile: 0.99, bound: 0.1},
		"p99.9(http.request)>=+20ms":      {Figure: "p99.9", Name: "http.request", quantile: 0.9990000000000001, kind: difference, bound: 0.02},
		" p50( a b ) < 1h ":               {Figure: "p50", Name: "a b", quantile: 0.5, below: true, kind: absolute, bound: 3600},
		"self(a/b.(*T[int,c]).M) > 12%":   {Figure: "self", Name: "a/b.(*T[int,c]).M", kind: absolute, bound: 0.12},
		"total(main.f) > +2pp":            {Figure: "total", Name: "main.f", kind: difference, bound: 0.02},
		"rate(order) < -5%":               {Figure: "rate", Name: "order", below: true, bound: -0.05},
		"rate(order) < 100/s":             {Figure: "rate", Name: "order", below: true, kind: absolute, bound: 100},
		"count(order) > 0":                {Figure: "count", Name: "order", kind: absolute},
		"cpu() > +3%":                     {Figure: "cpu", bound: 0.03},
		"selfcpu(main.(*T).f) > +0.25":    {Figure: "selfcpu", Name: "main.(*T).f", kind: difference, bound: 0.25},
		"mean(x) > +1.5%":                 {Figure: "mean", Name: "x", bound: 0.015},
		"self(main.f) > -0.5pp":           {Figure: "self", Name: "main.f", kind: difference, bound: -0.005},
		"count(odd (name) > 3 < 4) > +1%": {Figure: "count", Name: "odd (name) > 3 < 4", bound: 0.01},
	} {
		got := condition(t, text)
		if want.Text = strings.TrimSpace(text); got != want {
			t.Errorf("%s is %+v, want %+v", text, got, want)
		}
	}
}

// A text that is no condition is refused, and the message says how to mend it.
func TestNotACondition(t *testing.T) {
	for text, want := range map[string]string{
		"":                    "p99(http.request) > +10%",
		"p99 > +10%":          "p99(http.request) > +10%",
		"p99(x) = 3":          "p99(http.request) > +10%",
		"moon(x) > +10%":      "self, total",
		"p0(x) > +10%":        "p99.9",
		"p101(x) > +10%":      "p99.9",
		"pnan(x) > +10%":      "p99.9",
		"p99() > +10%":        "name is missing",
		"cpu(x) > +10%":       "totalcpu",
		"p99(x) > 10%":        "want 250ms",
		"p99(x) > +10":        "want 250ms",
		"self(x) > 3s":        "want 12%",
		"self(x) > +10x%":     "no number",
		"self(x) > NaN%":      "no number",
		"rate(x) < -150%":     "less than nothing",
		"count(x) > infinity": "no number",
	} {
		if _, err := ParseCondition(text); !errors.Is(err, ErrCondition) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %v with %q", text, err, ErrCondition, want)
		}
	}
}

func FuzzParseCondition(f *testing.F) {
	for _, text := range []string{"p99(http.request) > +10%", "self(a.(*T).f) < 3pp", "cpu() > 3", "rate(x)>=1/s", "p99(((", "count() > %"} {
		f.Add(text)
	}
	r, err := Compare(new(Set), new(Set), Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCondition(text)
		if err != nil {
			if !errors.Is(err, ErrCondition) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if !IsCondition(text) {
			t.Errorf("%q is a condition and does not look like one", text)
		}
		if _, err := r.Check(c); err != nil && !errors.Is(err, ErrName) {
			t.Errorf("%q: %v", text, err)
		}
	})
}

// Bounds of each kind, against figures that do not vary.
func TestCheck(t *testing.T) {
	still := func(factor int64) *Set {
		b := streamtest.NewBuilder()
		order := b.Event(stream.Event{Name: "order"})
		for i := range uint64(3) {
			p := b.Process(stream.Process{Instance: i + 1, Pid: int(i) + 1, Name: "shop", Start: 1, End: 1 + 10e9})
			for at := range stream.Time(10) {
				p.Main.Interval(1e9+at, factor*1e6, order)
			}
		}
		return setOf(t, b)
	}
	r := compare(t, still(100), still(120))
	for text, want := range map[string]Verdict{
		"p99(order) > +10%": Beyond, "p99(order) > +30%": Holds, "p99(order) > +19.9%": Noise, // within the precision of a quantile
		"p50(order) > 110ms": Beyond, "p50(order) > 130ms": Holds, "p50(order) > +10ms": Beyond, "p50(order) > +25ms": Holds,
		"p99(order) < 150ms": Beyond, "p99(order) < -10%": Holds,
		"mean(order) > +19%": Beyond, "mean(order) > +20.1%": Holds,
		"rate(order) > +0%": Holds, "rate(order) > 0.9/s": Beyond, "rate(order) < 1.1/s": Beyond, "count(order) > 9": Beyond, "count(order) > 10": Holds,
	} {
		if got := check(t, r, condition(t, text)).Verdict; got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	// Markers of which only the new set has durations.
	none := compare(t, instants(t), still(100))
	for text, want := range map[string]Verdict{
		"p99(order) > +10%": Nothing, "mean(order) < -10%": Nothing, "p99(order) > 90ms": Beyond, "p99(order) > 110ms": Holds, "count(order) > +0%": Holds,
	} {
		if got := check(t, none, condition(t, text)).Verdict; got != want {
			t.Errorf("%s, of markers without durations before: %v, want %v", text, got, want)
		}
	}
	_, err := r.Check(condition(t, "p99(oder) > +10%"))
	if !errors.Is(err, ErrName) || !strings.Contains(err.Error(), "there are order") {
		t.Errorf("a name that is not there: %v", err)
	}
	if _, err = r.Check(condition(t, "self(main.f) > +10%")); !errors.Is(err, ErrName) || !strings.Contains(err.Error(), "there are no functions") {
		t.Errorf("a function where there are none: %v", err)
	}
}

// instants is a set of three processes with ten markers each that take no time.
func instants(t *testing.T) *Set {
	b := streamtest.NewBuilder()
	order := b.Event(stream.Event{Name: "order"})
	for i := range uint64(3) {
		p := b.Process(stream.Process{Instance: i + 1, Pid: int(i) + 1, Name: "shop", Start: 1, End: 1 + 10e9})
		for at := range stream.Time(10) {
			p.Main.Mark(1e9+at, stream.Instant, order)
		}
	}
	return setOf(t, b)
}

// Of many names those are listed that are most like what was meant.
func TestNearest(t *testing.T) {
	var names []string
	for c := 'a'; c <= 'z'; c++ {
		names = append(names, strings.Repeat(string(c), 5))
	}
	got := nearest(append(names, "http.request"), "http.reqest")
	if got[0] != "http.request" || len(got) != maxNames+1 || got[maxNames] != "and 19 more" {
		t.Errorf("nearest %v", got)
	}
}
