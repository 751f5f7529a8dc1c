package ring

import (
	"io/fs"
	"sync/atomic"
	"syscall"
	"testing"

	"gprof/chunks/folder"
	"gprof/chunks/internal/chunktest"
	"gprof/chunks/mapping"
	"gprof/rawformat"
)

const (
	testInstance = 0x1122334455667788
	testPid      = 4711
	testFile     = rawformat.ChunkAlign
	testCapacity = testFile - rawformat.HeadSize - rawformat.TrailerSize
)

// memory is a folder in memory that has room for a number of chunk files.
type memory struct {
	*folder.Memory
	room int
}

func newMemory(room int) *memory { return &memory{folder.NewMemory(), room} }

func (m *memory) Map(name string, size int) (*mapping.Mapping, error) {
	if m.count() >= m.room {
		return nil, syscall.ENOSPC
	}
	return m.Memory.Map(name, size)
}

// count is how many chunk files there are, without those of which only the head is left.
func (m *memory) count() (n int) {
	entries, _ := fs.ReadDir(m, ".")
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Size() > rawformat.HeadSize {
			n++
		}
	}
	return n
}

// ticking is a clock that advances by one each time it is read.
func ticking() func() rawformat.Anchor {
	var n atomic.Uint64
	return func() rawformat.Anchor {
		t := n.Add(1)
		return rawformat.Anchor{TSC: 2 * t, Monotonic: t, Realtime: int64(3 * t)}
	}
}

func testOptions(files int) Options {
	return Options{Instance: testInstance, Pid: testPid, ChunkFile: testFile, Limit: int64(files) * testFile, Clock: rawformat.ClockTSC, Anchor: ticking()}
}

func mustRing(t testing.TB, store folder.Folder, o Options) *Ring {
	t.Helper()
	r, err := Open(store, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustGet(t testing.TB, r *Ring, writer uint16) *Chunk {
	t.Helper()
	c := r.Get(writer, 1)
	if c == nil {
		t.Fatalf("writer %d: no chunk", writer)
	}
	return c
}

// writer writes blocks to a ring.
type writer = chunktest.Writer[*Chunk, *Ring]

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
