// Package heap gives what was allocated and freed the addresses by which the viewers of a format
// find what is still in use.
//
// A viewer cancels an allocation, all of it, where memory with its address is freed. Go tells no
// addresses, but says how many objects of a site were allocated and freed up to a reading. So each
// site gets a made-up heap: what is allocated there lies behind what is in use, and what lies last
// is freed first. Rows are cut so that each piece is allocated and freed as a whole. A whole
// recording then retains what is in use at its end, and a part of one what each site grew by since
// the least that it had in that time: what was allocated before and is freed in the part cancels
// nothing.
//
// Made-up addresses are below 0, which no other is.
package heap

import (
	"errors"

	"gprof/stream"
	"gprof/stream/spill"
)

const (
	// maxBounds bounds the memory for bounds of pieces, 8 bytes each: of what is in use, one for
	// each site and reading, and of what is freed.
	maxBounds = 4 << 20

	// maxAddress is the largest integer up to which a viewer's numbers are exact.
	maxAddress = 1 << 53
)

// Row is memory that was allocated or, with Bytes below 0, freed.
type Row struct {
	Time    stream.Time
	Stack   stream.StackID
	Bytes   int64
	Address int64 // below 0: made up
	Thread  int64 // 0 unknown
}

// Heap is the rows of one track.
type Heap struct {
	lacking int64 // rows that have no address, and get none
	placed  int64 // rows with a thread or an address of their own

	rows    records // in order; frees are cut
	pieces  records // in reverse; all are cut
	sites   []site
	numbers map[stream.StackID]int // of sites, from 0
	bounds  int                    // of all sites, in either direction
	space   int64                  // of all sites
}

// site is a stack at which memory is allocated.
type site struct {
	stack           stream.StackID
	level           int64 // where what is in use ends
	lowest, highest int64 // that level was
	first           int64 // address, without the sign, of level 0

	// bounds are where what is in use was begun by an allocation or, when rows are read backwards,
	// where what is in use will have been freed down to.
	bounds []int64
}

// New returns an empty Heap. It keeps rows in temporary files in dir, "" is the system's directory
// for those.
func New(dir string) *Heap {
	return &Heap{rows: records{file: spill.New(dir)}, pieces: records{file: spill.New(dir)}, numbers: make(map[stream.StackID]int)}
}

// Empty reports whether there are no rows.
func (h *Heap) Empty() bool { return h.rows.file.Size() == 0 }

// Addressed reports whether all rows have an address. If not, no address and no thread should be
// written: a viewer wants all or none. Then unplaced rows lose theirs.
func (h *Heap) Addressed() (all bool, unplaced int64) {
	if h.lacking == 0 {
		return true, 0
	}
	return false, h.placed
}

// Err is the first error of the temporary files.
func (h *Heap) Err() error { return errors.Join(h.rows.file.Err(), h.pieces.file.Err()) }

// Close removes the temporary files.
func (h *Heap) Close() error { return errors.Join(h.rows.file.Close(), h.pieces.file.Close()) }

// Add adds the rows of a segment. A row with a number of objects is about those of a site, and so
// is the stack of objects that are freed. One without is a single operation, at its own stack.
func (h *Heap) Add(b *stream.Batch) {
	for i, bytes := range b.Value {
		r := Row{b.Time[i], b.Stack[i], bytes, b.AddressAt(i), b.Owner(i).Thread}
		if r.Address != 0 || r.Thread != 0 {
			h.placed++
		}
		switch {
		case r.Address != 0 || bytes == 0:
			h.rows.add(&r, asItIs)
		case b.Number[i] <= 0:
			h.lacking++
			h.rows.add(&r, asItIs)
		case !h.fits(bytes):
			h.lacking, h.placed = h.lacking+1, h.placed+1
			h.rows.add(&r, asItIs)
		case bytes > 0:
			h.allocate(&r)
		default:
			h.free(&r)
		}
	}
}

