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

// Options say what a ring is made of.
type Options struct {
	Instance  uint64              // random, names the process
	Pid       uint32              //
	ChunkFile int                 // bytes of a chunk file, a multiple of rawformat.ChunkAlign; 0: 256 KiB
	Limit     int64               // bytes of all chunk files and of what was charged; 0: 64 MiB
	Slot      *session.Slot       // of the session, whose limit replaces Limit; nil: the process records alone
	MinSpare  int                 // chunks kept ready, allocated and faulted in; at least 2
	Pressed   int                 // the same while the session has no room for more
	AtFirst   int                 // how many Open makes, so that a program starts soon; Maintain makes the others, and faults all in; 0: MinSpare
	Reserved  int                 // of these, how many have their space reserved at once, which takes most of the time; 0: all
	Clock     rawformat.ClockKind // of the times that writers store
	Keeper    uint16              // the writer that writes anchor blocks; 0: none

	// Anchor reads the clocks. It must neither allocate nor block. If it is nil, times
	// are unknown, and in a session the chunks count as older than all others.
	Anchor func() rawformat.Anchor
}

// minFiles is the smallest ring: one chunk to write, one to keep.
const minFiles = 2

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
	if o.AtFirst == 0 {
		o.AtFirst = o.MinSpare
	}
	o.AtFirst = min(max(o.AtFirst, minFiles), o.MinSpare)
	if o.Reserved == 0 {
		o.Reserved = o.AtFirst
	}
	o.Reserved = max(o.Reserved, minFiles)
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

// Ring is a process' bounded ring of chunk files. Writers take chunks and release
// them; when there is no room, the oldest released one is discarded and reused. One
// goroutine, the housekeeper, does the slow work, see Maintain.
//
// All chunks that a ring ever hands out lie in one index space and have different
// epochs.
type Ring struct {
	o  Options
	in folder.Folder // where the files lie

	mu       spinlock // guards the lists and epoch
	spare    list
	released list
	kept     list // by range start: in use or released
	cut      list // not to be reused, because their files were cut short
	epoch    uint64

	inbox      atomic.Pointer[Chunk] // released and not yet in the list, the latest first
	start, end atomic.Uint64         // of the range; stored under mu
	oldest     atomic.Uint64         // when the oldest chunk that is kept was opened, in ns of CLOCK_MONOTONIC; 0 unknown
	whole      atomic.Uint64         // when the oldest one was that is younger than all that were discarded; likewise
	awaited    atomic.Uint64         // range start of that one, if it was not opened yet

	spares  atomic.Int64 // chunks in spare
	files   atomic.Int64 // chunk files
	charged atomic.Int64 // bytes

	limit     atomic.Int64  // bytes; the session's may change
	discarded atomic.Uint32 // chunks, ever; stored under mu
	givenUp   atomic.Uint32 // of these, those that others of the session asked for
	taken     atomic.Int64  // chunks handed out since the last Maintain
	full      atomic.Bool   // the last allocation failed
	pressed   atomic.Int32  // Maintains for which the session still counts as full
	resting   atomic.Bool   // see Rest

	stated atomic.Uint32 // discarded, as stated by headers in the files

	// The housekeeper's.
	lately  int64    // twice the chunks taken between the last two Maintains
	demand  int64    // spare chunks that there should be, by what was taken
	chunks  []*Chunk // all
	retired []freeFile
	serial  int      // of the next file
	later   []*Chunk // that Open made, to be reserved and faulted in
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
// opened has a range that its file does not state yet.
const (
	phaseSpare = iota
	phaseOpening
	phaseOpen
	phaseReleased
	phaseSealed // released, and nothing is left to seal
)

// Open makes a ring of files chunk-00000 and so on in a folder. If the disk has
// no room for o.AtFirst of them, it makes do with fewer. If there is no room for even
// two, and nothing that dead processes of the session left can be removed, the error is
// the disk's.
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
	err := r.grow(r.o.AtFirst, false)
	for tries := 0; tries < clearings && r.files.Load() < minFiles && r.clear(err); tries++ {
		err = r.grow(r.o.AtFirst, false)
	}
	if err != nil && r.files.Load() < minFiles {
		return nil, errors.Join(err, r.Close())
	}
	r.later = slices.Clone(r.chunks)
	r.Publish()
	return r, nil
}

