package stream

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
)

// spill is a temporary file that takes what does not fit into memory. The file
// is made with the first byte, and has no name where the system allows that.
type spill struct {
	dir  string
	file *os.File
	name string // "" if the file has none
	out  *bufio.Writer
	size int64 // of the file, when out is flushed
	room int64 // of the file as it is reserved

	number [linkBytes]byte // being written
	begun  int64           // where the extent being written begins
}

// spillBuffer is how many bytes are written at a time.
const spillBuffer = 256 << 10

// reserveBytes is how much room in the file is asked for at a time. It makes
// writing a third cheaper.
const reserveBytes = 32 << 20

// begin begins an extent. What was begun before must have been ended.
func (s *spill) begin() error {
	if err := s.open(); err != nil {
		return err
	}
	s.begun = s.size
	return nil
}

// block adds a block to the extent.
func (s *spill) block(data []byte) error {
	if err := s.write(binary.LittleEndian.AppendUint32(s.number[:0], uint32(len(data)))); err != nil {
		return err
	}
	return s.write(data)
}

// end ends the extent and makes it the last one of e.
func (s *spill) end(e *extents) error {
	if err := s.write(appendLink(s.number[:0], extent{})); err != nil {
		return err
	}
	here, before := extent{s.begun, s.size - s.begun}, e.last
	e.last = here
	if before.size == 0 {
		e.first = here
		return nil
	}
	// Its link may still be in the buffer.
	if before.end() > s.size-int64(s.out.Buffered()) {
		if err := s.flush(); err != nil {
			return err
		}
	}
	if _, err := s.file.WriteAt(appendLink(s.number[:0], here), before.end()-linkBytes); err != nil {
		return fmt.Errorf("spilling: %w", err)
	}
	return nil
}

func (s *spill) write(data []byte) error {
	s.size += int64(len(data))
	if s.size > s.room {
		reserve(s.file, s.room, reserveBytes)
		s.room += reserveBytes
	}
	if _, err := s.out.Write(data); err != nil {
		return fmt.Errorf("spilling: %w", err)
	}
	return nil
}

func (s *spill) open() (err error) {
	if s.file != nil {
		return nil
	}
	dir := s.dir
	if dir == "" {
		dir = os.TempDir()
	}
	if s.file, s.name, err = tempFile(dir); err != nil {
		return fmt.Errorf("spilling: %w", err)
	}
	s.out = bufio.NewWriterSize(s.file, spillBuffer)
	return nil
}

// flush makes all that was written readable.
func (s *spill) flush() error {
	if s.out == nil {
		return nil
	}
	if err := s.out.Flush(); err != nil {
		return fmt.Errorf("spilling: %w", err)
	}
	return nil
}

// close deletes the file. Nobody needs it any more, so errors don't matter.
func (s *spill) close() {
	if s.file == nil {
		return
	}
	s.file.Close()
	if s.name != "" {
		os.Remove(s.name)
	}
}

// namedTempFile is a temporary file that lost its name, or kept it where an
// open file can't be removed.
func namedTempFile(dir string) (*os.File, string, error) {
	f, err := os.CreateTemp(dir, "gprof-spill-*")
	if err != nil {
		return nil, "", err
	}
	if os.Remove(f.Name()) == nil {
		return f, "", nil
	}
	return f, f.Name(), nil
}
