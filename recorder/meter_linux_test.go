package recorder

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkCounters is what a round of counters costs, with what is written, of which
// there are ten in a second:
//
//	go test ./recorder -run '^$' -bench Counters
//
// cpu-ns/round is CPU time, which holds on a busy machine, too. What each gauge takes of it
// is told by BenchmarkGauges of internal/counters.
func BenchmarkCounters(b *testing.B) {
	rec, err := Start(Options{Dir: b.TempDir(), Limit: 16 << 20, CounterHz: -1, CPU: CPUOff, HeapEvery: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer rec.Stop()
	var c counting
	c.open(&rec.keeper, defaultCounterHz)
	defer c.meter.Close()
	c.meter.Attend()
	b.ReportAllocs()
	now, begin := Time(0), cpuTime(b)
	for b.Loop() {
		now += Time(time.Second) / defaultCounterHz
		c.round(&rec.keeper, now)
	}
	b.ReportMetric(float64(cpuTime(b)-begin)/float64(b.N), "cpu-ns/round")
}

// cpuTime is the CPU time of this process.
func cpuTime(b *testing.B) int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		b.Fatal(err)
	}
	return t.Nano()
}
