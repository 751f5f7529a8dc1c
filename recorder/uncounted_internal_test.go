package recorder

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"gprof/chunks"
	"gprof/rawformat"
)

var deepEvent = NewEvent2("deep", Int("depth"), Uint("more"))

// Where the counter is not read, assembly calls Go for the time, and the stack may have
// to grow for that: the values of a marker lie on it. Goroutines begin with a small one.
func TestUncounted(t *testing.T) {
	const depths = 400
	r := beginInternal(t, Options{Limit: 4 << 20})
	r.rec.Clock().Counter.Store(false)
	for depth := range depths {
		var one sync.WaitGroup
		one.Go(func() { deep(depth, func() { deepEvent.Mark(depth, uint64(depth)<<32) }) })
		one.Wait()
	}
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	p, err := chunks.OpenProcess(os.DirFS(r.session), filepath.Base(r.dir))
	if err != nil {
		t.Fatal(err)
	}
	found := map[uint64]bool{}
	for blocks := p.Blocks(func(p chunks.Problem) { t.Error(p) }); blocks.Next(); {
		b := blocks.Block()
		if b.Kind != rawformat.KindInstant || b.Fields.Uint("event") != uint64(deepEvent.h.Event.ID) {
			continue
		}
		b.Fields.Uint("stack")
		b.Fields.Sint("time")
		values := b.Fields.Args(nil, "args")
		if len(values) != 2 || values[1].Num != values[0].Num<<32 {
			t.Fatalf("a marker has %v", values)
		}
		found[values[0].Num] = true
	}
	if len(found) != depths {
		t.Errorf("%d markers are right, want %d", len(found), depths)
	}
}
