package stream

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
)

// spill is a temporary file that takes what does not fit into memory. The file
// is made with the first byte, and has no name where the system allows that.
type spill struct {
	dir    string
	file   *os.File
	name   string // "" if the file has none
	out    *bufio.Writer
	size   int64 // of the file, when out is flushed
	block  []byte
	length []byte
}

// run is rows of one series, in order: those of rows, or else blocks in the
// spill file, each behind its length as a ULEB128.
type run struct {
	rows        *Batch
	off, end    int64
	first, last sortKey
}

// append adds b, whose rows are sorted and not before r.last, to r. Nothing
// else may have been spilled since r's first rows were.
func (s *spill) append(r *run, b *Batch) error {
	if err := s.open(); err != nil {
		return err
	}
	if r.end == 0 {
		r.off, r.first = s.size, b.key(0)
	}
	for from := 0; from < b.Len(); {
		room := room{rows: blockRows, bytes: blockArgs}
		to := from + room.take(b, from, b.Len())
		if err := s.write(appendBlock(s.block[:0], b, from, to)); err != nil {
			return err
		}
		from = to
	}
	r.end, r.last = s.size, b.key(b.Len()-1)
	return nil
}

func (s *spill) write(block []byte) error {
	s.block = block // keeps its memory
	s.length = binary.AppendUvarint(s.length[:0], uint64(len(block)))
	s.size += int64(len(s.length) + len(block))
	if _, err := s.out.Write(s.length); err != nil {
		return fmt.Errorf("spilling: %w", err)
	}
	if _, err := s.out.Write(block); err != nil {
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
	s.out = bufio.NewWriterSize(s.file, 64<<10)
	return nil
}

// flush makes all that was appended readable.
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

// blocks reads the blocks of a run.
type blocks struct {
	in   *bufio.Reader
	left int64  // bytes
	data []byte // a block
	rows Batch  // its rows
}

// reset makes b begin with the first block of r.
func (b *blocks) reset(s *spill, r *run) {
	b.left = r.end - r.off
	section := io.NewSectionReader(s.file, r.off, b.left)
	if b.in == nil {
		b.in = bufio.NewReaderSize(section, 4096)
	} else {
		b.in.Reset(section)
	}
}

// next decodes the next block, which there must be, into rows, which was Reset
// for its series.
func (b *blocks) next(rows *Batch) error {
	length, err := binary.ReadUvarint(b.in)
	if err != nil {
		return fmt.Errorf("%w: %w", errSpill, err)
	}
	b.left -= int64(len(binary.AppendUvarint(nil, length)))
	if b.left < 0 || length > uint64(b.left) {
		return errSpill
	}
	b.left -= int64(length)
	b.data = slices.Grow(b.data[:0], int(length))[:length]
	if _, err := io.ReadFull(b.in, b.data); err != nil {
		return fmt.Errorf("%w: %w", errSpill, err)
	}
	return readBlock(rows, b.data)
}
