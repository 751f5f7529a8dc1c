package recorder_test

import (
	"errors"
	"io/fs"
	"os"
	"strings"
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
	waitFor(t, "the ring to turn", func() bool { // an idle writer has the first chunk until the keeper comes
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

// A directory that somebody removes is no recording any more, which Stats says; the
// program goes on.
func TestDirectoryRemoved(t *testing.T) {
	rec := begin(t, recorder.Options{CPU: recorder.CPUOff})
	waitFor(t, "the directory is removed", func() bool { return os.RemoveAll(rec.Dir()) == nil }) // the recorder makes files meanwhile
	waitFor(t, "trouble", func() bool {
		acked.Mark(1, "abc")
		err := rec.Stats().Trouble
		return errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(err.Error(), "directory: ")
	})
	if err := rec.Stop(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stop: %v, want that the directory does not exist", err)
	}
}

// waitFor waits until something is so.
func waitFor(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}
