package recorder_test

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gprof/recorder"
)

func TestStats(t *testing.T) {
	if s := (*recorder.Recorder)(nil).Stats(); s != (recorder.Stats{}) {
		t.Errorf("nil has %+v", s)
	}
	before := time.Now()
	rec := begin(t, recorder.Options{Limit: 1 << 20, ChunkSize: 64 << 10, CPU: recorder.CPUOff})
	waitFor(t, "the ring to turn", func() bool { // an idle writer has the first chunk until the keeper's next round
		for n := range 200_000 {
			acked.Mark(n, "abc")
		}
		return rec.Stats().Begin > 1
	})
	s := rec.Stats()
	if !s.Recording || s.Trouble != nil || s.Err != nil || s.Sampler != "off" || s.Limit != 1<<20 {
		t.Errorf("%+v", s)
	}
	if s.Begin <= 1 || s.End <= s.Begin || s.Discarded == 0 || s.Held == 0 {
		t.Errorf("%+v: the ring has turned", s)
	}
	waitFor(t, "a chunk to make way for definitions", func() bool { return rec.Stats().Held <= s.Limit })
	if s.Reach <= 0 || s.Reach > time.Since(before) {
		t.Errorf("reaches back %v", s.Reach)
	}
	if n := leastAllocs(func() { rec.Stats() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	rec.Pause()
	if rec.Stats().Recording {
		t.Error("records while it is paused")
	}
	rec.Stop()
	if rec.Stats().Recording {
		t.Error("records after Stop")
	}
}

// If somebody removes the directory Stats says so, and the program goes on.
func TestDirectoryRemoved(t *testing.T) {
	rec := begin(t, recorder.Options{CPU: recorder.CPUOff})
	waitFor(t, "the directory is removed", func() bool { return os.RemoveAll(rec.Dir()) == nil }) // the recorder may make files meanwhile
	waitFor(t, "trouble", func() bool {
		acked.Mark(1, "abc")
		err := rec.Stats().Trouble
		return errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(err.Error(), "directory: ")
	})
	if err := rec.Stop(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stop: %v, want that the directory does not exist", err)
	}
}

// waitFor waits until so returns true.
func waitFor(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

// The program's function is called after rounds, even after it has panicked.
func TestAfterRound(t *testing.T) {
	var calls atomic.Int64
	rec := begin(t, recorder.Options{CPU: recorder.CPUOff, AfterRound: func(s recorder.Stats) {
		if !s.Recording {
			t.Error("called while nothing is recorded")
		}
		if calls.Add(1) == 2 {
			panic("the program's own")
		}
	}})
	waitFor(t, "calls after the panic", func() bool { return calls.Load() > 3 })
	if s := rec.Stats(); s.Hook.Panicked != 1 || s.Hook.Called < 4 || s.Err != nil {
		t.Errorf("%+v", s)
	}
	finish(t, rec)
}

// A function that does not return delays neither the keeper nor Stop.
func TestAfterRoundBlocks(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	rec := begin(t, recorder.Options{CPU: recorder.CPUOff, CounterHz: 10, AfterRound: func(recorder.Stats) { <-release }})
	waitFor(t, "rounds without it", func() bool { return rec.Stats().Hook.Missed > 2 })
	if s := rec.Stats().Hook; s.Called != 1 {
		t.Errorf("%+v", s)
	}
	finish(t, rec)
}
