package stream

import "testing"

func TestBreakpadID(t *testing.T) {
	for build, want := range map[string]string{
		// The example of Breakpad's own tests, whose bytes count from 0.
		"000102030405060708090a0b0c0d0e0f":         "030201000504070608090A0B0C0D0E0F0",
		"b5381a457906d279073822a5ceb24c4bfef94ddb": "451A38B5067979D2073822A5CEB24C4B0",
		"c0ffee01":                          "01EEFFC00000000000000000000000000",
		"":                                  "000000000000000000000000000000000",
		"44E4EC8C2F41492B9369D6B9A059577C2": "44E4EC8C2F41492B9369D6B9A059577C2", // of a PDB, with its age
	} {
		if got := (Module{Build: build}).BreakpadID(); got != want {
			t.Errorf("%s: %s, want %s", build, got, want)
		}
	}
	one, other := Module{Build: "a/b/c/d"}.BreakpadID(), Module{Build: "a/b/c/e"}.BreakpadID()
	if len(one) != 33 || one == other || !breakpadID().MatchString(one) {
		t.Errorf("ids of Go: %s and %s", one, other)
	}
}
