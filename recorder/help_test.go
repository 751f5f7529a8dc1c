package recorder_test

import (
	"errors"
	"strings"
	"testing"

	"gprof/recorder"
)

// A program that calls Start itself prints what can be set in the environment, once, when
// that asks for it, also if nothing is to be recorded.
func TestStartHelps(t *testing.T) {
	for env, want := range map[string]int{"GPROF_HELP=1": 1, "GPROF_HELP=0": 0} {
		var stderr strings.Builder
		c := child("helped", nil, env, "GPROF=off")
		c.Stderr = &stderr
		if err := c.Run(); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(stderr.String(), "GPROF_LIMIT=SIZE"); n != want {
			t.Errorf("%s: printed %d times, want %d:\n%s", env, n, want, stderr.String())
		}
	}
}

func helpedChild() {
	for range 2 {
		if _, err := recorder.Start(recorder.Options{}); !errors.Is(err, recorder.ErrOff) {
			panic(err)
		}
	}
}
