package gecko

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"gprof/stream/spill"
)

// ErrSlabs says that a JsonSlabs file is damaged.
var ErrSlabs = errors.New("damaged JsonSlabs file")

// Unslab returns the JSON that a JsonSlabs file means: its root, with the other slabs in place of
// the references to them. The file's bytes are kept in an unlinked temporary file in dir until it
// is closed; "" is os.TempDir.
//
// Numbers are little endian; slabs begin at multiples of 8:
//
//	magic 8 · version 4, which is 1 · count 4 · root 4 · count × (type 4 · offset 4 · length 4) · slabs
//
// A reference is {"$s":N}. A slab is used once, and all together are no larger than the file, so
// the text is bounded.
func Unslab(r io.Reader, dir string) (io.ReadCloser, error) {
	file, err := spill.Create(dir)
	if err != nil {
		return nil, err
	}
	out := &slabReader{file: file}
	s := slabFile{r: file}
	if s.size, err = io.Copy(file, io.LimitReader(r, maxSlabs+1)); err == nil {
		err = s.readTable()
	}
	if err != nil {
		out.Close()
		return nil, err
	}
	reader, writer := io.Pipe()
	out.PipeReader, out.done = reader, make(chan struct{})
	go func() {
		defer close(out.done)
		w := bufio.NewWriterSize(writer, 64<<10)
		err := s.write(w, s.root, 0)
		if err == nil {
			err = w.Flush()
		}
		writer.CloseWithError(err)
	}()
	return out, nil
}

// slabReader is the JSON, produced while it is read.
type slabReader struct {
	*io.PipeReader
	file *spill.Temp
	done chan struct{} // closed when the writer has ended
}

func (u *slabReader) Close() error {
	if u.PipeReader != nil {
		u.PipeReader.Close()
		<-u.done
	}
	return u.file.Close()
}

// Types of slabs: arrays of numbers, or JSON.
const (
	slabInt8 = iota
	slabUint8
	slabInt16
	slabUint16
	slabInt32
	slabUint32
	slabFloat32
	slabFloat64
	slabInt64
	slabUint64
	slabJSON
)

// slabWidths are the sizes of elements.
var slabWidths = [...]int64{slabInt8: 1, slabUint8: 1, slabInt16: 2, slabUint16: 2, slabInt32: 4, slabUint32: 4, slabFloat32: 4, slabFloat64: 8, slabInt64: 8, slabUint64: 8, slabJSON: 1}

type slab struct {
	typ         uint32
	off, length int64
	used        bool
}

type slabFile struct {
	r     io.ReaderAt
	size  int64
	slabs []slab
	root  int
}

// maxSlabs bounds the file: its offsets and lengths have 32 bits.
const maxSlabs = 2 << 32

const (
	// maxSlabCount bounds the table in memory: a profile has some dozens of slabs a thread.
	maxSlabCount = 1 << 20
	// maxSlabDepth bounds the open slabs, each with a buffer. A profile has lists in its root.
	maxSlabDepth = 64
)

const (
	slabHeader = len(slabs) + 3*4
	slabEntry  = 3 * 4
)

// readTable reads and checks the table of slabs.
func (f *slabFile) readTable() error {
	var head [slabHeader]byte
	if _, err := io.ReadFull(io.NewSectionReader(f.r, 0, f.size), head[:]); err != nil {
		return fmt.Errorf("%w: it ends at byte %d, in its header", ErrSlabs, f.size)
	}
	number := func(b []byte, i int) int64 { return int64(binary.LittleEndian.Uint32(b[4*i:])) }
	rest := head[len(slabs):]
	count := number(rest, 1)
	switch {
	case f.size > maxSlabs:
		return fmt.Errorf("%w: more than %d bytes", ErrSlabs, int64(maxSlabs))
	case number(rest, 0) != 1:
		return fmt.Errorf("%w: version %d, want 1", ErrSlabs, number(rest, 0))
	case count > maxSlabCount || count > (f.size-int64(slabHeader))/slabEntry:
		return fmt.Errorf("%w: %d slabs in %d bytes, want at most %d", ErrSlabs, count, f.size, maxSlabCount)
	}
	table := make([]byte, count*slabEntry)
	if _, err := f.r.ReadAt(table, int64(slabHeader)); err != nil {
		return err
	}
	all := int64(0)
	for i := range int(count) {
		entry := table[i*slabEntry:]
		s := slab{typ: uint32(number(entry, 0)), off: number(entry, 1), length: number(entry, 2)}
		all += s.length
		if int(s.typ) >= len(slabWidths) || s.off+s.length > f.size || all > f.size || s.length%slabWidths[s.typ] != 0 {
			return fmt.Errorf("%w: slab %d: type %d, %d bytes at %d of %d", ErrSlabs, i, s.typ, s.length, s.off, f.size)
		}
		f.slabs = append(f.slabs, s)
	}
	f.root = int(number(rest, 2))
	return nil
}

