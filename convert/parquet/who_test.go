package parquet

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/fixtures/judges"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// DuckDB finds samples and markers by goroutine, thread and label.
func TestWho(t *testing.T) {
	t.Parallel()
	b := streamtest.NewBuilder()
	track := b.Process(stream.Process{Instance: 1, Pid: 1, Name: "shop", Service: "shop", Start: begin}).Track("checkout")
	anna := b.Tables.Labels.Intern(stream.NewLabelSet(stream.Attr{Key: "route", Value: "/cart"}, stream.Attr{Key: "customer", Value: `"anna"`}))
	step := b.Event(stream.Event{Name: "step", Fields: []stream.EventField{{Name: "thread_id", Type: stream.Int}}})
	for i := range stream.Time(10) {
		var who stream.Owner
		if i >= 4 {
			who = stream.Owner{Thread: 77, Goroutine: 1 + int64(i)<<40, Labels: anna}
		}
		track.Add(streamtest.Row{Series: stream.Series{Kind: stream.Samples}, Time: begin + i, Weight: 1, CPU: 5, Owner: who})
		track.Add(streamtest.Row{Series: stream.Series{Kind: stream.Markers, Event: step}, Time: begin + i, Args: []any{int64(3)}, Owner: who})
	}
	dir, _ := convert(t, b.Source())
	answers := ask(t, dir,
		`SELECT labels->>'route' AS route, labels->>'customer' AS customer, thread_id, max(goroutine_id) AS goroutine, count(*) AS n
			FROM 'samples/**/*.parquet' GROUP BY ALL ORDER BY n`,
		`SELECT thread_id, thread_id_int, count(*) AS n FROM 'typed_markers/event=step/**/*.parquet' WHERE labels->>'route' = '/cart' AND goroutine_id > 1 GROUP BY ALL`)
	want := [][]judges.Row{
		{{"route": nil, "customer": nil, "thread_id": nil, "goroutine": nil, "n": "4"},
			{"route": "/cart", "customer": `"anna"`, "thread_id": "77", "goroutine": "9895604649985", "n": "6"}},
		{{"thread_id": "77", "thread_id_int": "3", "n": "6"}},
	}
	if diff := cmp.Diff(want, answers); diff != "" {
		t.Error(diff)
	}
}
