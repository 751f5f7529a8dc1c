package recorder_test

import (
	"testing"
	"time"

	"gprof/rawformat"
	"gprof/recorder"
)

// While sampling is paused a busy program is not sampled, and its markers are
// recorded.
func TestPauseSampling(t *testing.T) {
	rec := begin(t, recorder.Options{SampleHz: 250})
	spin := func() {
		for begun := time.Now(); time.Since(begun) < 300*time.Millisecond; {
		}
	}
	rec.PauseSampling()
	rec.PauseSampling()
	paused := recorder.Now()
	acked.Mark(1, "paused")
	awaitRound(t, rec)
	silent := recorder.Now()
	spin()
	resumed := recorder.Now()
	rec.ResumeSampling()
	acked.Mark(2, "resumed")
	awaitRound(t, rec)
	spin()
	sampled := rec.Stats().Sampler
	r := finish(t, rec)
	if n := r.kinds[rawformat.KindPause]; n != 1 || r.kinds[rawformat.KindResume] != 1 {
		t.Errorf("%d pauses, %d resumed, want one of each", n, r.kinds[rawformat.KindResume])
	}
	if n := len(r.of("acked")); n != 2 {
		t.Errorf("%d markers, want 2", n)
	}
	before, during, after := 0, 0, 0
	marks := r.of("acked")
	for _, e := range r.entries {
		if (e.kind == rawformat.KindPause || e.kind == rawformat.KindResume) && e.what != uint64(rawformat.PauseSampling) {
			t.Errorf("%s of scope %d", rawformat.Kinds[e.kind].Name, e.what)
		}
		if e.kind != rawformat.KindSample && e.kind != rawformat.KindBusy {
			continue
		}
		switch at := recorder.Time(e.at - marks[0].at); {
		case at < silent-paused:
			before++
		case at < resumed-paused:
			during++
		default:
			after++
		}
	}
	t.Logf("%s: %d samples, %d while paused, %d then", sampled, before, during, after)
	if during > 0 {
		t.Errorf("%d samples while sampling was paused", during)
	}
	if r.meta(rawformat.MetaCPU) == "signal" && after == 0 {
		t.Error("no samples afterwards")
	}
}

// awaitRound waits until the housekeeper has come by, as a snapshot does.
func awaitRound(t *testing.T, rec *recorder.Recorder) {
	t.Helper()
	for range 2 { // it may have been on its way the first time
		if _, err := rec.Snapshot(t.TempDir(), 1); err != nil {
			t.Fatal(err)
		}
	}
}