// write writes a slab nested in depth others. Each is used once, which bounds the output by the
// size of the file.
func (f *slabFile) write(w *bufio.Writer, i, depth int) error {
	switch {
	case i >= len(f.slabs) || f.slabs[i].used:
		return fmt.Errorf("%w: slab %d of %d is not there, or used twice", ErrSlabs, i, len(f.slabs))
	case depth > maxSlabDepth:
		return fmt.Errorf("%w: slab %d stands in more than %d others", ErrSlabs, i, maxSlabDepth)
	}
	s := &f.slabs[i]
	s.used = true
	in := bufio.NewReaderSize(io.NewSectionReader(f.r, s.off, s.length), 16<<10)
	if s.typ == slabJSON {
		return f.writeText(w, in, depth)
	}
	return writeNumbers(w, in, s)
}

// reference begins a reference to a slab.
var reference = []byte(`{"$s":`)

// maxReference is the maximal length of a reference.
const maxReference = 32

// writeText writes JSON with slabs in place of references. No string looks like one, because quotes
// in strings are escaped.
func (f *slabFile) writeText(w *bufio.Writer, in *bufio.Reader, depth int) error {
	for {
		b, err := in.ReadByte()
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if b == '{' {
			in.UnreadByte()
			if i, n := referenceIn(in); n > 0 {
				in.Discard(n)
				if err := f.write(w, i, depth+1); err != nil {
					return err
				}
				continue
			}
			in.ReadByte()
		}
		if err := w.WriteByte(b); err != nil {
			return err
		}
	}
}

// referenceIn parses a reference to a slab; length is 0 if there is none.
func referenceIn(in *bufio.Reader) (slab, length int) {
	text, _ := in.Peek(maxReference)
	number, ok := bytes.CutPrefix(text, reference)
	end := bytes.IndexByte(number, '}')
	if !ok || end < 0 {
		return 0, 0
	}
	n, err := strconv.ParseUint(string(number[:end]), 10, 31)
	if err != nil {
		return 0, 0
	}
	return int(n), len(reference) + end + 1
}

// writeNumbers writes a list of numbers.
func writeNumbers(w *bufio.Writer, in io.Reader, s *slab) error {
	w.WriteByte('[')
	var raw [8]byte
	var text []byte
	width := slabWidths[s.typ]
	for at := int64(0); at < s.length; at += width {
		if _, err := io.ReadFull(in, raw[:width]); err != nil {
			return err
		}
		if text = text[:0]; at > 0 {
			text = append(text, ',')
		}
		if _, err := w.Write(appendElement(text, s.typ, raw[:])); err != nil {
			return err
		}
	}
	return w.WriteByte(']')
}

func appendElement(dst []byte, typ uint32, raw []byte) []byte {
	n := binary.LittleEndian.Uint64(raw)
	switch typ {
	case slabInt8:
		return strconv.AppendInt(dst, int64(int8(n)), 10)
	case slabUint8:
		return strconv.AppendUint(dst, uint64(uint8(n)), 10)
	case slabInt16:
		return strconv.AppendInt(dst, int64(int16(n)), 10)
	case slabUint16:
		return strconv.AppendUint(dst, uint64(uint16(n)), 10)
	case slabInt32:
		return strconv.AppendInt(dst, int64(int32(n)), 10)
	case slabUint32:
		return strconv.AppendUint(dst, uint64(uint32(n)), 10)
	case slabInt64:
		return strconv.AppendInt(dst, int64(n), 10)
	case slabUint64:
		return strconv.AppendUint(dst, n, 10)
	case slabFloat32:
		return appendFloat(dst, float64(math.Float32frombits(uint32(n))), 32)
	}
	return appendFloat(dst, math.Float64frombits(n), 64)
}

// appendFloat appends a float; NaN and infinities are null.
func appendFloat(dst []byte, f float64, bits int) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, bits)
}
