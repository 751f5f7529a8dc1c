package stream

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"gprof/stream/internal/pack"
	"gprof/stream/internal/runs"
	"gprof/stream/spill"
)

// Spool keeps batches, in a temporary file when they are many, and returns them in order.
type Spool struct {
	file    *spill.File
	encoder pack.Encoder
	record  []byte // being written, or read, with slack behind it
	in      *bufio.Reader

	grouped bool
	places  []spoolPlace // of the records, if grouped
}

// spoolPlace is where a record of a process is.
type spoolPlace struct {
	offset  int64
	size    int32 // with its size
	process ProcessID
}

// NewSpool returns an empty Spool, whose file, if it needs one, will be in dir; "" is
// os.TempDir.
func NewSpool(dir string) *Spool { return &Spool{file: spill.New(dir)} }

// NewGroupedSpool is [NewSpool] of one that returns the batches of one process after the other, in
// the order of their ids. It needs 16 bytes for each batch.
func NewGroupedSpool(dir string) *Spool {
	s := NewSpool(dir)
	s.grouped = true
	return s
}

// A record of a spool is, with sizes in 4 bytes and all other numbers as ULEB128,
//
//	size                                          of the rest
//	part, process, track, kind, event, counter    the series
//	args, rows
//	blocks                                        each after its size
//
// spoolHead is the number of numbers before the blocks.
const spoolHead = 8

// spoolBuffer is how much is read at a time.
const spoolBuffer = 256 << 10

// Write appends a batch that is not empty.
func (s *Spool) Write(b *Batch) error {
	of := b.Series
	out := append(s.record[:0], 0, 0, 0, 0)
	for _, v := range [spoolHead]uint64{uint64(of.Part), uint64(of.Process), uint64(of.Track), uint64(of.Kind), uint64(of.Event), uint64(of.Counter), uint64(len(b.Args)), uint64(b.Len())} {
		out = binary.AppendUvarint(out, v)
	}
	for left := (selection{to: b.Len()}); left.from < left.to; {
		next := nextBlock(b, left)
		begin := len(out)
		out = appendBlock(append(out, 0, 0, 0, 0), &s.encoder, b, next)
		putSize(out[begin:])
		left.from = next.to
	}
	putSize(out)
	s.record = out
	if s.grouped {
		s.places = append(s.places, spoolPlace{s.file.Size(), int32(len(out)), of.Process})
	}
	_, err := s.file.Write(out)
	return err
}

// putSize sets the size at the beginning of a record or block.
func putSize(b []byte) { binary.LittleEndian.PutUint32(b, uint32(len(b)-4)) }

// Rewind ends writing: Next returns the first batch.
func (s *Spool) Rewind() {
	if s.grouped {
		slices.SortStableFunc(s.places, func(a, b spoolPlace) int { return cmp.Compare(a.process, b.process) })
		return
	}
	s.in = bufio.NewReaderSize(io.NewSectionReader(s.file, 0, s.file.Size()), spoolBuffer)
}

// Next reads the next batch, or returns io.EOF.
func (s *Spool) Next(b *Batch) error {
	if s.grouped {
		return s.nextPlace(b)
	}
	var size [4]byte
	if _, err := io.ReadFull(s.in, size[:]); err != nil {
		if errors.Is(err, io.EOF) {
			return io.EOF
		}
		return fmt.Errorf("%w: %w", runs.ErrDamaged, err)
	}
	n := int(binary.LittleEndian.Uint32(size[:]))
	if cap(s.record) < n+pack.Slack {
		s.record = make([]byte, n+pack.Slack)
	}
	s.record = s.record[:n]
	if _, err := io.ReadFull(s.in, s.record); err != nil {
		return fmt.Errorf("%w: %w", runs.ErrDamaged, err)
	}
	return readRecord(b, s.record)
}

// nextPlace is Next of a grouped spool.
func (s *Spool) nextPlace(b *Batch) error {
	if len(s.places) == 0 {
		return io.EOF
	}
	at := s.places[0]
	s.places = s.places[1:]
	s.record = slices.Grow(s.record[:0], int(at.size)+pack.Slack)[:at.size]
	if _, err := s.file.ReadAt(s.record, at.offset); err != nil {
		return fmt.Errorf("%w: %w", runs.ErrDamaged, err)
	}
	return readRecord(b, s.record[4:])
}

// readRecord decodes a record into b.
func readRecord(b *Batch, record []byte) error {
	var head [spoolHead]uint64
	for i := range head {
		v, n := binary.Uvarint(record)
		if n <= 0 {
			return runs.ErrDamaged
		}
		head[i], record = v, record[n:]
	}
	s := Series{int64(head[0]), ProcessID(head[1]), TrackID(head[2]), Kind(head[3]), EventID(head[4]), CounterID(head[5])}
	b.Reset(s, int(head[6]))
	for uint64(b.Len()) < head[7] {
		if len(record) < 4 || uint64(binary.LittleEndian.Uint32(record)) > uint64(len(record)-4) {
			return runs.ErrDamaged
		}
		n := int(binary.LittleEndian.Uint32(record))
		if err := readBlock(b, record[4:4+n]); err != nil {
			return err
		}
		record = record[4+n:]
	}
	return nil
}

// Close deletes the file. It is not needed any more, so errors don't matter.
func (s *Spool) Close() { s.file.Close() }
