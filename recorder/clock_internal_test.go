package recorder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder/internal/rt"
)

// A counter that jumps is given up at the next anchor. Times go on where they were,
// of markers, spans and samples, and the recording says what happened.
func TestCounterJumps(t *testing.T) {
	for _, seconds := range []int64{-3600, -1, 1, 3600} {
		r := beginInternal(t, Options{Limit: 4 << 20})
		if !r.clock.Counter.Load() {
			t.Logf("no counter here: %v", r.clock.Why)
			return
		}
		<-r.mapped
		span := probeEvent.Begin(1)
		r.clock.Shift(seconds)
		span.begin = r.clock.At(rt.Now()) // as it would have been
		for deadline := time.Now().Add(time.Minute); !r.clock.Jumped() && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		before, at, after := r.clock.Now(), r.clock.At(rt.Now()), r.clock.Now()
		if !r.clock.Jumped() || at < before-1e8 || at > after+1e8 {
			t.Fatalf("%d s: jumped %v, %d is not between %d and %d", seconds, r.clock.Jumped(), at, before, after)
		}
		a := r.clock.Anchor()
		if off := rt.Tick(a.TSC) - r.clock.OfMonotonic(a.Monotonic); off != 0 {
			t.Errorf("%d s: anchor is %d ticks off", seconds, off)
		}
		span.End()
		if err := r.Stop(); err != nil {
			t.Fatal(err)
		}
		p, err := chunks.OpenProcess(os.DirFS(r.session), filepath.Base(r.dir))
		if err != nil {
			t.Fatal(err)
		}
		told, longest := false, uint64(0)
		for blocks := p.Blocks(func(p chunks.Problem) { t.Error(p) }); blocks.Next(); {
			switch b := blocks.Block(); b.Kind {
			case rawformat.KindLog:
				b.Fields.Sint("time")
				b.Fields.Uint("level")
				told = told || strings.Contains(string(b.Fields.Text("text")), "has jumped")
			case rawformat.KindInterval:
				b.Fields.Uint("event")
				b.Fields.Uint("stack")
				b.Fields.Sint("time")
				longest = max(longest, b.Fields.Uint("duration"))
			}
		}
		if limit := r.clock.Line.Load().Ticks(uint64(2 * time.Minute)); !told || longest == 0 || longest > limit {
			t.Errorf("%d s: told %v, a span of %d ticks", seconds, told, longest)
		}
	}
}
