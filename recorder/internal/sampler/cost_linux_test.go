//go:build (amd64 || arm64) && !gprof_portable && !go1.28 && !race

package sampler

import (
	"io"
	"runtime"
	"runtime/pprof"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// atDepth calls f below n more frames.
//
//go:noinline
func atDepth(n int, f func()) {
	if n > 1 {
		atDepth(n-1, f)
	} else {
		f()
	}
	runtime.KeepAlive(n)
}

// signalled is the CPU time of one call of send, 20 frames deep.
func signalled(n int, send func()) (each time.Duration) {
	atDepth(20, func() {
		before := threadTime()
		for range n {
			send()
		}
		each = (threadTime() - before) / time.Duration(n)
	})
	return each
}

// BenchmarkSampleCost compares a sample with one of the runtime's CPU profile: it costs about four fifths, most of
// which is the kernel's, and with samples that don't measure their CPU time. All are measured in turns, by signals that a thread sends itself. The figures depend on the
// machine, so the benchmark checks nothing.
//
// go -C recorder test ./internal/sampler -run '^$' -bench SampleCost
func BenchmarkSampleCost(b *testing.B) {
	var s Sampler
	h, _ := host(b)
	h.Complain = func(string, error) {} // scan would attach to this thread, too, which then has a ring
	if err := s.Open(h, 100, testDepth); err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	tid := unix.Gettid()
	th, err := s.attach(tid)
	if err != nil {
		b.Fatal(err)
	}
	defer s.detach(th)
	value := cookie(th.slot, sampleSlots[th.slot].generation)
	const n = 30
	ours, unmeasured, theirs, drained, scan := time.Hour, time.Hour, time.Hour, time.Hour, time.Hour
	send := func() {
		if err := fakeTimer(tid, s.signal, value); err != nil {
			b.Error(err)
		}
	}
	for b.Loop() {
		sampleLayout.cpu = 0
		unmeasured = min(unmeasured, signalled(n, send))
		s.drain(tid, th)
		sampleLayout.cpu = 1
		ours = min(ours, signalled(n, send))
		before := threadTime()
		s.drain(tid, th)
		drained = min(drained, (threadTime()-before)/n)
		if err := pprof.StartCPUProfile(io.Discard); err != nil {
			b.Fatal(err)
		}
		theirs = min(theirs, signalled(n, func() { fakeTimer(tid, int(unix.SIGPROF), 0) }))
		pprof.StopCPUProfile()
		before = threadTime()
		s.scan()
		scan = min(scan, threadTime()-before)
	}
	ratio := float64(ours) / float64(theirs)
	share := float64(100*(ours+drained)+2*scan) / float64(time.Second)
	b.Logf("a sample %v, the runtime's %v: %.2fx; without measured CPU time %v: %.2fx; to drain it %v; to look for threads %v; 100 in a second are %.3f %% of a processor", ours, theirs, ratio, unmeasured, float64(ours)/float64(unmeasured), drained, scan, 100*share)
}
