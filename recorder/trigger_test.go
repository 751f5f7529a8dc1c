package recorder_test

import (
	"path/filepath"
	"testing"
	"time"

	"gprof/chunks/kept"
	"gprof/rawformat"
	"gprof/recorder"
)

var request = recorder.NewEvent2("request", recorder.Int("n"), recorder.Flow("flow"))

// keptBy waits for the files that the session of a recorder keeps.
func keptBy(t *testing.T, rec *recorder.Recorder, n int) (files []kept.File) {
	t.Helper()
	waitFor(t, "kept files", func() (done bool) {
		var err error
		if files, err = kept.List(filepath.Dir(rec.Dir())); err != nil {
			t.Fatal(err)
		}
		return len(files) >= n
	})
	return files
}

// One interval that takes long has the past kept, with the marker that tells of it.
func TestTriggerOfInterval(t *testing.T) {
	rec := begin(t, recorder.Options{Triggers: []recorder.Trigger{{Rule: "request > 1ms: snapshot 10s"}}})
	for range 1000 {
		request.Begin(1, 7).End()
	}
	begun := recorder.TimeOf(time.Now().Add(-time.Second))
	request.Interval(begun, 2, 7)
	files := keptBy(t, rec, 1)
	r := finish(t, rec)
	var whats []string
	for _, m := range r.of(rawformat.EventTrigger) {
		whats = append(whats, string(m.args[1].Text))
		if file := string(m.args[3].Text); file != files[0].Name() || m.args[5].Num != 7 {
			t.Errorf("file %s, flow %d", file, m.args[5].Num)
		}
	}
	if len(files) != 1 || len(whats) != 2 || whats[0] != rawformat.TriggerFired || whats[1] != rawformat.TriggerKept {
		t.Errorf("%v, markers %q", files, whats)
	}
}
