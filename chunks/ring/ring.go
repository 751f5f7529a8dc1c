// Package ring is the bounded ring of chunk files that a process writes its blocks to.
//
// A [Ring] hands out spare chunks first, then those that were released, the oldest
// first; what these held is discarded. Get and Release are on the hot path of writers.
// Maintain, which one housekeeper calls, seals pages, prepares spare chunks and gives
// files back, so that the files and what was charged stay under the limit. That is
// the ring's own, or that of a session, see package session.
//
// A [Chunk] has one writer at a time and goes through these states:
//
//	Created -> InUse -> Done -> InUse -> ...
//
// The state in the header is for information. A reader relies on the epoch, which is 0
// while the chunk is being opened (rawformat says in which order this happens), and on
// the commit word.
package ring

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"gprof/chunks/folder"
	"gprof/chunks/session"
	"gprof/rawformat"
)

// Errors of a ring.
var (
	ErrLimit = errors.New("limit too small")
	ErrInUse = errors.New("chunks are in use")
)

// RingOptions say what a ring is made of.
type Options struct {
	Instance  uint64              // random, names the process
	Pid       uint32              //
	ChunkFile int                 // bytes of a chunk file, a multiple of rawformat.ChunkAlign; 0: 256 KiB
	Limit     int64               // bytes of all chunk files and of what was charged; 0: 64 MiB
	Slot      *session.Slot       // of the session, whose limit then goes before Limit; nil: the process is alone
	MinSpare  int                 // chunks kept ready, allocated and faulted in; at least 2
	Pressed   int                 // the same while the session has no room for more: what holds nothing goes before what was recorded
	Clock     rawformat.ClockKind // of the times that writers store
	Keeper    uint16              // the writer that writes anchor blocks; 0: none does

	// Anchor reads the clocks. It must neither allocate nor block. Nil gives
	// unknown times; in a session chunks then count as older than all others.
	Anchor func() rawformat.Anchor
}

const (
	// minFiles is the smallest ring: one chunk to write, one to keep.
	minFiles = 2
)

func (o *Options) fill() error {
	if o.ChunkFile == 0 {
		o.ChunkFile = 256 << 10
	}
	if o.Limit == 0 {
		o.Limit = session.DefaultLimit
	}
	if o.Anchor == nil {
		o.Anchor = func() (a rawformat.Anchor) { return a }
	}
	o.MinSpare = max(o.MinSpare, minFiles)
	o.Pressed = min(max(o.Pressed, minFiles), o.MinSpare)
	if o.Slot != nil {
		o.Limit = o.Slot.Limit()
	}
	switch {
	case o.ChunkFile < 0 || o.ChunkFile%rawformat.ChunkAlign != 0 || o.ChunkFile > rawformat.MaxChunkFile:
		return fmt.Errorf("chunk file of %d bytes: want a multiple of %d up to %d", o.ChunkFile, rawformat.ChunkAlign, rawformat.MaxChunkFile)
	case o.Limit < minFiles*int64(o.ChunkFile):
		return fmt.Errorf("%w: %d bytes, want room for %d chunk files of %d", ErrLimit, o.Limit, minFiles, o.ChunkFile)
	}
	if o.Slot == nil {
		return nil
	}
	if share := o.Slot.ShareFor(minFiles * int64(o.ChunkFile)); share < minFiles*int64(o.ChunkFile) {
		return fmt.Errorf("%w: %d bytes for each process of the session, want room for %d chunk files of %d", ErrLimit, share, minFiles, o.ChunkFile)
	}
	return nil
}

// Ring is a process' bounded ring of chunk files. Writers take chunks and
// release them; when there is no room, the oldest released one is given up and
// used again. One goroutine, the housekeeper, does the slow work: see Maintain.
//
// All chunks that a ring ever hands out lie in one index space and have
// different epochs.
type Ring struct {
	o  Options
	in folder.Folder // where the files lie

	mu       spinlock // guards the lists and epoch
	spare    list
	released list
	kept     list // by range start: in use or released
	cut      list // given up, and not to be used again: their files were cut short
	epoch    uint64

	inbox      atomic.Pointer[Chunk] // released and not yet in the list, the last one first
	start, end atomic.Uint64         // of the range; stored under mu
	oldest     atomic.Uint64         // when the oldest chunk that is kept was opened, in ns of CLOCK_MONOTONIC; 0 unknown

	spares  atomic.Int64 // chunks in spare
	files   atomic.Int64 // chunk files
	charged atomic.Int64 // bytes

	limit     atomic.Int64  // bytes; the session's may change
	discarded atomic.Uint32 // chunks, ever; stored under mu
	taken     atomic.Int64  // chunks handed out since the last Maintain
	full      atomic.Bool   // the last allocation failed
	pressed   atomic.Int32  // for so many Maintains the session counts as full
	resting   atomic.Bool   // see Rest

	stated atomic.Uint32 // discarded, as the headers in the files say

	lately  int64    // spare chunks that would have been used up since the Maintain before, and once more; the housekeeper's
	demand  int64    // spare chunks that there should be, by what was taken; the housekeeper's
	chunks  []*Chunk // all, the housekeeper's
	retired []retired
	serial  int // of the next file
}

