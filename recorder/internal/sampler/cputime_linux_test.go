//go:build (amd64 || arm64) && !gprof_portable && !go1.28

package sampler

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gprof/rawformat"
	"gprof/recorder/internal/rt"
)

// threadTime is the CPU time of this thread.
func threadTime() time.Duration {
	return time.Duration(rt.ReadClock(unix.CLOCK_THREAD_CPUTIME_ID))
}

// spendHere has this thread use at least so much CPU time, in ns.
func spendHere(ns int64) {
	x := uint64(1)
	for begun := threadTime(); int64(threadTime()-begun) < ns; {
		x = x*31 + 7
	}
	runtime.KeepAlive(x)
}

// A record has the CPU time since the one before it, the first one since the recorder began to count: also a record
// before which others found no room. Where the clock runs backwards it has none, and where it is not read that isn't known.
func TestRecordsHaveCPUTime(t *testing.T) {
	_, th := attached(t)
	tid := unix.Gettid()
	m, value := madeUpStacks()[1], cookie(th.slot, sampleSlots[th.slot].generation)
	before, earlier := cpuOfThread(tid), int64(0) // the clock around the record before
	th.stacks.CountFrom(before)
	record := func(spent int64) *rawformat.StackRecord {
		t.Helper()
		earlier = before
		spendHere(spent)
		before = cpuOfThread(tid)
		interrupt(&m, value, &interrupted{})
		var rec rawformat.StackRecord
		if ok, err := th.stacks.Next(&rec); !ok || err != nil {
			t.Fatalf("no record: %v", err)
		}
		th.stacks.Drained()
		return &rec
	}
	for i, spent := range []int64{1e6, 7e6, 0, 3e6, 25e6} {
		rec := record(spent)
		if most := cpuOfThread(tid) - earlier; int64(rec.CPU)-1 < spent || int64(rec.CPU)-1 > most {
			t.Errorf("record %d has %d ns, want %d to %d", i, int64(rec.CPU)-1, spent, most)
		}
	}
	for range 500 { // more than there is room for
		interrupt(&m, value, &interrupted{})
	}
	last := before
	spendHere(5e6)
	var rec rawformat.StackRecord
	for ok := true; ok; {
		ok, _ = th.stacks.Next(&rec)
		th.stacks.Drained()
	}
	if th.stacks.Lost() == 0 {
		t.Fatal("the ring was not full")
	}
	if rec := record(1e6); int64(rec.CPU)-1 < 6e6 || int64(rec.CPU)-1 > cpuOfThread(tid)-last {
		t.Errorf("after lost records it has %d ns, want at least 6 ms", rec.CPU-1)
	}
	th.stacks.CountFrom(cpuOfThread(tid) + 1e12)
	if rec := record(1e6); rec.CPU != 1 {
		t.Errorf("%d ns of a clock that runs backwards", int64(rec.CPU)-1)
	}
	defer func(was uintptr) { sampleLayout.cpu = was }(sampleLayout.cpu)
	sampleLayout.cpu = 0
	if rec := record(1e6); rec.CPU != 0 || rec.CPUTime(10) != 10 {
		t.Errorf("%d ns of a clock that is not read", int64(rec.CPU)-1)
	}
}

// Blocks have the CPU time in coarse units. What is rounded away goes into the thread's next one, so that sums are exact.
func TestCPUTimeAddsUp(t *testing.T) {
	s, th := &Sampler{period: 10_000_000}, &threadState{}
	sum, exact := uint64(0), uint64(0)
	for i := range uint64(1000) {
		used := 9_000_000 + i%3*700_001
		cpu, rest := s.round(th, &rawformat.StackRecord{CPU: used + 1, Periods: 1})
		th.rest = rest
		sum, exact = sum+cpu-1, exact+used
		if d := int64(exact - sum); d != rest || d > rawformat.CPUUnit/2 || d < -rawformat.CPUUnit/2 {
			t.Fatalf("after %d samples of %d ns they have %d ns, and %d remain", i+1, exact, sum, rest)
		}
	}
	for _, rec := range []rawformat.StackRecord{{Periods: 1}, {CPU: 30_000_002, Periods: 3}} { // not known; in a block to the ns
		if cpu, rest := s.round(th, &rec); cpu != rec.CPU || rest != th.rest {
			t.Errorf("%d periods: %d ns become %d", rec.Periods, rec.CPU, cpu)
		}
	}
}
