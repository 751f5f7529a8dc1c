package why_test

import (
	"slices"
	"strings"
	"testing"

	"gprof/convert/why"
	"gprof/stream"
	"gprof/stream/filter"
	"gprof/stream/streamtest"
)

// A finding about slow markers names the traces of the slowest, and the query by which slow compares them with those
// before.
func TestSlowMarkerNamesTraces(t *testing.T) {
	s := newStory(killed)
	e := s.Event(stream.Event{Name: "GET /a[0]", Fields: []stream.EventField{{Name: "trace_id", Type: stream.Text, Format: stream.FormatTraceID}}})
	for n := range ticks {
		for k := range 5 {
			ns := int64(2_000_000)
			if n >= onset {
				ns = 50_000_000 + int64(n)
			}
			s.p.Main.Add(streamtest.Row{Series: stream.Series{Kind: stream.Markers, Event: e}, Time: at(n), Phase: stream.Interval, Duration: ns,
				Args: []any{strings.Repeat(string("0123456789abcdef"[1+n%15]), 31) + string("01234"[k])}})
		}
	}
	sink := why.New(why.Options{})
	if err := stream.Copy(sink, s.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(sink.Report.Findings, func(f why.Finding) bool { return f.Detector == "slow marker" })
	if i < 0 {
		t.Fatalf("no finding: %+v", sink.Report.Findings)
	}
	f := sink.Report.Findings[i]
	last := strings.Repeat(string("0123456789abcdef"[1+(ticks-1)%15]), 31)
	if text := strings.Join(f.Evidence, "; "); !strings.Contains(text, "slowest traces "+last) {
		t.Errorf("evidence %q lacks the slowest traces", text)
	}
	q, err := filter.ParseQuery(f.More[1])
	if f.More[0] != "slow" || err != nil || q.Name != "GET /a[0]" || !q.Lasts(50_000_000, nil) || q.Lasts(2_000_000, nil) {
		t.Errorf("more is %q: %v", f.More, err)
	}
}
