package recorder_test

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder"
)

var (
	queue = recorder.NewCounter("test queue", recorder.In(recorder.UnitBytes), recorder.Describe("what waits"), recorder.Group("Test"))
	jobs  = recorder.NewCounter("test jobs", recorder.Total())
)

type counterValues struct {
	definition string
	values     []int64
}

func (r *recording) counters() map[string]*counterValues {
	byName, byID := map[string]*counterValues{}, map[uint64]*counterValues{}
	for _, d := range r.Dicts {
		for _, rec := range d.All(nil) {
			if c := rec.Fields(); rec.Kind == rawformat.KindDefCounter {
				v := &counterValues{definition: string(rawformat.FormatBlock(nil, append([]byte{byte(rec.Kind)}, rec.Body...)))}
				byID[c.Uint("id")] = v
				byName[string(c.Text("name"))] = v
			}
		}
	}
	for blocks := r.Blocks(func(chunks.Problem) {}); blocks.Next(); {
		if b := blocks.Block(); b.Kind == rawformat.KindCounter {
			b.Fields.Sint("time")
			id := b.Fields.Uint("counter")
			byID[id].values = append(byID[id].values, b.Fields.Sint("value"))
		}
	}
	return byName
}

func TestCounters(t *testing.T) {
	queue.Set(0)
	rec := begin(t, recorder.Options{CounterHz: 10})
	queue.Add(30)
	queue.Add(-70)
	jobs.Add(5)
	cycles := gcCycles()
	runtime.GC()
	await(t, "counters were sampled some times", func() bool {
		for start := time.Now(); time.Since(start) < 50*time.Millisecond; {
			jobs.Add(1) // this burns CPU time, too
		}
		live := read(t, rec.Dir(), chunks.Unproven, chunks.Stale).counters()
		queue, jobs, cpu := live["test queue"], live["test jobs"], live["process CPU"]
		return queue != nil && len(queue.values) >= 2 && jobs != nil && len(jobs.values) >= 4 &&
			(cpu == nil || len(cpu.values) >= 4 && cpu.values[len(cpu.values)-1] > 100e6)
	})
	r := finish(t, rec)
	counters := r.counters()
	last := func(name string) int64 {
		c := counters[name]
		if c == nil || len(c.values) < 2 { // values that do not change are written once a second
			t.Errorf("%s: %+v, want at least two values", name, c)
			return 0
		}
		return c.values[len(c.values)-1]
	}
	if v := last("test queue"); v != -40 {
		t.Errorf("queue %d, want -40", v)
	}
	if v := last("test jobs"); v < 6 || v > jobs.Value() {
		t.Errorf("jobs %d, want 6 to %d", v, jobs.Value())
	}
	if v := last("GC cycles"); v <= int64(cycles) {
		t.Errorf("GC cycles %d, want more than %d", v, cycles)
	}
	last("heap")
	last("goroutines")
	last("scheduler latency p99")
	if runtime.GOOS == "linux" {
		if v := last("process CPU"); v < 100e6 {
			t.Errorf("process CPU %d ns, want more than 100 ms", v)
		}
		if v := last("RSS"); v < 1<<20 {
			t.Errorf("RSS %d bytes", v)
		}
		if counters[rawformat.CounterGroupMemory] == nil {
			t.Log("no memory cgroup on this machine")
		} else if v := last(rawformat.CounterGroupMemory); v < 1<<20 {
			t.Errorf("memory of the cgroup %d bytes", v)
		}
	}
	want := `def-counter id=N name="test queue" category="Test" description="what waits" unit=3 mode=0`
	if got := counterID.ReplaceAllString(counters["test queue"].definition, "id=N"); got != want {
		t.Errorf("definition %s, want %s", got, want)
	}
}

// live returns the counters of a recording that goes on.
func live(t *testing.T, rec *recorder.Recorder) map[string]*counterValues {
	return read(t, rec.Dir(), chunks.Unproven, chunks.Stale).counters()
}

func values(counters map[string]*counterValues, name string) []int64 {
	if c := counters[name]; c != nil {
		return c.values
	}
	return nil
}

// A value that does not change is written seldom. Before a change the old value is written.
func TestCounterThatStays(t *testing.T) {
	queue.Set(7)
	rec := begin(t, recorder.Options{CounterHz: 10})
	await(t, "rounds in which one of two is not stated", func() bool {
		jobs.Add(1)
		c := live(t, rec)
		return len(values(c, "test jobs")) >= len(values(c, "test queue"))+5
	})
	queue.Set(9)
	await(t, "the change", func() bool { return slices.Contains(values(live(t, rec), "test queue"), 9) })
	got := finish(t, rec).counters()["test queue"].values
	at := slices.Index(got, 9)
	if at < 2 || got[at-1] != 7 || slices.ContainsFunc(got[at:], func(v int64) bool { return v != 9 }) {
		t.Errorf("%v, want 7 twice or more, then 9", got)
	}
}

func gcCycles() uint32 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.NumGC
}
