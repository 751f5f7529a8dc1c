package ring

import (
	"sync/atomic"
	"unsafe"

	"gprof/chunks/mapping"
	"gprof/rawformat"
)

// Chunk is one chunk, in heap memory or in a mapped file. It has one writer at a
// time. Methods that others may call meanwhile say so.
type Chunk struct {
	head    []byte // the header
	table   []byte // the page table, nil on the heap
	payload []byte
	trailer []byte           // nil on the heap
	mapping *mapping.Mapping // all of the file; nil on the heap

	fixed rawformat.Header           // what it was opened with, and its close anchor
	image [rawformat.HeaderSize]byte // fixed, encoded; a field so that opening does not allocate

	links [2]link // in two lists, see list
	ring  place
}

// NewChunk returns a chunk of that capacity in heap memory that no ring knows. A program's
// markers go there before it starts its recorder.
func NewChunk(capacity int) *Chunk {
	words := make([]uint64, (rawformat.HeaderSize+capacity+7)/8)
	mem := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), rawformat.HeaderSize+capacity)
	c := &Chunk{head: mem[:rawformat.HeaderSize:rawformat.HeaderSize], payload: mem[rawformat.HeaderSize:]}
	c.blank()
	return c
}

// makeChunk makes a chunk file by a method of a folder.
func makeChunk(mapFile func(name string, size int) (*mapping.Mapping, error), name string, size int) (*Chunk, error) {
	m, err := mapFile(name, size)
	if err != nil {
		return nil, err
	}
	c := fileChunk(m.Bytes())
	c.mapping, c.ring.name = m, name
	return c, nil
}

// unmap makes the chunk's memory invalid.
func (c *Chunk) unmap() error {
	c.head, c.table, c.payload, c.trailer = nil, nil, nil, nil
	return c.mapping.Close()
}

// fileChunk returns the chunk of a chunk file that is mapped at mem.
func fileChunk(mem []byte) *Chunk {
	end := len(mem) - rawformat.TrailerSize
	pages := rawformat.Pages(uint32(end - rawformat.HeadSize))
	c := &Chunk{
		head:    mem[:rawformat.HeaderSize:rawformat.HeaderSize],
		table:   mem[rawformat.HeaderSize:][: pages*entrySize : pages*entrySize],
		payload: mem[rawformat.HeadSize:end:end],
		trailer: mem[end:],
	}
	c.blank()
	return c
}

// blank writes the header of a chunk that was never used.
func (c *Chunk) blank() {
	c.fixed = rawformat.Header{Version: rawformat.Version, Capacity: uint32(len(c.payload))}
	rawformat.PutHeader(c.head, &c.fixed)
}

// Payload is the chunk's content, Capacity bytes. For a mapped file they lie
// in the file.
func (c *Chunk) Payload() []byte { return c.payload }

// Header returns a snapshot. Epoch, commit and state may change meanwhile; the
// caller makes sure that the chunk is not opened or released.
func (c *Chunk) Header() rawformat.Header {
	h := c.fixed
	h.Epoch = atomic.LoadUint64(mapping.Word(c.head, rawformat.OffEpoch))
	h.Commit, _ = c.committed() // it is bounded
	h.State = c.State()
	return h
}

// State is the state of the chunk. Any goroutine may call it.
func (c *Chunk) State() rawformat.State {
	return rawformat.State(atomic.LoadUint32(c.stateWord()))
}

// CommitWord is the commit word in the header. Its writer stores it with
// sync/atomic, after the bytes that it covers.
func (c *Chunk) CommitWord() *uint64 { return mapping.Word(c.head, rawformat.OffCommit) }

// committed returns the commit word. Another process may have changed it in the file.
// If it points past the payload, the error is of class [rawformat.ErrTooBig] and the
// offset returned is the payload's end.
func (c *Chunk) committed() (rawformat.Commit, error) {
	commit := rawformat.Commit(atomic.LoadUint64(c.CommitWord()))
	if int64(commit.Offset()) <= int64(len(c.payload)) {
		return commit, nil
	}
	return rawformat.MakeCommit(uint32(len(c.payload)), commit.Blocks()), &rawformat.Error{Off: rawformat.OffCommit, What: "commit word", Err: rawformat.ErrTooBig}
}

