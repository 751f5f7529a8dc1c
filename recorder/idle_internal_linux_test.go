//go:build (amd64 || arm64) && !gprof_portable

package recorder

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gprof/chunks"
	"gprof/rawformat"
)

// What is repeated lies in the chunk of the sample, or is stated anew, or forgotten.
func TestIdleInAnotherChunk(t *testing.T) {
	r := beginInternal(t, Options{CPU: CPUOff})
	dismiss(r)
	now := r.clock.Now()
	w := r.acquireAny()
	if !r.turn(w, sampleRoom, who{}, now) {
		t.Fatal("no chunk")
	}
	here, generation := w.chunk.Epoch(), w.generation
	leave(w)
	other := here + 7 // 0 would be none
	of := sampledThread{thread: 7, goroutine: 8, track: 0}
	for _, test := range []struct {
		last  lastSample
		want  rawformat.Kind
		epoch uint64 // that it is in then
	}{
		{lastSample{now, 3, of, here, generation}, rawformat.KindIdle, here},
		{lastSample{now, rawStack, of, here, generation}, rawformat.KindIdle, here},
		{lastSample{now, 3, of, other, generation}, rawformat.KindSample, here},
		{lastSample{now, rawStack, of, other, generation}, 0, 0},
		{lastSample{now, 3, of, other, generation - 1}, 0, 0},
	} {
		before := kindsOf(t, r.dir)
		r.writeIdle(&test.last, now+1000)
		after := kindsOf(t, r.dir)
		for _, k := range before {
			if i := slices.Index(after, k); i >= 0 {
				after = slices.Delete(after, i, i+1)
			}
		}
		if test.last.epoch != test.epoch || test.want == 0 && len(after) > 0 || test.want != 0 && !slices.Equal(after, []rawformat.Kind{test.want}) {
			t.Errorf("%v were written, and the last one is in chunk %d; want %d, %d", after, test.last.epoch, test.want, test.epoch)
		}
	}
}

// kindsOf are those of all blocks of a recording.
func kindsOf(t *testing.T, dir string) (kinds []rawformat.Kind) {
	t.Helper()
	p, err := chunks.OpenProcess(os.DirFS(filepath.Dir(dir)), filepath.Base(dir))
	if err != nil {
		t.Fatal(err)
	}
	for blocks := p.Blocks(nil); blocks.Next(); {
		kinds = append(kinds, blocks.Block().Kind)
	}
	return kinds
}
