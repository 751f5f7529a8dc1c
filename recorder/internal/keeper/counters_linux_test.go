package keeper

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gprof/recorder/internal/rt"
)

// BenchmarkCounters measures a round of counters, including what it writes. There are ten
// rounds in a second:
//
//	go -C recorder test ./internal/keeper -run '^$' -bench Counters
//
// cpu-ns/round is CPU time, which means the same on a busy machine. BenchmarkGauges of
// internal/counters has each gauge's part of it.
func BenchmarkCounters(b *testing.B) {
	const hz = 10
	k, _ := begin(b, Config{Limit: 16 << 20})
	var c counting
	c.open(k, hz)
	defer c.meter.Close()
	c.meter.Attend()
	b.ReportAllocs()
	now, before := rt.Time(0), cpuTime(b)
	for b.Loop() {
		now += rt.Time(time.Second) / hz
		c.round(k, now)
	}
	b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/round")
}

// cpuTime is the CPU time of this process.
func cpuTime(b *testing.B) int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		b.Fatal(err)
	}
	return t.Nano()
}
