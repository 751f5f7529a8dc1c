// Package chunktest writes blocks into rings, and reads back what a process
// recorded, for the tests of packages that share chunks.
package chunktest

import (
	"slices"
	"sync/atomic"
	"testing"

	"gprof/chunks"
	"gprof/rawformat"
)

// Block is one block as it came out of a reader, or as it was written.
type Block struct {
	Index uint64
	Body  string // kind and fields
	Fresh bool
}

// Chunk is what a Writer needs of a chunk.
type Chunk interface {
	comparable
	Payload() []byte
	RangeStart() uint64
	Epoch() uint64
	CommitWord() *uint64
}

// Ring is what a Writer needs of a ring.
type Ring[C Chunk] interface {
	Get(writer, generation uint16) C
	Release(C)
}

// Writer writes blocks as the recorder does: the first one of each page is a
// sync block.
type Writer[C Chunk, R Ring[C]] struct {
	Ring R
	ID   uint16
	Put  []Block // what was written

	chunk  C
	at     uint32
	blocks uint32
	page   uint32 // behind that in which the last block began
}

// Log writes one log block, and reports false if there was no chunk.
func (w *Writer[C, R]) Log(text string) bool {
	var none C
	body := logBody(text)
	if w.chunk != none && int(w.at)+len(body)+100 > len(w.chunk.Payload()) {
		w.Close()
	}
	if w.chunk == none {
		w.chunk = w.Ring.Get(w.ID, 1)
		w.at, w.blocks, w.page = 0, 0, 0
	}
	if w.chunk == none {
		return false
	}
	for w.at/rawformat.PageSize >= w.page {
		w.block(syncBody(w.chunk.RangeStart()+uint64(w.at), w.chunk.Epoch()))
	}
	w.block(body)
	atomic.StoreUint64(w.chunk.CommitWord(), uint64(rawformat.MakeCommit(w.at, w.blocks)))
	return true
}

func (w *Writer[C, R]) block(body []byte) {
	w.Put = append(w.Put, Block{Index: w.chunk.RangeStart() + uint64(w.at), Body: string(body)})
	w.page = w.at/rawformat.PageSize + 1
	w.at += uint32(copy(w.chunk.Payload()[w.at:], rawformat.AppendBlock(nil, body)))
	w.blocks++
}

// Close releases the chunk.
func (w *Writer[C, R]) Close() {
	var none C
	if w.chunk != none {
		w.Ring.Release(w.chunk)
		w.chunk = none
	}
}

// logBody is the body of a log block.
func logBody(text string) []byte {
	return rawformat.AppendText([]byte{byte(rawformat.KindLog), 2, 0}, text)
}

// syncBody is the body of a sync block.
func syncBody(index, epoch uint64) []byte {
	b := []byte{byte(rawformat.KindSync)}
	for _, v := range []uint64{index, epoch, 1000, 7, 0} {
		b = rawformat.AppendUint(b, v)
	}
	return b
}

// ReadAll reads a process to its end, with all problems but those of missing
// dictionaries and meta.
func ReadAll(t testing.TB, p *chunks.Process) (blocks []Block, problems []chunks.Problem) {
	t.Helper()
	problems = slices.DeleteFunc(slices.Clone(p.Problems), func(p chunks.Problem) bool { return p.Class == chunks.Missing })
	r := p.Blocks(func(pr chunks.Problem) { problems = append(problems, pr) })
	for r.Next() {
		b := r.Block()
		body := string([]byte{byte(b.Kind)}) + string(b.Fields.Bytes(b.Fields.Len(), "body"))
		blocks = append(blocks, Block{b.Index, body, b.Fresh})
	}
	if err := r.Err(); err != nil {
		t.Fatalf("reading: %v", err)
	}
	if r.Next() {
		t.Error("a block behind the end")
	}
	return blocks, problems
}

// MetaBody is the body of a record of a meta file.
func MetaBody(key, value string) []byte {
	return rawformat.AppendText(rawformat.AppendText([]byte{byte(rawformat.KindMeta)}, key), value)
}