// place is what a ring notes in its chunks.
type place struct {
	phase atomic.Uint32 // see below
	owned atomic.Bool   // by the sealer, or by whoever puts it to use again
	name  string        // of the file
	seal  progress

	generation atomic.Uint32 // of the dictionary; 0: never used
	opened     atomic.Uint64 // in ns of CLOCK_MONOTONIC; 0: just now
}

// Phases of a chunk in a ring. A spare one has never been used. One that is being
// opened has its range, and its file does not say so yet.
const (
	phaseSpare = iota
	phaseOpening
	phaseOpen
	phaseReleased
	phaseSealed // released, and nothing is left to seal
)

// OpenRing makes a ring of files chunk-00000 and so on in a folder.
// If the disk has no room for o.MinSpare of them it does with fewer; the error
// is that of the disk if it has no room for two, and none of what the dead of
// the session left can go.
func Open(in folder.Folder, o Options) (*Ring, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	r := &Ring{o: o, in: in, spare: list{which: byDone}, released: list{which: byDone}, kept: list{which: byRange}, cut: list{which: byDone}}
	r.start.Store(1)
	r.end.Store(1)
	r.limit.Store(o.Limit)
	if o.Slot != nil {
		o.Slot.Bind(r)
	}
	err := r.grow(o.MinSpare)
	for tries := 0; tries < clearings && r.files.Load() < minFiles && r.clear(err); tries++ {
		err = r.grow(o.MinSpare)
	}
	if err != nil && r.files.Load() < minFiles {
		return nil, errors.Join(err, r.Close())
	}
	r.Publish()
	return r, nil
}

// Get returns a chunk that is open for that writer: its range is handed out,
// nothing is committed. It is nil when every chunk is in use, and, rarely, when
// another caller lost its processor in here: the writer drops and counts.
//
// A spare chunk is taken first, else the oldest released one is discarded. Get
// neither allocates nor blocks, and makes no system call but Anchor's.
func (r *Ring) Get(writer, generation uint16) *Chunk {
	c := r.get(writer, generation)
	for c != nil && c.LostBytes() > 0 { // as was found when it was put to use
		r.Release(c)
		c = r.get(writer, generation)
	}
	return c
}

func (r *Ring) get(writer, generation uint16) *Chunk {
	if !r.mu.try() {
		return nil
	}
	c := r.take()
	if c == nil {
		r.mu.unlock()
		return nil
	}
	r.handOut(c)
	r.mu.unlock()
	r.taken.Add(1)
	c.fixed.Writer, c.fixed.Generation = writer, generation
	if writer == r.o.Keeper && writer != 0 {
		c.fixed.Flags |= rawformat.FlagAnchors
	}
	c.ring.generation.Store(uint32(generation))
	c.fixed.Open = r.o.Anchor()
	r.noteOpened(c)
	c.open()
	r.note(c.fixed.Discarded)
	c.ring.phase.Store(phaseOpen)
	c.ring.owned.Store(false)
	return c
}

// note notes that a header in a file says how many chunks were discarded.
func (r *Ring) note(discarded uint32) {
	for old := r.stated.Load(); old < discarded && !r.stated.CompareAndSwap(old, discarded); {
		old = r.stated.Load()
	}
}

// noteOpened notes when c was opened.
func (r *Ring) noteOpened(c *Chunk) {
	c.ring.opened.Store(c.fixed.Open.Monotonic)
	if r.start.Load() == c.fixed.RangeStart {
		r.oldest.Store(c.fixed.Open.Monotonic)
	}
}

// take returns a chunk that is in no list, nil if there is none. Those whose file
// somebody has cut short are put aside, for good.
func (r *Ring) take() *Chunk {
	for c := r.spare.pop(); c != nil; c = r.spare.pop() {
		r.spares.Add(-1)
		c.ring.owned.Store(true) // until it is open, as a discarded one
		if c.LostBytes() == 0 {
			return c
		}
		r.cut.append(c)
	}
	c := r.discard()
	for c != nil && c.LostBytes() > 0 {
		r.cut.append(c)
		c = r.discard()
	}
	return c
}

// discard gives up the oldest released chunk that is not being sealed.
func (r *Ring) discard() *Chunk {
	r.drain()
	c := r.released.first
	for c != nil && !c.ring.owned.CompareAndSwap(false, true) {
		c = r.released.next(c)
	}
	if c != nil {
		r.released.remove(c)
		r.kept.remove(c)
		r.discarded.Add(1)
		r.raise()
	}
	return c
}

