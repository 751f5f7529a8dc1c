package keeper

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder/internal/rt"
)

// The more goroutines there are, the less often they are looked at; above a number they are
// not looked at at all, which the recording says once.
func TestWaitsOfMany(t *testing.T) {
	k, dir := begin(t, Config{})
	now := rt.Now()
	for _, c := range []struct {
		goroutines int
		pause      time.Duration
		looked     bool
	}{{100, time.Second / MaxWaitHz, true}, {waitBudget, time.Second, true}, {maxWaiting + waitBudget, maxWaiting/waitBudget*time.Second + time.Second, false}} {
		m := &waitMeter{hz: MaxWaitHz}
		m.look(k, now, c.goroutines)
		if pause := time.Duration(m.due - now); pause != c.pause || (m.last != 0) != c.looked || (m.records != nil) != c.looked {
			t.Errorf("%d goroutines: looked at %v, again after %v, want %v, %v", c.goroutines, m.records != nil, pause, c.looked, c.pause)
		}
		if !c.looked {
			m.look(k, now, c.goroutines)
		}
	}
	stop(t, k)
	p, err := chunks.OpenProcess(os.DirFS(filepath.Dir(dir)), filepath.Base(dir))
	if err != nil {
		t.Fatal(err)
	}
	said := 0
	for blocks := p.Blocks(func(p chunks.Problem) { t.Error(p) }); blocks.Next(); {
		if b := blocks.Block(); b.Kind == rawformat.KindLog {
			b.Fields.Sint("time")
			b.Fields.Uint("level")
			if bytes.Contains(b.Fields.Text("text"), []byte("not looked at")) {
				said++
			}
		}
	}
	if said != 1 {
		t.Errorf("said %d times", said)
	}
}
