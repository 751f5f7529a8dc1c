package attach

import (
	"sync/atomic"

	"gprof/chunks/ring"
	"gprof/rawformat"
)

// writer is the only writer of a ring.
type writer struct {
	ring       *ring.Ring
	chunk      *ring.Chunk // nil: none
	generation uint16      // of the dictionary that chunks are opened with

	payload []byte
	word    uint64 // the commit word: offset, and number of blocks
	page    uint32 // in which a block began last, noPage
	last    uint64 // time that the next one is the difference to
	sampled busyState

	dropped uint64 // blocks for which there was no chunk
}

// busyState is the state that busy blocks of a page are encoded against.
type busyState struct {
	thread, period uint64
	track          uint32
}

const (
	noPage    = ^uint32(0)
	pageShift = 12 // of rawformat.PageSize

	// maxContext bounds what prepare may write: two sync blocks of at most 50 bytes, and a
	// sampling block of at most 18.
	maxContext = 128

	sampleShift = 8 // of rawformat.SampleUnit
)

// busy writes a sample of a thread's CPU time. False: there is no chunk.
func (w *writer) busy(at uint64, is busyState, stack uint32) bool {
	for begun := false; !begun; begun = w.samePage() { // what it builds on stands in its page
		if !w.prepare(64, at) {
			return false
		}
		w.sampling(is)
	}
	b := w.begin(rawformat.KindBusy)
	delta := int64(at-w.last) >> sampleShift
	w.last += uint64(delta << sampleShift)
	b = rawformat.AppendSint(b, delta)
	b = rawformat.AppendSint(b, int64(is.thread-w.sampled.thread))
	b = rawformat.AppendSint(b, 0)
	w.sampled.thread = is.thread
	w.finish(rawformat.AppendUint(b, stackField(stack)))
	return true
}

// stackField is that of a stack of the dictionary, 0 none.
func stackField(id uint32) uint64 {
	if id == 0 {
		return 0
	}
	return uint64(id) + 1
}

// sampling writes what the samples behind it have in common, if that has changed.
func (w *writer) sampling(is busyState) {
	if w.sampled.track == is.track && w.sampled.period == is.period {
		return
	}
	b := rawformat.AppendUint(w.begin(rawformat.KindSampling), uint64(is.track))
	if w.sampled.period == is.period {
		b = rawformat.AppendUint(b, 0)
	} else {
		b = rawformat.AppendUint(b, is.period)
	}
	w.sampled.track, w.sampled.period = is.track, is.period
	w.finish(b)
}

// entry writes a block of a time and fields of type U. False: there is no chunk.
func (w *writer) entry(k rawformat.Kind, at uint64, fields ...uint64) bool {
	if !w.prepare(uint32(16+10*len(fields)), at) {
		return false
	}
	b := rawformat.AppendSint(w.begin(k), int64(at-w.last))
	w.last = at
	for _, v := range fields {
		b = rawformat.AppendUint(b, v)
	}
	w.finish(b)
	return true
}

// prepare makes room for a block of at most size bytes, in another chunk if need be, and begins a page with a sync block. A
// sync block that begins late in a page may end in the next one.
func (w *writer) prepare(size uint32, at uint64) bool {
	if w.offset()+size+maxContext > uint32(len(w.payload)) && !w.refill() {
		w.dropped++
		return false
	}
	for !w.samePage() {
		w.sync(at)
	}
	return true
}

// samePage reports whether the next block begins in the page that the last one began in.
func (w *writer) samePage() bool { return w.page == w.offset()>>pageShift }

// refill takes a fresh chunk. It maintains the ring when few chunks are left.
func (w *writer) refill() bool {
	w.retire()
	if w.ring.Low() {
		w.ring.Maintain() // the next call, in a tenth of a second, reports its errors
	}
	c := w.ring.Get(0, w.generation)
	if c == nil {
		return false
	}
	w.chunk, w.payload = c, c.Payload()
	return true
}

// retire releases the chunk, if there is one.
func (w *writer) retire() {
	if w.chunk != nil {
		atomic.StoreUint64(w.chunk.CommitWord(), w.word) // somebody may have written to the file
		w.ring.Release(w.chunk)
	}
	w.chunk, w.payload, w.word, w.page, w.sampled = nil, nil, 0, noPage, busyState{}
}

func (w *writer) offset() uint32 { return uint32(w.word) }

// sync begins a page.
func (w *writer) sync(at uint64) {
	b := rawformat.AppendUint(w.begin(rawformat.KindSync), w.chunk.RangeStart()+uint64(w.offset()))
	b = rawformat.AppendUint(b, w.chunk.Epoch())
	b = rawformat.AppendUint(b, at)
	b = append(b, 0, 0) // no goroutine, no track
	w.last, w.page, w.sampled = at, w.offset()>>pageShift, busyState{}
	w.finish(b)
}

// begin returns where the next block goes, for fields to be appended; finish then commits it. The fields stay within the payload
// because prepare was told their size. The length takes one byte.
func (w *writer) begin(k rawformat.Kind) []byte {
	return append(w.payload[w.offset():w.offset()+1], byte(k))
}

// finish commits the block.
func (w *writer) finish(b []byte) {
	b[0] = byte(len(b) - 1)
	w.word += uint64(len(b)) | 1<<32
	atomic.StoreUint64(w.chunk.CommitWord(), w.word)
}
