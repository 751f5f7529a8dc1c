//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package sampler

import (
	"runtime"
	"testing"
	"time"

	"gprof/rawformat"
)

// spend uses CPU time for so many samples.
func spend(samples int64) {
	x := uint64(1)
	for begun := cpuOfProcess(); cpuOfProcess()-begun < samples*int64(10*time.Millisecond); {
		for i := range uint64(100_000) {
			x = x*31 + i
		}
	}
	runtime.KeepAlive(x)
}

// A Start that fails leaves the samples from before it to the next one.
func TestEarlyOutlivesAFailedStart(t *testing.T) {
	h, _ := host(t)
	if err := OpenEarly(h.Recording, 100, testDepth); err != nil {
		t.Fatal(err)
	}
	had := 0
	for deadline := time.Now().Add(time.Minute); had < 10 && time.Now().Before(deadline); {
		spend(5)
		var s Sampler
		if err := s.Open(h, 100, testDepth); err != nil {
			t.Fatal(err)
		}
		now := len(s.early.samples)
		if now < had || early.Load() != nil {
			t.Fatalf("%d samples, before the last start %d", now, had)
		}
		had = now
		s.Close()
	}
	var s Sampler
	if err := s.Open(h, 100, testDepth); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n := s.WriteEarly(true); n < had || had < 10 || s.HasEarly() || early.Load() != nil {
		t.Errorf("%d samples written, there were %d", n, had)
	}
}

// When there is no room left no more samples are taken, and the rest is counted.
func TestEarlyIsBounded(t *testing.T) {
	h, _ := host(t)
	if err := OpenEarly(h.Recording, 100, testDepth); err != nil {
		t.Fatal(err)
	}
	e := early.Load()
	e.hold()
	e.bytes = earlyBytes
	e.goOn()
	<-e.done
	before := len(e.samples)
	spend(20)
	var s Sampler
	if err := s.Open(h, 100, testDepth); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.WriteEarly(true)
	if lost := h.Recording.Lost(rawformat.LostSamples); len(e.samples) != before || lost < 10 {
		t.Errorf("%d samples, %d without room; %d lost, want 10 and more", len(e.samples), before, lost)
	}
}
