package recorder

import (
	"gprof/recorder/internal/rt"
	"runtime/pprof"
	"testing"
)

// A profile that the program ended is not ended once more: that would be the
// program's own, which it began next.
func TestStopLeavesOthersProfile(t *testing.T) {
	var ours cpuProfiling
	begin := rt.Now()
	if err := ours.start(); err != nil {
		t.Fatal(err)
	}
	pprof.StopCPUProfile()
	var theirs cpuProfiling
	if err := theirs.start(); err != nil {
		t.Fatal(err)
	}
	before := rt.Now()
	gzipped, end := ours.stop()
	if b, _ := theirs.written(); complete(b) {
		t.Error("the program's profile was stopped")
	}
	pprof.StopCPUProfile()
	if b, _ := theirs.written(); !complete(b) {
		t.Error("the program's profile has no end")
	}
	if _, err := readProfile(gzipped); err != nil || end < begin || end > before {
		t.Errorf("our profile: %v; it ended at %d, want within %d to %d", err, end, begin, before)
	}
}

// The profile that nobody else ended is ended.
func TestStopEndsOurProfile(t *testing.T) {
	var ours cpuProfiling
	for range 2 {
		if err := ours.start(); err != nil {
			t.Fatal(err)
		}
		if gzipped, _ := ours.stop(); !complete(gzipped) {
			t.Errorf("%d bytes, want a complete profile", len(gzipped))
		}
	}
}
