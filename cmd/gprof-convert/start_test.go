package main

import (
	"io"
	"runtime"
	"testing"
)

// The flags of all commands take several times as long to model as those of one, so only those that may be meant are.
func TestFlagsOfOneCommand(t *testing.T) {
	all := allocated(t, "--version", "man") // man needs all
	for _, words := range [][]string{{"--version"}, {"info", "--help"}, {"help", "verify"}, {"__complete", "--", "top", "--"}} {
		if one := allocated(t, words...); one > all/2 {
			t.Errorf("%v allocates %d bytes, what models all commands %d", words, one, all)
		}
	}
}

// allocated is how many bytes a command allocates.
func allocated(t *testing.T, words ...string) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	code := run(words, nil, io.Discard, io.Discard)
	runtime.ReadMemStats(&after)
	if code != 0 {
		t.Errorf("%v: exit code %d", words, code)
	}
	return after.TotalAlloc - before.TotalAlloc
}
