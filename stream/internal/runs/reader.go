package runs

import (
	"encoding/binary"
	"fmt"

	"gprof/stream/internal/pack"
)

// extentList are the places of a run's blocks in the spill file. An extent is blocks, each
// after its length in 4 bytes, then a link: the place of the next extent, or of an unordered run that of the
// one that was written before. So a run with a thousand extents takes as little memory as one with a single extent.
type extentList struct {
	first, last extent
}

// extent is a place in the spill file, none if size is 0. A link is both numbers in 8
// bytes each.
type extent struct{ off, size int64 }

const (
	blockHeader = 4
	linkBytes   = 16
)

func (e extent) end() int64 { return e.off + e.size }

func appendLink(dst []byte, e extent) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, uint64(e.off)), uint64(e.size))
}

func readLink(link []byte) extent {
	return extent{int64(binary.LittleEndian.Uint64(link)), int64(binary.LittleEndian.Uint64(link[8:]))}
}

// Reader reads the blocks of a run.
type Reader struct {
	store *Store
	held  ref
	back  bool   // links lead to earlier extents
	here  extent // the current one
	rest  extent // of it, not read yet
	buf   []byte // read ahead, followed by slack
	from  int
	ahead int // how many bytes are read at a time
}

// NewReader returns a Reader, to be Reset to a run.
func (s *Store) NewReader() Reader { return Reader{store: s} }

// Reset makes r begin with the first block of a run, and read ahead bytes at a time.
func (r *Reader) Reset(from *Run, ahead int) {
	r.held, r.ahead, r.back = from.held.first, ahead, from.Unordered
	r.enter(from.spilled.first)
}

// enter goes to an extent, which may be none.
func (r *Reader) enter(e extent) { r.here, r.rest, r.buf, r.from = e, e, r.buf[:0], 0 }

// left is how much of the current extent is left.
func (r *Reader) left() int64 { return int64(len(r.buf)-r.from) + r.rest.size }

// Next returns the next block, followed by [pack.Slack] bytes and valid until the next
// call; nil if there is none.
func (r *Reader) Next() ([]byte, error) {
	if r.left() > linkBytes {
		header, err := r.take(blockHeader)
		if err != nil {
			return nil, err
		}
		return r.take(int(binary.LittleEndian.Uint32(header)))
	}
	if r.left() > 0 {
		return r.nextExtent()
	}
	if r.held == 0 {
		return nil, nil
	}
	block, next := r.store.arena.block(r.held)
	r.held = next
	return block, nil
}

// nextExtent follows the link.
func (r *Reader) nextExtent() ([]byte, error) {
	link, err := r.take(linkBytes)
	if err != nil {
		return nil, err
	}
	next := readLink(link)
	first, second := r.here, next
	if r.back {
		first, second = next, r.here
	}
	if next.size != 0 && (second.off < first.end() || next.size <= linkBytes) {
		return nil, ErrDamaged // would never end
	}
	r.enter(next)
	return r.Next()
}

// take returns the next n bytes of the file, followed by slack.
func (r *Reader) take(n int) ([]byte, error) {
	if len(r.buf)-r.from < n {
		if err := r.fill(n); err != nil {
			return nil, err
		}
	}
	out := r.buf[r.from : r.from+n]
	r.from += n
	return out, nil
}

// fill reads on until at least n bytes of the extent are in the buffer.
func (r *Reader) fill(n int) error {
	if int64(n) > r.left() {
		return ErrDamaged
	}
	left := copy(r.buf, r.buf[r.from:])
	more := min(int64(max(n, r.ahead)-left), r.rest.size)
	size := left + int(more)
	if cap(r.buf) < size+pack.Slack {
		grown := make([]byte, max(size, r.ahead)+pack.Slack)
		copy(grown, r.buf[:left])
		r.buf = grown
	}
	r.buf, r.from = r.buf[:size], 0
	if _, err := r.store.file.ReadAt(r.buf[left:], r.rest.off); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	r.rest = extent{r.rest.off + more, r.rest.size - more}
	return nil
}
