package recorder_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gprof/rawformat"
	"gprof/recorder"
)

var (
	none  = recorder.NewEvent("none")
	one   = recorder.NewEvent1("one", recorder.Int64("x"))
	two   = recorder.NewEvent2("two", recorder.Uint("x"), recorder.Path("y"))
	three = recorder.NewEvent3("three", recorder.Float("x"), recorder.Bool("y"), recorder.Duration("z"))
	many  = recorder.NewEventN("many", []recorder.AnyField{recorder.Int("a"), recorder.String("b"), recorder.Float("c"), recorder.Bool("d"), recorder.Duration("e")})
	four  = recorder.NewEvent4("four", recorder.Int("w"), recorder.Hex("x"), recorder.String("y"), recorder.Percent("z"))
)

var elsewhere = recorder.NewCategory("Elsewhere", "red", "")

// All methods can be called whether Start worked or not.
func TestNilRecorder(t *testing.T) {
	var rec *recorder.Recorder
	rec.Pause()
	rec.Resume()
	if rec.Session() != "" || rec.Dir() != "" || rec.Instance() != 0 || rec.Recording() || rec.Err() != nil || rec.Stop() != nil {
		t.Error("a nil recorder is not nothing")
	}
	none.Mark()
	two.Begin(1, "").End()
	recorder.Mark("x")
	recorder.Text("x", "y")
	ctx, work := recorder.NewTrack(context.Background(), "x")
	one.On(work.Track).Mark(1)
	work.End()
	if ctx == nil {
		t.Error("no context")
	}
	var noWork *recorder.Work
	noWork.End()
	var counter *recorder.Counter
	counter.Add(1)
	counter.Set(1)
	new(recorder.Event2[int, string]).Mark(1, "an event that nobody made")
}

func TestStartTwice(t *testing.T) {
	rec := begin(t, recorder.Options{})
	other, err := recorder.Start(recorder.Options{Dir: t.TempDir()})
	if !errors.Is(err, recorder.ErrRunning) || other != nil {
		t.Errorf("second Start: %v, %v, want ErrRunning", other, err)
	}
	if !rec.Recording() {
		t.Error("the first one does not record any more")
	}
	finish(t, rec)
	if err := rec.Stop(); err != nil {
		t.Errorf("second Stop: %v", err)
	}
	// Events outlive recorders.
	rec = begin(t, recorder.Options{})
	one.Mark(5)
	if found := finish(t, rec).of("one"); len(found) != 1 {
		t.Errorf("%d markers in the second recording, want 1", len(found))
	}
}

func TestStartErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, env string
		o         recorder.Options
		want      error // nil: any
	}{
		{"malformed", "GPROF_LIMIT=much", recorder.Options{}, nil},
		{"malformed switch", "GPROF=maybe", recorder.Options{}, nil},
		{"too small", "", recorder.Options{Limit: 100 << 10}, recorder.ErrSmall},
		{"no directory", "", recorder.Options{Dir: file}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if name, value, ok := strings.Cut(tt.env, "="); ok {
				t.Setenv(name, value)
			}
			if tt.o.Dir == "" {
				tt.o.Dir = t.TempDir()
			}
			rec, err := recorder.Start(tt.o)
			if err == nil || rec != nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("Start: %v, %v, want %v", rec, err, tt.want)
			}
			if left, _ := filepath.Glob(tt.o.Dir + "/*/*"); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
	begin(t, recorder.Options{}).Stop() // a recorder that could not start does not count as running
}

func TestPause(t *testing.T) {
	rec := begin(t, recorder.Options{})
	one.Mark(1)
	span := one.Begin(10)
	rec.Pause()
	rec.Pause()
	if rec.Recording() {
		t.Error("records while paused")
	}
	one.Mark(2)
	unborn := one.Begin(20)
	rec.Resume()
	one.Mark(3)
	span.End()
	unborn.End() // began while nothing recorded
	r := finish(t, rec)
	var got []int64
	for _, e := range r.of("one") {
		got = append(got, int64(e.args[0].Num))
	}
	if len(got) != 3 || got[0] != 1 || got[1] != 3 || got[2] != 10 {
		t.Errorf("markers %v, want 1, 3 and the interval 10", got)
	}
	if r.kinds[kindPause] != 1 || r.kinds[kindResume] != 1 {
		t.Errorf("%d pauses and %d resumes, want one each", r.kinds[kindPause], r.kinds[kindResume])
	}
	for _, e := range r.entries {
		if e.what != uint64(rawformat.PauseAll) {
			t.Errorf("%s of scope %d", rawformat.Kinds[e.kind].Name, e.what)
		}
	}
}
