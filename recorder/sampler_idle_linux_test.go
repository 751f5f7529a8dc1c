//go:build (amd64 || arm64) && !gprof_portable && !go1.28

package recorder_test

import (
	"regexp"
	"runtime"
	"syscall"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder"
)

// While a thread that works, waits and works again is waiting, the recording repeats its last
// sample with no CPU time, at the beginning and the end of the wait.
func TestIdleThread(t *testing.T) {
	rec := begin(t, recorder.Options{})
	work, tid := make(chan bool), make(chan uint64, 1)
	done := make(chan bool)
	go func() {
		runtime.LockOSThread() // so that the thread ends with the goroutine
		tid <- uint64(syscall.Gettid())
		for range work {
			burnCPU(60 * time.Millisecond)
			done <- true
		}
		close(done)
	}()
	thread := <-tid
	last := func() (last signalSample) {
		for _, s := range read(t, rec.Dir(), chunks.Unproven, chunks.Stale).signalSamples(t) {
			if s.thread == thread {
				last = s
			}
		}
		return last
	}
	sampled := func() bool {
		work <- true
		<-done
		return last().weight > 0
	}
	await(t, "the thread is sampled", sampled)
	await(t, "the thread is idle", func() bool { s := last(); return s.thread == thread && s.weight == 0 })
	await(t, "the thread is sampled again", sampled)
	close(work)
	<-done
	checkIdle(t, finish(t, rec), thread)
}

// checkIdle checks that the thread is busy, then idle, then busy again.
func checkIdle(t *testing.T, r *recording, thread uint64) {
	t.Helper()
	turns := ""
	var last signalSample
	for _, s := range r.signalSamples(t) {
		if s.thread != thread {
			continue
		}
		turn := "busy "
		if s.weight == 0 {
			turn = "idle "
			if last.stack != s.stack || last.goroutine != s.goroutine || s.cpu != 1 {
				t.Errorf("idle with %+v, the last sample is %+v", s, last)
			}
		}
		if s.time < last.time {
			t.Errorf("at %d after %d", s.time, last.time)
		}
		if last.thread == 0 || s.weight == 0 || last.weight == 0 {
			turns += turn
		}
		last = s
	}
	// Each idle time has a sample at its beginning and one at its end. The runtime may wake
	// the thread in between.
	if want := regexp.MustCompile(`^busy (idle idle )+busy `); !want.MatchString(turns) {
		t.Errorf("the thread is %swant %s", turns, want)
	}
	if r.kinds[rawformat.KindIdle] == 0 {
		t.Error("no idle block")
	}
}
