package chunks

import (
	"errors"
	"io/fs"
	"os"
	"sync/atomic"

	"gprof/chunks/folder"
	"gprof/chunks/mapping"
	"gprof/rawformat"
)

// Stacks is the stack ring of one thread, mapped. A signal handler writes it;
// one goroutine drains it.
type Stacks struct {
	mem    *mapping.Mapping
	in     folder.Folder
	name   string
	reader rawformat.StacksReader
	tail   uint64 // up to here it is drained; the one in the file is for the handler
	lost   uint64 // of these has been told
}

// CreateStacks makes the stack ring of the thread h.Tid in a folder. One that is there
// is of a thread that has ended, and goes.
func CreateStacks(in folder.Folder, h rawformat.StacksHeader) (*Stacks, error) {
	s := &Stacks{in: in, name: StacksFile.FileName(h.Tid)}
	err := in.Remove(s.name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if s.mem, err = in.Map(s.name, rawformat.StacksFile); err != nil {
		return nil, err
	}
	h.Version = rawformat.Version
	rawformat.PutStacksHeader(s.Memory(), &h)
	mem := s.Memory()
	s.reader.Word = func(i uint64) uint64 { return *mapping.Word(mem, rawformat.StacksHead+int(8*i)) }
	return s, nil
}

// Memory is where the ring is mapped; it is valid until Close.
func (s *Stacks) Memory() []byte { return s.mem.Bytes() }

// Next reads the oldest record. It stays until Drained. False: there is none; a
// ring that is damaged loses what it holds, and err says so once.
func (s *Stacks) Next(rec *rawformat.StackRecord) (ok bool, err error) {
	s.reader.Head = atomic.LoadUint64(mapping.Word(s.Memory(), rawformat.OffStacksHead))
	if ok, err = s.reader.Next(rec); err != nil {
		s.reader.Tail = s.reader.Head
		s.Drained()
	}
	return ok, err
}

// Claim says that the block at index takes what Next has read: a reader that
// finds the block committed counts the record as drained.
func (s *Stacks) Claim(index uint64) {
	atomic.StoreUint64(mapping.Word(s.Memory(), rawformat.OffStacksIndex), 0)
	atomic.StoreUint64(mapping.Word(s.Memory(), rawformat.OffStacksNext), s.reader.Tail)
	atomic.StoreUint64(mapping.Word(s.Memory(), rawformat.OffStacksIndex), index)
}

// Drained gives the room of what Next has read back.
func (s *Stacks) Drained() {
	s.tail = s.reader.Tail
	atomic.StoreUint64(mapping.Word(s.Memory(), rawformat.OffStacksTail), s.tail)
}

// Back has Next read again what was read since Drained.
func (s *Stacks) Back() { s.reader.Tail = s.tail }

// maxLost is more than a thread can lose between two looks: that many samples take
// half an hour at the highest rate.
const maxLost = 1 << 24

// Lost is how many records found no room since it was last asked. Somebody else may
// have changed the count in the file: what is impossible counts as one.
func (s *Stacks) Lost() uint64 {
	lost := atomic.LoadUint64(mapping.Word(s.Memory(), rawformat.OffStacksLost))
	n := lost - s.lost
	s.lost = lost
	if n > maxLost {
		return 1
	}
	return n
}

// IsCut reports whether somebody else has cut the file short. What is written from
// then on outlives nobody.
func (s *Stacks) IsCut() bool { return s.mem.Lost() > 0 }

// Close removes the ring, which should be drained. Nobody may write it any more.
func (s *Stacks) Close() error {
	return errors.Join(s.mem.Close(), s.in.Remove(s.name))
}

// drainedStacks reports whether a stack ring holds nothing.
func drainedStacks(fsys fs.FS, name string) bool {
	in, err := openInput(fsys, name, rawformat.StacksFile)
	if err != nil {
		return false
	}
	defer in.Close()
	head, err := in.read(make([]byte, rawformat.StacksHead), 0)
	if err != nil {
		return false
	}
	h, err := rawformat.ReadStacksHeader(head)
	return err == nil && h.Head == h.Tail
}
