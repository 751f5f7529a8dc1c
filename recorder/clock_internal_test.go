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
// of markers, intervals and samples, and the recording says what happened.
func TestCounterJumps(t *testing.T) {
	for _, seconds := range []int64{-3600, -1, 1, 3600} {
		r := beginInternal(t, Options{Limit: 4 << 20})
		if !r.rec.Clock().Counter.Load() {
			t.Logf("no counter here: %v", r.rec.Clock().Why)
			return
		}
		<-r.keeper.Mapped()
		r.rec.Clock().Shift(seconds)
		begin := rt.Now()
		for deadline := time.Now().Add(time.Minute); !r.rec.Clock().Jumped() && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		before, at, after := r.rec.Clock().Now(), r.rec.Clock().At(rt.Now()), r.rec.Clock().Now()
		if !r.rec.Clock().Jumped() || at < before-1e8 || at > after+1e8 {
			t.Fatalf("%d s: jumped %v, %d is not between %d and %d", seconds, r.rec.Clock().Jumped(), at, before, after)
		}
		a := r.rec.Clock().Anchor()
		if off := rt.Tick(a.TSC) - r.rec.Clock().OfMonotonic(a.Monotonic); off != 0 {
			t.Errorf("%d s: anchor is %d ticks off", seconds, off)
		}
		probeEvent.Interval(begin, 1)
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
		if limit := r.rec.Clock().Line.Load().Ticks(uint64(2 * time.Minute)); !told || longest == 0 || longest > limit {
			t.Errorf("%d s: told %v, an interval of %d ticks", seconds, told, longest)
		}
	}
}