// fits reports whether there is room for a row with a made-up address.
func (h *Heap) fits(bytes int64) bool {
	return h.bounds < maxBounds && -maxAddress < bytes && bytes < maxAddress && h.space+max(bytes, -bytes) < maxAddress
}

// site is the number of the site of a row.
func (h *Heap) site(r *Row) int {
	n, ok := h.numbers[r.Stack]
	if !ok {
		n = len(h.sites)
		h.numbers[r.Stack] = n
		h.sites = append(h.sites, site{stack: r.Stack})
	}
	return n
}

// allocate adds what was allocated. Where it is cut is not known before all rows are there.
func (h *Heap) allocate(r *Row) {
	n := h.site(r)
	s := &h.sites[n]
	s.bounds = append(s.bounds, s.level)
	h.bounds++
	h.move(s, r.Bytes)
	r.Address = s.level
	h.rows.add(r, n)
}

// free adds what was freed, cut where allocations began.
func (h *Heap) free(r *Row) {
	n := h.site(r)
	s := &h.sites[n]
	piece := *r
	for left := -r.Bytes; left > 0; left += piece.Bytes {
		size := left
		if last := len(s.bounds) - 1; last >= 0 {
			begun := s.level - s.bounds[last]
			if size = min(left, begun); size == begun {
				s.bounds = s.bounds[:last]
			} else {
				h.bounds++
			}
		}
		piece.Bytes, piece.Address = -size, s.level
		h.rows.add(&piece, n)
		h.move(s, -size)
	}
}

// move changes what is in use.
func (h *Heap) move(s *site, bytes int64) {
	before := s.highest - s.lowest
	s.level += bytes
	s.lowest, s.highest = min(s.lowest, s.level), max(s.highest, s.level)
	h.space += s.highest - s.lowest - before
}

// Rows calls each for all rows in the order of time, and empties the heap. Rows with equal times are
// in the order in which they came. It returns how many addresses it made up; Err has its error.
//
//  1. Going back in time, what was allocated is cut where what was freed of it ends.
//  2. What came out in reverse is read backwards.
func (h *Heap) Rows(each func(*Row)) (madeUp int64) {
	h.place()
	h.rows.backwards(func(r *Row, site int) {
		if site == asItIs {
			h.pieces.add(r, asItIs)
		} else {
			madeUp += h.cut(r, &h.sites[site])
		}
	})
	h.pieces.backwards(func(r *Row, _ int) { each(r) })
	h.rows.file.Reset()
	h.pieces.file.Reset()
	h.sites, h.bounds, h.space, h.lacking, h.placed = h.sites[:0], 0, 0, 0, 0
	clear(h.numbers)
	return madeUp
}

// place gives the sites their addresses, one behind the other.
func (h *Heap) place() {
	next := int64(1)
	for i := range h.sites {
		s := &h.sites[i]
		s.first = next - s.lowest
		next += s.highest - s.lowest
		s.bounds = s.bounds[:0]
	}
}

// cut adds the pieces of a row of a site, whose address is where it ends, and returns how many they
// are. Those of a free are cut already.
func (h *Heap) cut(r *Row, s *site) (pieces int64) {
	if r.Bytes < 0 {
		begin := r.Address + r.Bytes
		s.bounds = append(s.bounds, begin)
		h.piece(r, s, begin, r.Bytes)
		return 1
	}
	begin, end := r.Address-r.Bytes, r.Address
	for end > begin {
		from := begin
		if last := len(s.bounds) - 1; last >= 0 && s.bounds[last] >= begin {
			from, s.bounds = s.bounds[last], s.bounds[:last]
		}
		h.piece(r, s, from, end-from)
		end = from
		pieces++
	}
	return pieces
}

func (h *Heap) piece(r *Row, s *site, begin, bytes int64) {
	h.pieces.add(&Row{r.Time, r.Stack, bytes, -(s.first + begin), r.Thread}, asItIs)
}
