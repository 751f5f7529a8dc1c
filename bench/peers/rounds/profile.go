package main

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"time"
)

// profiles is how often each profile is taken.
const profiles = 100

// compareProfile prints a line for a goroutine profile of n goroutines that wait.
func compareProfile(n int) {
	stop := make(chan bool)
	for range n {
		go deep(10, stop)
	}
	time.Sleep(warm)
	records := make([]runtime.StackRecord, n+100)
	stops, stopped, _ := pauses()
	begun := time.Now()
	for range profiles {
		runtime.GoroutineProfile(records)
	}
	each := time.Since(begun) / profiles
	s, d, longest := pauses()
	close(stop)
	fmt.Printf("| %d | %.2f ms | %d | %.1f µs | %.0f µs |\n", n, 1e3*each.Seconds(), (s-stops)/profiles, 1e6*(d-stopped)/float64(s-stops), 1e6*longest)
}

func deep(n int, c chan bool) {
	if n > 0 {
		deep(n-1, c)
		return
	}
	<-c
}

// pauses is how often the world was stopped, how long altogether, and at most how long,
// in seconds, as far as the runtime's histogram tells.
func pauses() (n uint64, all, longest float64) {
	s := []metrics.Sample{{Name: "/sched/pauses/total/other:seconds"}}
	metrics.Read(s)
	h := s[0].Value.Float64Histogram()
	for i, count := range h.Counts {
		if n += count; count > 0 {
			longest = h.Buckets[i+1]
		}
		all += float64(count) * max(0, h.Buckets[i])
	}
	return n, all, longest
}
