package recorder_test

import (
	"testing"
	"time"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder"
)

// While sampling is paused a busy program is not sampled; its markers are recorded.
func TestPauseSampling(t *testing.T) {
	rec := begin(t, recorder.Options{SampleHz: 250})
	spin := func() {
		for begun := time.Now(); time.Since(begun) < 300*time.Millisecond; {
		}
	}
	rec.PauseSampling()
	rec.PauseSampling()
	awaitRound(t, rec)
	acked.Mark(1, "silent")
	spin()
	acked.Mark(2, "not any more")
	rec.ResumeSampling()
	sampled := rec.Stats().Sampler
	await(t, "samples afterwards", func() bool {
		spin()
		r := read(t, rec.Dir(), chunks.Unproven, chunks.Stale)
		_, _, after := r.samplesAround(r.of("acked"))
		return after > 0 || r.meta(rawformat.MetaCPU) != "signal"
	})
	r := finish(t, rec)
	if n := r.kinds[rawformat.KindPause]; n != 1 || r.kinds[rawformat.KindResume] != 1 {
		t.Errorf("%d pauses, %d resumed, want one of each", n, r.kinds[rawformat.KindResume])
	}
	if n := len(r.of("acked")); n != 2 {
		t.Errorf("%d markers, want 2", n)
	}
	for _, e := range r.entries {
		if (e.kind == rawformat.KindPause || e.kind == rawformat.KindResume) && e.what != uint64(rawformat.PauseSampling) {
			t.Errorf("%s of scope %d", rawformat.Kinds[e.kind].Name, e.what)
		}
	}
	before, during, after := r.samplesAround(r.of("acked"))
	t.Logf("%s: %d samples, %d while paused, %d then", sampled, before, during, after)
	if during > 0 {
		t.Errorf("%d samples while sampling was paused", during)
	}
}

// isSample reports whether blocks of a kind are CPU samples of a busy thread.
func isSample(k rawformat.Kind) bool {
	return k == rawformat.KindSample || k == rawformat.KindBusy || k == rawformat.KindBusyFor
}

// sampled is how many CPU samples of busy threads there are.
func (r *recording) sampled() int {
	return r.kinds[rawformat.KindSample] + r.kinds[rawformat.KindBusy] + r.kinds[rawformat.KindBusyFor]
}

// samplesAround is how many samples were taken before the first of two markers, between them,
// and after the second.
func (r *recording) samplesAround(marks []entry) (before, during, after int) {
	for _, e := range r.entries {
		switch {
		case !isSample(e.kind):
		case e.at < marks[0].at:
			before++
		case e.at < marks[1].at:
			during++
		default:
			after++
		}
	}
	return before, during, after
}

// awaitRound waits until the keeper has done a round, as a snapshot does.
func awaitRound(t *testing.T, rec *recorder.Recorder) {
	t.Helper()
	for range 2 { // the first time a round may already have been under way
		if _, err := rec.Snapshot(t.TempDir(), 1); err != nil {
			t.Fatal(err)
		}
	}
}