// drain takes what was released into the list.
func (r *Ring) drain() {
	var order *Chunk // the first one first
	for c := r.inbox.Swap(nil); c != nil; {
		next := c.links[byDone].next
		c.links[byDone].next = order
		order, c = c, next
	}
	for c := order; c != nil; {
		next := c.links[byDone].next
		r.released.insertByDone(c)
		c = next
	}
}

// raise sets the range start to the lowest index that is still kept. The list
// is in order of ranges, so it never falls.
func (r *Ring) raise() {
	start, oldest := r.end.Load(), uint64(0)
	if c := r.kept.first; c != nil {
		start, oldest = c.fixed.RangeStart, c.ring.opened.Load()
	}
	r.start.Store(start)
	r.oldest.Store(oldest)
}

// handOut gives c its range and epoch.
func (r *Ring) handOut(c *Chunk) {
	r.epoch++
	c.fixed = rawformat.Header{
		Version:    rawformat.Version,
		Flags:      uint16(r.o.Clock) << 8,
		Instance:   r.o.Instance,
		Epoch:      r.epoch,
		RangeStart: r.end.Load(),
		Capacity:   uint32(len(c.payload)),
		Pid:        r.o.Pid,
		Discarded:  r.discarded.Load(),
	}
	c.ring.phase.Store(phaseOpening)
	c.ring.seal = progress{}
	c.ring.opened.Store(0)
	r.kept.append(c)
	r.end.Add(uint64(len(c.payload)))
	r.raise()
	c.fixed.Held = r.start.Load()
}

// Release takes back a chunk from Get. Its content is kept until it is
// discarded. Release neither allocates nor blocks, and makes no system call but
// Anchor's.
func (r *Ring) Release(c *Chunk) {
	c.close(r.o.Anchor())
	c.ring.phase.Store(phaseReleased)
	for {
		top := r.inbox.Load()
		c.links[byDone].next = top
		if r.inbox.CompareAndSwap(top, c) {
			return
		}
	}
}

// Low reports whether the housekeeper should be woken: there are fewer spare
// chunks than there should be, and there is room for more. Where the session
// has none, some are used up first: others have to make it, and until then this
// process uses its own chunks again.
func (r *Ring) Low() bool {
	if r.pressed.Load() > 0 && r.taken.Load() < int64(r.o.Pressed) {
		return false
	}
	return r.spares.Load() < int64(r.o.MinSpare) && r.fits(r.files.Load()+1) && !r.full.Load() && !r.resting.Load()
}

// Starved reports whether Get finds nothing: all chunks are in use. While the ring
// does not grow that stays so until a writer releases one. It is the housekeeper's.
func (r *Ring) Starved() bool {
	r.mu.lock()
	defer r.mu.unlock()
	r.drain()
	return r.spare.first == nil && r.released.first == nil
}

// Names reports whether a chunk that is kept, or may be, names a generation of the
// dictionary. No Get with that generation may be under way. It is the
// housekeeper's.
func (r *Ring) Names(generation uint16) bool {
	return slices.ContainsFunc(r.chunks, func(c *Chunk) bool { return c.ring.generation.Load() == uint32(generation) })
}

// Charge counts bytes of other files, dictionaries, against the limit; they
// may be negative. Chunks are given back at the next Maintain.
func (r *Ring) Charge(bytes int64) { r.charged.Add(bytes) }

// held is how many bytes that many chunk files are, with what was charged.
func (r *Ring) held(files int64) int64 { return files*int64(r.o.ChunkFile) + r.charged.Load() }

func (r *Ring) fits(files int64) bool {
	return r.held(files) <= r.limit.Load()
}

// Held is how many bytes the chunk files and what was charged take.
func (r *Ring) Held() int64 { return r.held(r.files.Load()) }

// Limit is the one that the ring keeps to, the session's if it has one.
func (r *Ring) Limit() int64 { return r.limit.Load() }

// Oldest is when the oldest chunk that is kept was opened, in ns of
// CLOCK_MONOTONIC; 0 if nothing is kept, or it is being opened.
func (r *Ring) Oldest() uint64 { return r.oldest.Load() }

// RangeStart is the lowest index that is still kept, RangeEnd if none is. It
// never falls.
func (r *Ring) RangeStart() uint64 { return r.start.Load() }

// RangeEnd is the lowest index that was not handed out.
func (r *Ring) RangeEnd() uint64 { return r.end.Load() }

// toldEnd is RangeEnd as far as the files tell of it: who finds the process dead would
// miss what was handed out and is not in use yet. r.mu is held.
func (r *Ring) toldEnd() uint64 {
	end := r.RangeEnd()
	for c := r.kept.last; c != nil && c.ring.phase.Load() == phaseOpening; c = c.links[byRange].prev {
		end = c.fixed.RangeStart
	}
	return end
}

// Discarded is how many chunks were given up, ever.
func (r *Ring) Discarded() uint32 { return r.discarded.Load() }
