package pack

import (
	"encoding/binary"
	"fmt"

	"gprof/chunks/sections"
	"gprof/rawformat"
)

var le = binary.LittleEndian

// index is the content of a process section.
type index struct {
	live  bool
	files []entry // by range start, then number
}

// entry is one chunk file of an index.
type entry struct {
	number uint32
	size   uint32                     // of the file
	header [rawformat.HeaderSize]byte // its first bytes, zeros where it has fewer
	part                              // what is being packed, else nothing
	cut    *entry                     // of what is being packed: the chunk of which it is a part; nil: it is whole
	nth    int                        // part of cut
}

// appendIndex appends the raw bytes of a process section.
func appendIndex(dst []byte, x *index) []byte {
	var flags uint32
	if x.live {
		flags |= sections.FlagLive
	}
	dst = le.AppendUint32(dst, flags)
	dst = le.AppendUint32(dst, uint32(len(x.files)))
	dst = le.AppendUint64(dst, 0)
	for i := range x.files {
		e := &x.files[i]
		dst = le.AppendUint32(dst, e.number)
		dst = le.AppendUint32(dst, e.size)
		dst = append(dst, e.header[:]...)
	}
	return dst
}

// readIndex reads what appendIndex wrote.
func readIndex(b []byte) (*index, error) {
	if len(b) < sections.IndexHead || (len(b)-sections.IndexHead)%sections.EntrySize != 0 || uint64(le.Uint32(b[4:])) != uint64((len(b)-sections.IndexHead)/sections.EntrySize) {
		return nil, fmt.Errorf("%w: index of %d bytes", rawformat.ErrSyntax, len(b))
	}
	x := &index{live: le.Uint32(b)&sections.FlagLive != 0, files: make([]entry, 0, le.Uint32(b[4:]))}
	for at := sections.IndexHead; at < len(b); at += sections.EntrySize {
		e := entry{number: le.Uint32(b[at:]), size: le.Uint32(b[at+4:])}
		if e.size > rawformat.MaxChunkFile {
			return nil, fmt.Errorf("%w: entry %d of the index", rawformat.ErrSyntax, len(x.files))
		}
		copy(e.header[:], b[at+8:])
		x.files = append(x.files, e)
	}
	return x, nil
}

// epoch is that of the chunk, 0 if it is not in use.
func (e *entry) epoch() uint64 {
	h, _, err := rawformat.ReadHeader(e.header[:])
	if err != nil {
		return 0
	}
	return h.Epoch
}

// leftOut reports whether the entry is all that a slice left of its chunk.
func (e *entry) leftOut() bool {
	return e.size == rawformat.HeadSize && rawformat.State(le.Uint32(e.header[rawformat.OffState:])) == rawformat.StateLeftOut
}

// leaveOut makes it so.
func (e *entry) leaveOut() {
	e.size = rawformat.HeadSize
	le.PutUint32(e.header[rawformat.OffState:], uint32(rawformat.StateLeftOut))
}
