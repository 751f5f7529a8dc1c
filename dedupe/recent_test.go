package dedupe_test

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"gprof/dedupe"
)

// Strings stay what they are, however many come, and equal ones that follow each other share memory.
func TestRecent(t *testing.T) {
	var r dedupe.Recent
	for i := range 10_000 {
		want := fmt.Sprint(strings.Repeat("x", i%3), i%700)
		text := r.Text([]byte(want))
		shared := r.Share(strings.Clone(want))
		if text != want || shared != want {
			t.Fatalf("%q became %q and %q", want, text, shared)
		}
		if want != "" && unsafe.StringData(text) != unsafe.StringData(shared) {
			t.Fatalf("%q is there twice", want)
		}
	}
	if r.Text(nil) != "" || r.Share("") != "" {
		t.Error("an empty string became another one")
	}
}
