package profile

import (
	"runtime/pprof"
	"testing"

	"gprof/recorder/internal/rt"
)

// A profile that the program has ended is not ended again: that would end the program's own profile, which it has started since.
func TestStopLeavesOthersProfile(t *testing.T) {
	var ours Window
	begin := rt.Now()
	if err := ours.Start(); err != nil {
		t.Fatal(err)
	}
	pprof.StopCPUProfile()
	var theirs Window
	if err := theirs.Start(); err != nil {
		t.Fatal(err)
	}
	before := rt.Now()
	gzipped, end := ours.Stop()
	if b, _ := theirs.written(); complete(b) {
		t.Error("the program's profile was stopped")
	}
	pprof.StopCPUProfile()
	if b, _ := theirs.written(); !complete(b) {
		t.Error("the program's profile has no end")
	}
	if _, err := Read(gzipped, trackLabel); err != nil || end < begin || end > before {
		t.Errorf("our profile: %v; it ended at %d, want within %d to %d", err, end, begin, before)
	}
}

// A profile that nobody else has ended is ended.
func TestStopEndsOurProfile(t *testing.T) {
	var ours Window
	for range 2 {
		if err := ours.Start(); err != nil {
			t.Fatal(err)
		}
		if gzipped, _ := ours.Stop(); !complete(gzipped) {
			t.Errorf("%d bytes, want a complete profile", len(gzipped))
		}
	}
}
