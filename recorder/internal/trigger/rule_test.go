package trigger

import (
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	const s, m = time.Second, time.Minute
	for text, want := range map[string]Rule{
		"cpu>80% for 5s: snapshot":                        {On: CPU, Share: 0.8, For: 5 * s, Every: m, Snapshot: true, Behind: 30 * s},
		"cpu > 0.5 % : mark":                              {On: CPU, Share: 0.005, For: s, Every: m},
		"heap>90%:snapshot all 10s every 1h":              {On: Heap, Share: 0.9, Every: time.Hour, Snapshot: true, All: true, Behind: 10 * s},
		"gc>25% for 30s: trace 5s, snapshot all":          {On: GC, Share: 0.25, For: 30 * s, Every: m, Trace: true, Ahead: 5 * s, Snapshot: true, All: true, Behind: 30 * s},
		"goroutines>10000 for 1s: mark":                   {On: Goroutines, Count: 10000, For: s, Every: m},
		"http.request>2s: trace":                          {On: Slow, Name: "http.request", Duration: 2 * s, Every: m, Trace: true, Ahead: s},
		"two words > 1ms: mark":                           {On: Slow, Name: "two words", Duration: time.Millisecond, Every: m},
		"wait for it > 1ms: mark":                         {On: Slow, Name: "wait for it", Duration: time.Millisecond, Every: m},
		"db: query>1s: mark":                              {On: Slow, Name: "db: query", Duration: s, Every: m},
		`"a: b; c>\"d\" for 1s">1s: mark`:                 {On: Slow, Name: `a: b; c>"d" for 1s`, Duration: s, Every: m},
		`"cpu">1s: mark`:                                  {On: Slow, Name: "cpu", Duration: s, Every: m},
		"p99(http.request)>500ms: snapshot":               {On: Percentile, Name: "http.request", Quantile: 0.99, Duration: 500 * time.Millisecond, For: 10 * s, Every: m, Snapshot: true, Behind: 30 * s},
		`p50("q")>1s for 1m: mark`:                        {On: Percentile, Name: "q", Quantile: 0.5, Duration: s, For: m, Every: m},
		"parse(x)>1s: mark":                               {On: Slow, Name: "parse(x)", Duration: s, Every: m},
		"log>=warn: snapshot every 1s":                    {On: Log, Level: slog.LevelWarn, Every: s, Snapshot: true, Behind: 30 * s},
		"  cpu>80%:   snapshot   1500ms  ,  mark  ":       {On: CPU, Share: 0.8, For: s, Every: m, Snapshot: true, Behind: 1500 * time.Millisecond},
		"request>2s: snapshot 10s, trace 500ms every 10m": {On: Slow, Name: "request", Duration: 2 * s, Every: 10 * m, Snapshot: true, Behind: 10 * s, Trace: true, Ahead: 500 * time.Millisecond},
	} {
		want.Text = strings.TrimSpace(text)
		got, err := Parse(text + ";")
		if err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%s: %+v, %v\nwant %+v", text, got, err, want)
		}
	}
	if all, err := Parse(" ; cpu>80%: mark ;; \"a;b\">1s: mark; "); err != nil || len(all) != 2 || all[1].Name != "a;b" {
		t.Errorf("a list: %+v, %v", all, err)
	}
	if r, err := ParseOne("queue is full for 2s: snapshot", true); err != nil || r.On != Own || r.Name != "queue is full" || r.For != 2*s {
		t.Errorf("of the program: %+v, %v", r, err)
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"cpu":                            "want a condition, a colon",
		"cpu>80%":                        "want a condition, a colon",
		"cpu>80%:":                       "want snapshot, trace or mark",
		"cpu>80%: panic":                 "want snapshot, trace or mark",
		"cpu>80%: mark 1s":               "is too much",
		"cpu>80%: snapshot 1s 2s":        "is too much",
		"cpu>80%: snapshot 2h":           "want a duration from 1ms to 1h",
		"cpu>80%: snapshot -1s":          "want a duration",
		"cpu>80%: trace 2m":              "want a duration from 1ms to 1m",
		"cpu>80%: mark every 1ms":        "every",
		"cpu>80%: mark every":            "every",
		"cpu>80: mark":                   "want more than 0%",
		"cpu>100%: mark":                 "less than 100%",
		"cpu>NaN%: mark":                 "want more than 0%",
		"cpu<80%: mark":                  "want one comparison",
		"cpu>80%>90%: mark":              "want one comparison",
		"cpu>80% for x: mark":            "for",
		"goroutines>many: mark":          "want a number",
		"goroutines>-1: mark":            "want a number",
		"log>error: mark":                "want log>=debug",
		"log>=loud: mark":                "want log>=debug",
		"log>=error for 1s: mark":        "no time with for",
		"request>1s for 1s: mark":        "no time with for",
		"request>2: mark":                "want a duration",
		">2s: mark":                      "the name of a marker",
		`"">2s: mark`:                    "the name of a marker",
		`"open>2s: mark`:                 "want a condition, a colon",
		"p100(x)>1s: mark":               "want p1 to p99.9",
		"pNaN(x)>1s: mark":               "want p1 to p99.9",
		"a\x00b>1s: mark":                "control characters",
		"a\xffb>1s: mark":                "control characters",
		strings.Repeat("a", 1<<11):       "want at most",
		strings.Repeat("x>1s:mark;", 33): "more than 32 rules",
	} {
		if rules, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, %v; want %q", text, rules, err, want)
		}
	}
	if _, err := ParseOne(": mark", true); err == nil {
		t.Error("a condition without a name")
	}
}

// Any text of the environment gives a list of rules within their bounds, or an error; each rule's
// text means the same by itself.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"cpu>80% for 5s: snapshot; goroutines>10000: mark; http.request>2s: snapshot all 10s, trace every 5m", `p99("a:b")>1ms: mark`, "log>=error: trace", `"\`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rules, err := Parse(text)
		if err != nil {
			return
		}
		if len(rules) > MaxRules {
			t.Fatalf("%d rules", len(rules))
		}
		for _, r := range rules {
			if r.Every < minEvery || r.Every > maxEvery || r.For < 0 || r.For > maxFor || r.Behind > maxFor || r.Ahead > maxAhead || !(r.Share >= 0 && r.Share < 1) || !(r.Quantile >= 0 && r.Quantile < 1) {
				t.Errorf("%+v", r)
			}
			if again, err := ParseOne(r.Text, false); err != nil || again != r {
				t.Errorf("%+v, again %+v, %v", r, again, err)
			}
		}
	})
}
