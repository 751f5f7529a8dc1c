package recorder

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/rawformat"
)

var earlyStacked = NewEvent("early stacked", WithStack())

// The dictionary tells where markers were made before Start, by the time at which it
// knows the modules of the process.
func TestEarlyStacksAreNamed(t *testing.T) {
	StartEarly()
	earlyStacked.Mark()
	r := beginInternal(t, Options{Limit: 8 << 20, CPU: CPUOff, HeapEvery: -1})
	for deadline := time.Now().Add(time.Minute); !isNamed(t, r.dir, "gprof/recorder.TestEarlyStacksAreNamed"); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nobody knows where the marker was made")
		}
	}
	r.Stop()
}

// isNamed reports whether a dictionary has a name.
func isNamed(t *testing.T, dir, name string) bool {
	t.Helper()
	p, err := chunks.OpenProcess(os.DirFS(filepath.Dir(dir)), filepath.Base(dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, dict := range p.Dicts {
		for _, rec := range dict.All(nil) {
			if c := rec.Fields(); rec.Kind == rawformat.KindDefString {
				c.Uint("id")
				if string(c.Text("text")) == name {
					return true
				}
			}
		}
	}
	return false
}
