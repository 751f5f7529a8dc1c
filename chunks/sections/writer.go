package sections

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Writer writes an archive whose files are not compressed. After an error it writes
// nothing more.
type Writer struct {
	w       io.Writer
	written uint32 // sections
	err     error
}

// NewWriter returns a writer to w, which need not seek.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Process begins a process. Its index is empty: readers list its files as they come.
func (w *Writer) Process(instance uint64, live bool) error {
	index := make([]byte, IndexHead)
	if live {
		binary.LittleEndian.PutUint32(index, FlagLive)
	}
	return w.section(Header{Kind: Process, Instance: instance}, index)
}

// File writes a file of a process' directory.
func (w *Writer) File(instance uint64, name string, data []byte) error {
	kind, number, ok := Named(name)
	if !ok {
		return fmt.Errorf("%s: no file of a recording", name)
	}
	return w.section(Header{Kind: kind, Instance: instance, Number: number}, data)
}

// Close writes the end mark, without which an archive counts as cut short.
func (w *Writer) Close() error { return w.section(Header{Kind: End, Number: w.written}, nil) }

func (w *Writer) section(h Header, data []byte) error {
	h.RawSize, h.Size = uint32(len(data)), uint32(len(data))
	h.RawCRC = Checksum(data)
	h.StoredCRC = h.RawCRC
	for _, b := range [][]byte{Append(nil, &h), data} {
		if w.err == nil {
			_, w.err = w.w.Write(b)
		}
	}
	w.written++
	return w.err
}
