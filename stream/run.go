package stream

import (
	"encoding/binary"
	"fmt"
)

// run is rows of one series, in order: blocks in the spill file, then blocks in
// the arena.
type run struct {
	first, last sortKey
	spilled     extents
	held        chain
}

// extents is where the blocks of a run lie in the spill file. An extent is
// blocks, each behind its length in 4 bytes, then 4 zeros and 8 bytes: the
// offset of the next extent, 0 if there is none. So a run takes as little memory
// with a thousand extents as with one.
type extents struct {
	first int64 // offset, from 1; 0 if there are none
	link  int64 // of the last one's offset of the next
}

const (
	extentHeader = 4
	extentLink   = 4 + 8
)

// runReader reads the blocks of a run.
type runReader struct {
	arena *arena
	spill *spill
	held  ref
	at    int64  // in the file, of what follows buf[from:]; 0 at the end
	buf   []byte // what was read ahead, with slack behind it
	from  int
	ahead int // how many bytes are read at a time
}

// reset makes r begin with the first block of a run.
func (r *runReader) reset(from *run, ahead int) {
	r.held, r.at, r.ahead = from.held.first, from.spilled.first, ahead
	r.buf, r.from = r.buf[:0], 0
}

// next returns the next block, with slack behind it, until the next call; nil
// if there is none.
func (r *runReader) next() ([]byte, error) {
	if r.at != 0 {
		if block, err := r.nextSpilled(); block != nil || err != nil {
			return block, err
		}
	}
	if r.held == 0 {
		return nil, nil
	}
	block, next := r.arena.block(r.held)
	r.held = next
	return block, nil
}

// nextSpilled is next for the spill file.
func (r *runReader) nextSpilled() ([]byte, error) {
	for {
		header, err := r.take(extentHeader)
		if err != nil {
			return nil, err
		}
		if n := binary.LittleEndian.Uint32(header); n > 0 {
			return r.take(int(n))
		}
		link, err := r.take(extentLink - extentHeader)
		if err != nil {
			return nil, err
		}
		next := int64(binary.LittleEndian.Uint64(link))
		if next == 0 {
			r.at = 0
			return nil, nil
		}
		if here := r.at - int64(len(r.buf)-r.from); next < here {
			return nil, errSpill
		}
		r.at, r.buf, r.from = next, r.buf[:0], 0
	}
}

// take returns the next n bytes of the file, with slack behind them.
func (r *runReader) take(n int) ([]byte, error) {
	if len(r.buf)-r.from < n {
		if err := r.fill(n); err != nil {
			return nil, err
		}
	}
	out := r.buf[r.from : r.from+n]
	r.from += n
	return out, nil
}

// fill reads ahead at least n bytes in all.
func (r *runReader) fill(n int) error {
	left := copy(r.buf, r.buf[r.from:])
	end := min(r.at+int64(max(n, r.ahead)-left), r.spill.readable())
	if r.at+int64(n-left) > end {
		return errSpill
	}
	size := left + int(end-r.at)
	if cap(r.buf) < size+slack {
		grown := make([]byte, size+slack)
		copy(grown, r.buf[:left])
		r.buf = grown
	}
	r.buf, r.from = r.buf[:size], 0
	if _, err := r.spill.file.ReadAt(r.buf[left:], r.at); err != nil {
		return fmt.Errorf("%w: %w", errSpill, err)
	}
	r.at = end
	return nil
}