// LostBytes is the number of bytes that are gone because another process has cut the
// file short, as far as the loss was noticed by touching them. Bytes that are
// written there from then on do not survive this process. Any goroutine may call it.
func (c *Chunk) LostBytes() int { return c.mapping.Lost() }

// RangeStart is the index of payload byte 0.
func (c *Chunk) RangeStart() uint64 { return c.fixed.RangeStart }

// Epoch is that of the chunk's present use.
func (c *Chunk) Epoch() uint64 { return c.fixed.Epoch }

// open begins a use of the chunk with c.fixed, which has a new epoch.
func (c *Chunk) open() {
	c.fixed.State = rawformat.StateInUse
	c.fixed.Commit = 0
	c.fixed.Close = rawformat.Anchor{}
	for _, step := range openSteps {
		step(c)
	}
}

// openSteps are the steps by which a chunk is opened. At whatever point the process
// is killed or the file is copied, a reader sees the old use, the new one, or that the
// chunk is not in use; see the package comment of rawformat.
var openSteps = [...]func(*Chunk){
	(*Chunk).clearEpoch,
	(*Chunk).clearTrailer,
	(*Chunk).clearCommit,
	(*Chunk).clearTable,
	(*Chunk).storeFixed,
	(*Chunk).storeTrailer,
	(*Chunk).storeEpoch,
}

func (c *Chunk) clearEpoch() { store(c.head, rawformat.OffEpoch, 0) }

func (c *Chunk) clearTrailer() {
	if c.trailer != nil {
		store(c.trailer, trailerEpoch, 0)
	}
}

func (c *Chunk) clearCommit() { store(c.head, rawformat.OffCommit, 0) }

func (c *Chunk) clearTable() {
	for at := 0; at < len(c.table); at += entrySize {
		store(c.table, at, 0)
	}
}

// storeFixed stores the header except for epoch and commit. Its CRC is that of
// the header with the new epoch, which is stored later.
func (c *Chunk) storeFixed() {
	rawformat.PutHeader(c.image[:], &c.fixed)
	for at := 0; at < len(c.image); at += 8 {
		if at != rawformat.OffEpoch && at != rawformat.OffCommit {
			store(c.head, at, *(*uint64)(unsafe.Pointer(&c.image[at])))
		}
	}
}

func (c *Chunk) storeTrailer() {
	if c.trailer != nil {
		store(c.trailer, 0, c.fixed.Instance)
		store(c.trailer, trailerEpoch, c.fixed.Epoch)
	}
}

func (c *Chunk) storeEpoch() { store(c.head, rawformat.OffEpoch, c.fixed.Epoch) }

// storeClose stores the close anchor of h, and then its CRC, without which that proves nothing. The CRC is stored at once: a part
// of it would be damage, and a build with the race detector stores bytes if it may.
func (c *Chunk) storeClose(h *rawformat.Header) {
	rawformat.SealHeader(c.image[:], h)
	for at := rawformat.OffClose; at < rawformat.OffHeld; at += 8 {
		store(c.head, at, *(*uint64)(unsafe.Pointer(&c.image[at])))
	}
	crc := func(b []byte) *uint32 { return (*uint32)(unsafe.Pointer(&b[rawformat.OffCloseCRC])) }
	atomic.StoreUint32(crc(c.head), *crc(c.image[:]))
}

// close ends the chunk's use. The anchor gets into the header when the chunk
// is sealed, with the CRC without which it proves nothing.
func (c *Chunk) close(now rawformat.Anchor) {
	c.fixed.Close = now
	c.setState(rawformat.StateDone)
}

func (c *Chunk) setState(s rawformat.State) { atomic.StoreUint32(c.stateWord(), uint32(s)) }

// done is when the chunk was closed, in ns of CLOCK_MONOTONIC.
func (c *Chunk) done() uint64 { return c.fixed.Close.Monotonic }

func (c *Chunk) stateWord() *uint32 {
	return (*uint32)(unsafe.Pointer(&c.head[rawformat.OffState]))
}

const (
	entrySize    = 8 // of the page table
	trailerEpoch = 8 // offset in the trailer
)

// store stores a word after everything before it and before everything after it. A
// release store alone orders only what comes before; the acquiring load keeps later
// stores back (on arm64; on amd64 it costs nothing).
func store(b []byte, at int, v uint64) {
	w := mapping.Word(b, at)
	atomic.StoreUint64(w, v)
	atomic.LoadUint64(w)
}
