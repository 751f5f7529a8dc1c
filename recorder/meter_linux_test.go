package recorder

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkCounters is what a round of counters costs, of which there are ten in a
// second:
//
//	go test ./recorder -run '^$' -bench Counters
//
// cpu-ns/round is CPU time, which holds on a busy machine, too. kind=all is with what is
// written; by=… is the look alone.
func BenchmarkCounters(b *testing.B) {
	rec, err := Start(Options{Dir: b.TempDir(), Limit: 16 << 20, CounterHz: -1, CPU: CPUOff, HeapEvery: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer rec.Stop()
	var m meter
	m.open(defaultCounterHz)
	defer m.system.close()
	m.attend()
	measure := func(name string, round func()) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			begin := cpuTime(b)
			for b.Loop() {
				round()
			}
			b.ReportMetric(float64(cpuTime(b)-begin)/float64(b.N), "cpu-ns/round")
		})
	}
	now := Time(0)
	measure("kind=all", func() {
		now += Time(time.Second) / defaultCounterHz
		m.round(&rec.Keeper, now)
	})
	for _, g := range m.gauges {
		v := make([]count, len(g.specs))
		measure("by="+g.specs[0].name, func() { g.read(v) })
	}
}

// cpuTime is that of this thread.
func cpuTime(b *testing.B) int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		b.Fatal(err)
	}
	return t.Nano()
}
