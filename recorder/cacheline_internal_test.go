package recorder

import (
	"gprof/recorder/internal/registry"
	"reflect"
	"slices"
	"testing"
	"unsafe"
)

const cacheLine = 64

// A word that is stored to costs all who read its neighbours in the cache line, on each
// processor. So what a marker reads has no neighbours that change, and what it stores to
// has none that another processor uses. Processors fetch lines in pairs.
func TestCacheLines(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) != 8 {
		return // processors of 64 bits are those that the assembly is for
	}
	var read []string
	for f := range reflect.TypeFor[recording]().Fields() {
		if f.Offset < 2*cacheLine {
			read = append(read, f.Name)
		}
	}
	if want := []string{"clock", "route", "goroutines", "own", "shared", "mask", "defined"}; !slices.Equal(read, want) {
		t.Errorf("beside what a marker reads: %v, want %v", read, want)
	}
	if n := unsafe.Sizeof(registry.Definition{}); n != 2*cacheLine {
		t.Errorf("a definition takes %d bytes, want %d: objects of that size lie at a pair of lines", n, 2*cacheLine)
	}
	if end := unsafe.Offsetof(registry.Definition{}.Plain); end > cacheLine {
		t.Errorf("a marker reads the first %d bytes of a definition, want one line", end)
	}
	last := unsafe.Offsetof(shard{}.sampled) + unsafe.Sizeof(sampledThread{})
	if gap := unsafe.Sizeof(shard{}) - last; gap < 2*cacheLine {
		t.Errorf("%d bytes between two shards, want a pair of lines", gap)
	}
}
