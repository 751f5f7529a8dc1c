package chunks

import (
	"io/fs"
	"sync/atomic"
	"syscall"
	"testing"

	"gprof/chunks/folder"
	"gprof/chunks/mapping"
	"gprof/rawformat"
)

const (
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

// ticking is a clock that advances by one at each look.
func ticking() func() rawformat.Anchor {
	var n atomic.Uint64
	return func() rawformat.Anchor {
		t := n.Add(1)
		return rawformat.Anchor{TSC: 2 * t, Monotonic: t, Realtime: int64(3 * t)}
	}
}

func testOptions(files int) RingOptions {
	return RingOptions{Instance: testInstance, Pid: testPid, ChunkFile: testFile, Limit: int64(files) * testFile, Clock: rawformat.ClockTSC, Anchor: ticking()}
}

func mustRing(t testing.TB, store folder.Folder, o RingOptions) *Ring {
	t.Helper()
	r, err := OpenRing(store, o)
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

// ringWriter writes blocks as the recorder does: the first one of each page is
// a sync block.
type ringWriter struct {
	r    *Ring
	id   uint16
	c    *Chunk
	at   uint32
	n    uint32
	page uint32 // behind that in which the last block began
	put  []delivered
}

// log writes one log block, and reports false if there was no chunk.
func (w *ringWriter) log(text string) bool {
	body := logBody(text)
	if w.c != nil && int(w.at)+len(body)+100 > len(w.c.Payload()) {
		w.close()
	}
	if w.c == nil {
		w.c = w.r.Get(w.id, 1)
		w.at, w.n, w.page = 0, 0, 0
	}
	if w.c == nil {
		return false
	}
	for w.at/rawformat.PageSize >= w.page {
		w.block(syncBody(w.c.RangeStart()+uint64(w.at), w.c.Epoch()))
	}
	w.block(body)
	atomic.StoreUint64(w.c.CommitWord(), uint64(rawformat.MakeCommit(w.at, w.n)))
	return true
}

func (w *ringWriter) block(body []byte) {
	w.put = append(w.put, delivered{index: w.c.RangeStart() + uint64(w.at), body: string(body)})
	w.page = w.at/rawformat.PageSize + 1
	w.at += uint32(copy(w.c.Payload()[w.at:], rawformat.AppendBlock(nil, body)))
	w.n++
}

func (w *ringWriter) close() {
	if w.c != nil {
		w.r.Release(w.c)
		w.c = nil
	}
}
