package main

import (
	"testing"

	"gprof/recorder/attach"
)

func TestCallGraphFlag(t *testing.T) {
	for text, want := range map[string]int{"fp": 0, "dwarf": attach.DefaultStackBytes, "dwarf,32KiB": 32 << 10, "dwarf,8192": 8192} {
		f := callGraphFlag(1)
		if err := f.UnmarshalText([]byte(text)); err != nil || int(f) != want {
			t.Errorf("%s: %d, %v, want %d", text, f, err, want)
		}
	}
	for _, text := range []string{"", "lbr", "fp,8192", "dwarf,", "dwarf,0", "dwarf,x", "dwarf,64KiB", "dwarf,-1"} {
		var f callGraphFlag
		if err := f.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is taken for %d bytes", text, f)
		}
	}
}
