//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package sampler

import (
	"testing"

	"gprof/recorder/internal/rt"
)

// A label that begins after Start has returned, but before the sampler's first work is done, is there when samples are taken.
func TestLabelBeforeSampler(t *testing.T) {
	if rt.GoroutineOffset() == 0 {
		t.Fatal("goroutines have no numbers here")
	}
	was := sampleLayout
	defer func() { sampleLayout = was }()
	sampleLayout = layout{}
	s := beginLabel()
	defer s.End()
	if s.slot == nil || s.slot.n != 1 || s.slot.labels[0].label != 7 {
		t.Errorf("%+v", s)
	}
}

//go:noinline
func beginLabel() Scope { return Begin(nil, 7) }
