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
		e.mark(probeEvent.handle, markInstant, e.clock.now(), 0, pack(made), arg{}, nil)
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
