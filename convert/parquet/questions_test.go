package parquet

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/convert/internal/tables"
	"gprof/fixtures/judges"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// add converts into a directory that has other runs.
func add(t *testing.T, dir string, b *streamtest.Builder) {
	t.Helper()
	if err := stream.Copy(New(dataset(dir), tables.Options{}), b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
}

// Runs are compared service by service: that of a worker tells nothing of the
// server's.
func TestCompareRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for run, part := range []stream.Time{1, 3} { // of four samples, how many are in slow
		for i, service := range []string{"server", "worker"} {
			b := streamtest.NewBuilder()
			start := begin + stream.Time(run*2+i)*second
			p := b.Process(stream.Process{Instance: uint64(run*2 + i + 1), Pid: 1, Service: service, Start: start})
			for n := range stream.Time(4) {
				stack := b.Stack("main", service+".fast")
				if n < part {
					stack = b.Stack("main", service+".slow")
				}
				p.Main.Sample(start+n, stack)
			}
			add(t, dir, b)
		}
	}
	alone := streamtest.NewBuilder()
	alone.Process(stream.Process{Instance: 9, Pid: 1, Service: "once", Start: begin - second}).Main.Sample(begin, alone.Stack("once.main"))
	add(t, dir, alone)
	line := func(service, function string, base, new float64) judges.Row {
		return judges.Row{"service": service, "function": service + function, "base_percent": base, "new_percent": new, "difference": new - base}
	}
	want := []judges.Row{
		line("server", ".fast", 75, 25), line("server", ".slow", 25, 75),
		line("worker", ".fast", 75, 25), line("worker", ".slow", 25, 75),
	}
	if diff := cmp.Diff(want, ask(t, dir, query(t, dir, "compare-runs.sql"))[0]); diff != "" {
		t.Error(diff)
	}
}

// A counter's level is its last value of a second; its increase, for one that
// counts up, is since the second before.
func TestCountersOverTime(t *testing.T) {
	t.Parallel()
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 7, Name: "shop", Start: begin})
	total, level := p.Counter(stream.Counter{Name: "bytes", Total: true}), p.Counter(stream.Counter{Name: "queued"})
	for i, value := range []int64{10, 15, 40} {
		at := begin + stream.Time(i)*second/2 // the last is in the next second
		p.Count(at, total, value, 0)
		p.Count(at, level, 100-value, 0)
	}
	dir, _ := convert(t, b.Source())
	line := func(counter, at, value, lowest, highest string, increase any) judges.Row {
		return judges.Row{"process": "shop", "pid": "7", "counter": counter, "unit": "integer", "second_ns": "179500000" + at + "000000000",
			"level": value, "lowest": lowest, "highest": highest, "increase": increase}
	}
	want := []judges.Row{
		line("bytes", "0", "15", "10", "15", nil), line("bytes", "1", "40", "40", "40", "25"),
		line("queued", "0", "85", "85", "90", nil), line("queued", "1", "60", "60", "60", nil),
	}
	if diff := cmp.Diff(want, ask(t, dir, query(t, dir, "counters-over-time.sql"))[0]); diff != "" {
		t.Error(diff)
	}
}

// A percentile is one of the durations; events without a duration have none.
func TestMarkersByPercentile(t *testing.T) {
	t.Parallel()
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 7, Name: "shop", Start: begin})
	request, tick := b.Event(stream.Event{Name: "request"}), b.Event(stream.Event{Name: "tick"})
	for i := range int64(200) {
		p.Main.Interval(begin+stream.Time(i), (i+1)*1_000_000, request)
		p.Main.Mark(begin+stream.Time(i), stream.Instant, tick)
	}
	dir, _ := convert(t, b.Source())
	want := []judges.Row{{"name": "request", "intervals": "200", "p50_ms": 100.0, "p90_ms": 180.0, "p99_ms": 198.0, "max_ms": 200.0, "total_s": 20.1}}
	if diff := cmp.Diff(want, ask(t, dir, query(t, dir, "markers-by-percentile.sql"))[0]); diff != "" {
		t.Error(diff)
	}
}

// The queries sum up waits, memory and other measures, too: freed memory is not
// in use, a function that calls itself counts once, and the reason of a wait is
// its innermost frame.
func TestWaitsAndMeasures(t *testing.T) {
	t.Parallel()
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 7, Name: "shop", Start: begin})
	main, waits := b.Stack("main", "main"), p.Track("main (waiting)")
	waits.Wait(begin, b.Stack("main", "waiting: sleep"), 3_000_000, 2)
	waits.Wait(begin+1, b.Stack("main", "waiting: sleep"), 1_500_000, 1)
	waits.Wait(begin+2, b.Stack("main", "waiting: sync"), 5_000_000, 1)
	p.Main.Allocate(begin, stream.Instant, main, 100, 1)
	p.Main.Allocate(begin+1, stream.Instant, main, -30, -1)
	delay := p.Counter(stream.Counter{Name: "delay", Unit: stream.FormatNanoseconds})
	p.Main.Measure(begin, delay, b.Stack("main", "lock"), 7)
	p.Main.Measure(begin+1, delay, b.Stack("main", "lock"), -2)
	dir, _ := convert(t, b.Source())
	answers := ask(t, dir, query(t, dir, "waits-by-reason.sql"), query(t, dir, "functions-by-measure.sql"))
	wait := func(reason string, ms float64, goroutines string) judges.Row {
		return judges.Row{"process": "shop", "pid": "7", "track": "main (waiting)", "reason": reason, "ms": ms, "goroutines": goroutines}
	}
	if diff := cmp.Diff([]judges.Row{wait("waiting: sync", 5, "1"), wait("waiting: sleep", 4.5, "3")}, answers[0]); diff != "" {
		t.Error(diff)
	}
	line := func(measure, unit, function, self, total string) judges.Row {
		return judges.Row{"measure": measure, "unit": unit, "function": function, "self": self, "total": total}
	}
	want := []judges.Row{
		line("delay", "ns", "lock", "5", "5"), line("delay", "ns", "main", "0", "5"),
		line("heap allocated", "bytes", "main", "100", "100"),
		line("heap in use", "bytes", "main", "70", "70"),
		line("waits", "ns", "waiting: sync", "5000000", "5000000"), line("waits", "ns", "waiting: sleep", "4500000", "4500000"), line("waits", "ns", "main", "0", "9500000"),
	}
	if diff := cmp.Diff(want, answers[1]); diff != "" {
		t.Error(diff)
	}
}
