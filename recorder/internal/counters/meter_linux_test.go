package counters

import (
	"testing"

	"golang.org/x/sys/unix"
)

// BenchmarkGauges is the cost of each gauge:
//
//	go test ./recorder/internal/counters -run '^$' -bench Gauges
//
// cpu-ns/read is CPU time, which holds on a busy machine, too.
func BenchmarkGauges(b *testing.B) {
	var m Meter
	m.Open(10)
	defer m.Close()
	m.Attend()
	for _, g := range m.gauges {
		b.Run("by="+g.specs[0].Name, func(b *testing.B) {
			b.ReportAllocs()
			v := make([]Reading, len(g.specs))
			begin := cpuTime(b)
			for b.Loop() {
				g.read(v)
			}
			b.ReportMetric(float64(cpuTime(b)-begin)/float64(b.N), "cpu-ns/read")
		})
	}
}

// cpuTime is the CPU time of this process.
func cpuTime(b *testing.B) int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		b.Fatal(err)
	}
	return t.Nano()
}
