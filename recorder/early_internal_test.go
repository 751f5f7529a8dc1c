package recorder

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/rawformat"
)

// A marker that found the recorder before Start and lost its thread for long is in
// the recording, or counted: none is lost without a word.
func TestLateHeirs(t *testing.T) {
	StartEarly()
	e := early.Load()
	made, deadline := 0, time.Now().Add(time.Minute)
	mark := func() {
		e.mark(probeEvent.handle, markInstant, e.clock.Now(), 0, pack(made), arg{}, nil)
		made++
	}
	mark() // in time, however late the next one is
	r := beginInternal(t, Options{Limit: 8 << 20})
	for r.Drops().Busy == 0 {
		mark()
		time.Sleep(time.Millisecond)
		if time.Now().After(deadline) {
			t.Fatalf("%d markers got into shards that nobody looks after", made)
		}
	}
	r.Stop()
	p, err := chunks.OpenProcess(os.DirFS(filepath.Dir(r.dir)), filepath.Base(r.dir))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for blocks := p.Blocks(func(p chunks.Problem) { t.Error(p) }); blocks.Next(); {
		if blocks.Block().Kind == rawformat.KindInstant {
			found++
		}
	}
	if lost := int(r.Drops().Markers()); found+lost != made || found == 0 {
		t.Errorf("%d markers found, %d lost, %d were made", found, lost, made)
	}
}

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
