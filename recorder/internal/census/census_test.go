//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package census

import (
	"fmt"
	"testing"
	"time"

	"gprof/recorder/internal/rt"
)

type counter struct {
	stacks int
	rows   int
	rounds int
}

func (c *counter) Stack(calls []uintptr, doing Doing) int32 { c.stacks++; return int32(len(calls)) }
func (c *counter) Row(goroutine uint64, stack int32, rounds uint32, at rt.Tick) {
	c.rows++
	c.rounds += int(rounds)
}

func BenchmarkRound(b *testing.B) {
	for _, n := range []int{100, 1000, 10000, 100000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			stop := make(chan bool)
			for range n {
				go func() { <-stop }()
			}
			defer close(stop)
			time.Sleep(100 * time.Millisecond)
			var sink counter
			var clock rt.Clock
			before := rt.Now()
			c, err := Open(&sink)
			if err != nil {
				b.Fatal(err)
			}
			opened := rt.Now() - before
			c.Round(&clock, time.Minute, 50, 1)
			b.ResetTimer()
			for range b.N {
				c.Round(&clock, time.Minute, max(1, n*100/2000), 1)
			}
			t := c.Tally()
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/goroutine")
			b.ReportMetric(float64(opened), "ns-open")
			b.Logf("%+v %+v", t, sink)
		})
	}
}
