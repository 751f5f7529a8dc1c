package runs

import (
	"encoding/binary"
	"sync"

	"gprof/stream/spill"
)

// Store holds the blocks of runs.
type Store struct {
	arena  arena
	file   *spill.File
	number [linkBytes]byte // being written
	closed sync.Once
}

// NewStore returns a Store that spills to a file in dir; "" is the system's directory
// for temporary files. The file is made when something is spilled.
func NewStore(dir string) *Store { return &Store{file: spill.New(dir)} }

// Close deletes the file. It is not needed any more, so errors don't matter. It may be called again, also on another
// goroutine.
func (s *Store) Close() { s.closed.Do(func() { s.file.Close() }) }

// runBytes is about how much memory a run takes besides its blocks.
const runBytes = 160

// Used is how much memory the blocks take, and the runs that were counted.
func (s *Store) Used() int64 { return s.arena.used }

// CountRun counts a run in Used.
func (s *Store) CountRun() { s.arena.used += runBytes }

// Append adds a block to the end of a run, in memory.
func (s *Store) Append(r *Run, block []byte) { s.arena.append(&r.held, block) }

// Empty forgets all blocks in memory. Runs that had some must have been spilled.
func (s *Store) Empty() { s.arena.empty() }

// Free gives the memory of blocks back. All runs must have been spilled.
func (s *Store) Free() { s.arena = arena{} }

// Spilled reports whether any blocks are in the file.
func (s *Store) Spilled() bool { return s.file.Size() > 0 }

// Spill moves the blocks of r that are in memory to the file.
func (s *Store) Spill(r *Run) error {
	if r.held.first == 0 {
		return nil
	}
	begin := s.Begin()
	for at := r.held.first; at != 0; {
		block, next := s.arena.block(at)
		if err := s.Write(block); err != nil {
			return err
		}
		at = next
	}
	r.held = chain{}
	return s.End(r, begin)
}

// Begin begins to write blocks to the file. Those begun before must have been ended.
func (s *Store) Begin() int64 { return s.file.Size() }

// Write adds a block.
func (s *Store) Write(block []byte) error {
	if err := s.put(binary.LittleEndian.AppendUint32(s.number[:0], uint32(len(block)))); err != nil {
		return err
	}
	return s.put(block)
}

// End appends the blocks that were written since begin to r.
func (s *Store) End(r *Run, begin int64) error {
	next := extent{}
	if r.Unordered {
		next = r.spilled.first // nothing that was written before needs to be changed
	}
	if err := s.put(appendLink(s.number[:0], next)); err != nil {
		return err
	}
	here, before := extent{begin, s.file.Size() - begin}, r.spilled.last
	r.spilled.last = here
	if before.size == 0 || r.Unordered {
		r.spilled.first = here
		return nil
	}
	_, err := s.file.WriteAt(appendLink(s.number[:0], here), before.end()-linkBytes)
	return err
}

func (s *Store) put(data []byte) error {
	_, err := s.file.Write(data)
	return err
}
