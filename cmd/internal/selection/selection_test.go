package selection

import (
	"strings"
	"testing"
	"time"

	"gprof/stream"
)

// Times are moments, counted from the start, or counted back from the end.
func TestMoments(t *testing.T) {
	const second = stream.Time(time.Second)
	m := moments{start: 100 * second, end: 200 * second}
	for text, want := range map[string]stream.Time{
		"": 7, "10s": 110 * second, "+1m": 160 * second, "-1m": 140 * second, "150": 150 * second, "150.5": 150*second + second/2,
		"1970-01-01T00:02:00Z": 120 * second,
	} {
		if got, err := m.parse("--from", text, 7); err != nil || got != want {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"soon", "1e400", "-5", "2026-11-21"} {
		if _, err := m.parse("--from", text, 7); err == nil || !strings.Contains(err.Error(), "--from") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Flags that contradict each other are refused before anything is read.
func TestCheck(t *testing.T) {
	for want, f := range map[string]Filter{
		"--last and --from both say": {Period: Period{Last: 1, From: "10s"}},
		"give --during, too":         {DuringAll: true},
		"--during":                   {During: []string{"x[y"}},
		"":                           {Period: Period{To: "crash:shop", Last: 1}, During: []string{"x[y>1]"}, DuringAll: true},
	} {
		if err := f.Check(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