// Get returns a chunk that is open for that writer: its range is handed out and
// nothing is committed. It returns nil when every chunk is in use and, rarely, when
// another caller lost its processor in here. The writer then drops and counts.
//
// Get takes a spare chunk if there is one; otherwise it discards the oldest released
// one. It neither allocates nor blocks, and makes no system call except Anchor's.
func (r *Ring) Get(writer, generation uint16) *Chunk {
	c := r.get(writer, generation)
	for c != nil && c.LostBytes() > 0 { // opening it touched the file
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

// note notes that a header in a file states how many chunks were discarded.
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
	if r.awaited.Load() == c.fixed.RangeStart {
		r.whole.Store(c.fixed.Open.Monotonic)
	}
}

// take returns a chunk after removing it from its list, or nil if there is none. Chunks
// whose files were cut short are set aside for good.
func (r *Ring) take() *Chunk {
	for c := r.spare.pop(); c != nil; c = r.spare.pop() {
		r.spares.Add(-1)
		c.ring.owned.Store(true) // until it is open, as for a discarded one
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

// discard discards the oldest released chunk that is not being sealed.
func (r *Ring) discard() *Chunk {
	r.drain()
	c := r.released.first
	for c != nil && !c.ring.owned.CompareAndSwap(false, true) {
		c = r.released.next(c)
	}
	if c != nil {
		if next := r.kept.next(c); next == nil {
			r.awaited.Store(r.end.Load())
		} else if at := next.ring.opened.Load(); at > r.whole.Load() {
			r.whole.Store(at)
		}
		r.released.remove(c)
		r.kept.remove(c)
		r.discarded.Add(1)
		r.raise()
	}
	return c
}

// drain moves released chunks from the inbox to the list.
func (r *Ring) drain() {
	var order *Chunk // the earliest first
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

// raise sets the range start to the lowest index that is still kept. It never falls,
// because the list is in order of ranges.
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

// Release takes back a chunk from Get. Its content is kept until it is discarded.
// Release neither allocates nor blocks, and makes no system call except Anchor's.
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

// Low reports whether the housekeeper should be woken: there are fewer spare chunks than
// there should be, and there is room for more. If the session has no room, Low waits
// until some chunks are used up: other processes have to make the room, and until they
// have, this one reuses its own chunks.
func (r *Ring) Low() bool {
	if r.pressed.Load() > 0 && r.taken.Load() < int64(r.o.Pressed) {
		return false
	}
	return r.spares.Load() < int64(r.o.MinSpare) && r.fits(r.files.Load()+1) && !r.full.Load() && !r.resting.Load()
}

// Starved reports whether Get finds nothing because all chunks are in use. Unless the
// ring grows, that stays so until a writer releases one. Only the housekeeper calls it.
func (r *Ring) Starved() bool {
	r.mu.lock()
	defer r.mu.unlock()
	r.drain()
	return r.spare.first == nil && r.released.first == nil
}

// Names reports whether a chunk that is or may be kept names a generation of the
// dictionary. No Get with that generation may be under way. Only the housekeeper
// calls it.
func (r *Ring) Names(generation uint16) bool {
	return slices.ContainsFunc(r.chunks, func(c *Chunk) bool { return c.ring.generation.Load() == uint32(generation) })
}

// Charge counts bytes of other files, such as dictionaries, against the limit; they may
// be negative. Chunks are given back at the next Maintain.
func (r *Ring) Charge(bytes int64) { r.charged.Add(bytes) }

// held is the size of so many chunk files, with what was charged.
func (r *Ring) held(files int64) int64 { return files*int64(r.o.ChunkFile) + r.charged.Load() }

func (r *Ring) fits(files int64) bool {
	return r.held(files) <= r.limit.Load()
}

// Held is the size of the chunk files and of what was charged, in bytes.
func (r *Ring) Held() int64 { return r.held(r.files.Load()) }

// Limit is the limit that the ring keeps to, that of the session if it has one.
func (r *Ring) Limit() int64 { return r.limit.Load() }

// Oldest is the time from which on nothing was discarded, in ns of CLOCK_MONOTONIC: when the oldest kept chunk was opened that
// is younger than all that were discarded. 0 is unknown. Chunks that are in use are kept, and may be older.
func (r *Ring) Oldest() uint64 {
	oldest := r.oldest.Load()
	if oldest == 0 {
		return 0
	}
	return max(oldest, r.whole.Load())
}

// RangeStart is the lowest index that is still kept, or RangeEnd if none is. It never
// falls.
func (r *Ring) RangeStart() uint64 { return r.start.Load() }

// RangeEnd is the lowest index that was not handed out yet.
func (r *Ring) RangeEnd() uint64 { return r.end.Load() }

// toldEnd is RangeEnd without chunks that are still being opened, whose files do not
// state their range yet: if the process dies now, nobody must miss them. r.mu is held.
func (r *Ring) toldEnd() uint64 {
	end := r.RangeEnd()
	for c := r.kept.last; c != nil && c.ring.phase.Load() == phaseOpening; c = c.links[byRange].prev {
		end = c.fixed.RangeStart
	}
	return end
}

// Discarded is how many chunks were ever discarded.
func (r *Ring) Discarded() uint32 { return r.discarded.Load() }

// GivenUp is how many of these were discarded because the session had no room for others.
func (r *Ring) GivenUp() uint32 { return r.givenUp.Load() }
