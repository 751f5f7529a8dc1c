package recorder_test

import (
	"testing"

	"gprof/recorder"
)

func TestSmoke(t *testing.T) {
	rec, err := recorder.Start(recorder.Options{Dir: t.TempDir(), Limit: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100000 {
		benchTwo.Mark(i, 77)
	}
	benchText.Mark(5, "héllo")
	benchFour.Mark(1, 2, 2.5, true)
	benchCall.Mark()
	recorder.Text("hi", "there")
	if err := rec.Stop(); err != nil {
		t.Fatal(err)
	}
	r := read(t, rec.Dir())
	t.Log(len(r.entries), len(r.of("bench two")), r.of("bench text"), r.of("bench four"), r.of("bench stack"), r.of("hi"), r.kinds)
	t.Log(r.Meta, r.Exit)
}
