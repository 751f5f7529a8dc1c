package recorder_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder"
)

// A feature that is off is not recorded, whatever other options say.
func TestFeatures(t *testing.T) {
	all := recorder.Features(1<<len(recorder.FeatureNames()) - 1)
	stack := recorder.NewEvent("with stack", recorder.WithStack())
	type kind struct {
		feature recorder.Features
		name    string
		found   func(*recording) bool
	}
	kinds := []kind{
		{recorder.FeatureMarkers, "markers", func(r *recording) bool { return len(r.of("acked")) > 0 }},
		{recorder.FeatureStacks, "stacks", func(r *recording) bool { return r.kinds[rawformat.KindDefStack]+r.kinds[rawformat.KindStack] > 0 }},
		{recorder.FeatureCounters, "counters", func(r *recording) bool { return r.kinds[rawformat.KindCounter] > 0 }},
		{recorder.FeatureWaits, "waits", func(r *recording) bool { return r.kinds[rawformat.KindWait] > 0 }},
	}
	for _, only := range []recorder.Features{0, all, recorder.FeatureMarkers, recorder.FeatureMarkers | recorder.FeatureStacks, recorder.FeatureCounters, recorder.FeatureWaits} {
		rec := begin(t, recorder.Options{Features: only, Without: recorder.FeatureSamples | recorder.FeatureHeap | recorder.FeatureTrace, CounterHz: 10, WaitHz: 10})
		for range 3 {
			acked.Mark(1, "abc")
			stack.Mark()
			if !rec.Stats().Recording || rec.Recording() != (only == 0 || only.Has(recorder.FeatureMarkers)) {
				t.Errorf("%v: recording %v, markers %v", only, rec.Stats().Recording, rec.Recording())
			}
			awaitRound(t, rec)
			time.Sleep(110 * time.Millisecond) // enough for features that are off, too; waits are written from the second look on
		}
		wanted := func(f recorder.Features) bool { return only == 0 || only.Has(f) }
		await(t, "what is on", func() bool {
			stack.Mark()
			r := read(t, rec.Dir(), chunks.Unproven, chunks.Stale)
			return !slices.ContainsFunc(kinds, func(k kind) bool { return wanted(k.feature) && !k.found(r) })
		})
		r := finish(t, rec)
		for _, k := range kinds {
			want := wanted(k.feature)
			if k.feature == recorder.FeatureStacks && only.Has(recorder.FeatureWaits) {
				continue // because waits have stacks
			}
			if k.found(r) != want {
				t.Errorf("%v: %s %v, want %v; %s", only, k.name, !want, want, r.meta(rawformat.MetaSelfTest+"features"))
			}
		}
		if n := r.sampled() + r.kinds[rawformat.KindAllocation]; n > 0 {
			t.Errorf("%v: %d samples", only, n)
		}
	}
}

// Goroutines on no track are recorded if the function is wanted in which they began.
func TestRootsAreFiltered(t *testing.T) {
	for _, tracks := range [][]string{{"BEGINSHERE"}, {"-beginsElse"}} {
		rec := begin(t, recorder.Options{Tracks: tracks})
		done := make(chan struct{})
		go beginsHere(done)
		<-done
		go beginsElsewhere(done)
		<-done
		r := finish(t, rec)
		if r.meta("self-test.goroutines") != "by their numbers" {
			return
		}
		found := map[string]int{}
		for _, e := range r.of("acked") {
			found[string(e.args[1].Text)]++
		}
		if len(found) != 1 || found["here"] != 1 {
			t.Errorf("%v: markers %v", tracks, found)
		}
	}
}

//go:noinline
func beginsHere(done chan<- struct{}) { acked.Mark(1, "here"); done <- struct{}{} }

//go:noinline
func beginsElsewhere(done chan<- struct{}) { acked.Mark(1, "elsewhere"); done <- struct{}{} }

// Markers and samples of excluded tracks are not recorded.
func TestTracksAreFiltered(t *testing.T) {
	rec := begin(t, recorder.Options{SampleHz: 250, Tracks: []string{"kept *", "-kept 2"}})
	for _, name := range []string{"kept 1", "kept 2", "left out"} {
		ctx, work := recorder.NewTrack(context.Background(), name)
		aimed := acked.On(work.Track)
		aimed.Mark(1, name)
		acked.Mark(1, "on its own track, "+name)
		aimed.Begin(2, name).End()
		aimed.Interval(recorder.Now(), 3, name)
		work.Text("text of "+name, "abc")
		for begun := time.Now(); time.Since(begun) < 100*time.Millisecond; {
		}
		_ = ctx
		work.End()
	}
	acked.Mark(4, "on no track")
	acked.On(nil).Mark(5, "on the process")
	r := finish(t, rec)
	found := map[string]int{}
	for _, e := range r.of("acked") {
		found[string(e.args[1].Text)]++
	}
	if r.meta("self-test.goroutines") == "by their numbers" && (len(found) != 3 || found["on its own track, kept 1"] != 1) || found["kept 1"] != 3 || found["kept 2"] != 0 || found["on the process"] != 1 {
		t.Errorf("markers %v", found)
	}
	if len(r.of("text of kept 1")) != 1 || len(r.of("text of left out")) != 0 {
		t.Error("texts")
	}
	if n := r.kinds[rawformat.KindTrackStart]; n != 1 {
		t.Errorf("%d tracks begin, want 1", n)
	}
	tracks := map[uint64]bool{}
	for _, s := range r.samples() {
		tracks[s.track] = true
	}
	delete(tracks, 0)
	if r.meta(rawformat.MetaCPU) == "signal" && len(tracks) > 1 {
		t.Errorf("samples on tracks %v", tracks)
	}
}
