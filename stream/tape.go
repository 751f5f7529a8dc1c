package stream

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// tape keeps batches, in a temporary file when they are many, and gives them
// back in the same order.
type tape struct {
	dir     string // of the file; "" is os.TempDir
	file    *os.File
	name    string // "" if the file has none
	pending []byte // not in the file
	packer  packer

	in     *bufio.Reader // once it is played
	record []byte        // the last that was read, with slack behind it
}

// tapeBuffer is how many bytes are kept before they are written to the file.
const tapeBuffer = 1 << 20

// A record on a tape is, sizes in 4 bytes and all other numbers ULEB128,
//
//	size                                          of what follows
//	part, process, track, kind, event, counter    the series
//	args, rows
//	blocks                                        each behind its size
//
// tapeHead is how many numbers stand before the blocks.
const tapeHead = 8

// write appends a batch that is not empty.
func (t *tape) write(b *Batch) error {
	begin := len(t.pending)
	t.pending = append(t.pending, make([]byte, 4)...) // the size
	s := b.Series
	for _, v := range [tapeHead]uint64{uint64(s.Part), uint64(s.Process), uint64(s.Track), uint64(s.Kind), uint64(s.Event), uint64(s.Counter), uint64(len(b.Args)), uint64(b.Len())} {
		t.pending = binary.AppendUvarint(t.pending, v)
	}
	for from := 0; from < b.Len(); {
		n := blockLen(b, from, b.Len())
		t.writeBlock(b, from, from+n)
		from += n
	}
	binary.LittleEndian.PutUint32(t.pending[begin:], uint32(len(t.pending)-begin-4))
	if len(t.pending) < tapeBuffer {
		return nil
	}
	return t.flush()
}

func (t *tape) writeBlock(b *Batch, from, to int) {
	begin := len(t.pending)
	t.pending = append(t.pending, make([]byte, 4)...)
	t.pending = appendBlock(t.pending, &t.packer, b, from, to)
	binary.LittleEndian.PutUint32(t.pending[begin:], uint32(len(t.pending)-begin-4))
}

func (t *tape) flush() (err error) {
	if t.file == nil {
		dir := t.dir
		if dir == "" {
			dir = os.TempDir()
		}
		if t.file, t.name, err = tempFile(dir); err != nil {
			return fmt.Errorf("spilling: %w", err)
		}
	}
	if _, err := t.file.Write(t.pending); err != nil {
		return fmt.Errorf("spilling: %w", err)
	}
	t.pending = t.pending[:0]
	return nil
}

// play begins to give back what was written.
func (t *tape) play() error {
	in := io.Reader(bytes.NewReader(t.pending))
	if t.file != nil {
		if _, err := t.file.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("reading spilled rows: %w", err)
		}
		in = io.MultiReader(t.file, in)
	}
	t.in = bufio.NewReaderSize(in, spillBuffer)
	return nil
}

// next reads the next batch, or returns io.EOF.
func (t *tape) next(b *Batch) error {
	var size [4]byte
	if _, err := io.ReadFull(t.in, size[:]); err != nil {
		if errors.Is(err, io.EOF) {
			return io.EOF
		}
		return fmt.Errorf("%w: %w", errSpill, err)
	}
	n := int(binary.LittleEndian.Uint32(size[:]))
	if cap(t.record) < n+slack {
		t.record = make([]byte, n+slack)
	}
	t.record = t.record[:n]
	if _, err := io.ReadFull(t.in, t.record); err != nil {
		return fmt.Errorf("%w: %w", errSpill, err)
	}
	return readRecord(b, t.record)
}

// readRecord makes b what a record holds.
func readRecord(b *Batch, record []byte) error {
	var head [tapeHead]uint64
	for i := range head {
		v, n := binary.Uvarint(record)
		if n <= 0 {
			return errSpill
		}
		head[i], record = v, record[n:]
	}
	s := Series{int64(head[0]), ProcessID(head[1]), TrackID(head[2]), Kind(head[3]), EventID(head[4]), CounterID(head[5])}
	b.Reset(s, int(head[6]))
	for uint64(b.Len()) < head[7] {
		if len(record) < 4 || uint64(binary.LittleEndian.Uint32(record)) > uint64(len(record)-4) {
			return errSpill
		}
		n := int(binary.LittleEndian.Uint32(record))
		if err := readBlock(b, record[4:4+n]); err != nil {
			return err
		}
		record = record[4+n:]
	}
	return nil
}

// close deletes the file. Nobody needs it any more, so errors don't matter.
func (t *tape) close() {
	if t.file == nil {
		return
	}
	t.file.Close()
	if t.name != "" {
		os.Remove(t.name)
	}
	t.file = nil
}

// rewound is a source that was read to its end before it gives anything: so that
// what is kept of a row may depend on rows that come later. To read the input
// twice instead would decode it twice, load its dictionaries twice, and see two
// states of a recording that goes on.
type rewound struct {
	Source
	tape tape
	see  func(*Batch) error // each batch, before any is given
	err  error              // once it was read
	read bool
}

// Next implements [Source].
func (r *rewound) Next(b *Batch) error {
	if !r.read {
		r.read = true
		if r.err = r.readAll(); r.err == nil {
			r.err = r.tape.play()
		}
	}
	if r.err == nil {
		r.err = r.tape.next(b)
	}
	if r.err != nil {
		b.Reset(Series{}, 0)
	}
	return r.err
}

// readAll stops early when the tables are full; Copy then ends, too.
func (r *rewound) readAll() error {
	var b Batch
	for !r.full() {
		if err := r.Source.Next(&b); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := b.Check(); err != nil {
			return err
		}
		if err := r.see(&b); err != nil {
			return err
		}
		if b.Len() > 0 {
			if err := r.tape.write(&b); err != nil {
				return err
			}
		}
	}
	return io.EOF
}

// full asks only if nobody interns, who may do so for long; it is asked again.
func (r *rewound) full() bool {
	t := r.Tables()
	if !t.TryLock() {
		return false
	}
	defer t.Unlock()
	return t.Full()
}

// Close implements [io.Closer].
func (r *rewound) Close() error {
	r.tape.close()
	return closeSource(r.Source)
}
