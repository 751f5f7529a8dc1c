package recorder_test

import (
	"sync/atomic"
	"testing"

	"gprof/recorder"
)

// The program's function is called after rounds, also when it has panicked.
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

// A function that does not return holds up neither the keeper nor Stop.
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
