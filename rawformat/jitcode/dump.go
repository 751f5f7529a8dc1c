package jitcode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrDump says that a file is no jitdump of a processor whose numbers are little-endian.
var ErrDump = errors.New("not a jitdump of a little-endian processor")

const (
	dumpMagic = 0x4A695444
	dumpHead  = 40 // size of the first version's header
	entryHead = 16
	codeSize  = 40 // of a load, before the name
	moveSize  = 48

	entryLoad  = 0
	entryMove  = 1
	entryLines = 2

	maxHead  = 4 << 10
	maxEntry = 256 << 20 // bytes of an entry, which has a copy of the code
	maxLines = 4 << 20   // bytes of those of a function
)

// Dump reads a jitdump. It may grow meanwhile: what is incomplete at its end is read later.
type Dump struct {
	// Into gets the functions.
	Into *List

	pending []byte
	began   bool
	skip    int64 // bytes of code that are not looked at
	lines   []Line
	of      uint64 // whose they are
	byIndex map[uint64]int32
}

// Write takes the next bytes of the file. The error is ErrDump, after which there is nothing to read;
// or [io.ErrShortBuffer] when the list is full.
func (d *Dump) Write(b []byte) (n int, err error) {
	n = len(b)
	if skipped := min(d.skip, int64(len(b))); skipped > 0 {
		d.skip -= skipped
		b = b[skipped:]
	}
	d.pending = append(d.pending, b...)
	rest := d.pending
	for err == nil {
		var used int
		if used, err = d.next(rest); used == 0 {
			break
		}
		if used > len(rest) {
			d.skip, used = int64(used-len(rest)), len(rest)
		}
		rest = rest[used:]
	}
	d.pending = append(d.pending[:0], rest...)
	return n, err
}

// next takes an entry at the beginning of b, and returns its size, which may exceed b; 0: it is
// incomplete.
func (d *Dump) next(b []byte) (size int, err error) {
	if !d.began {
		return d.begin(b)
	}
	if len(b) < entryHead {
		return 0, nil
	}
	kind := binary.LittleEndian.Uint32(b)
	total := int64(binary.LittleEndian.Uint32(b[4:]))
	if total < entryHead || total > maxEntry {
		return 0, ErrDump
	}
	want := min(total, wanted(kind, b))
	if int64(len(b)) < want {
		return 0, nil
	}
	return int(total), d.take(kind, b[entryHead:want])
}

// wanted is how much of an entry is looked at.
func wanted(kind uint32, b []byte) int64 {
	switch kind {
	case entryLoad: // the code is behind the name
		const most = entryHead + codeSize + MaxLine
		if len(b) < entryHead+codeSize {
			return entryHead + codeSize
		}
		if i := bytes.IndexByte(b[entryHead+codeSize:min(len(b), most)], 0); i >= 0 {
			return int64(entryHead + codeSize + i + 1)
		}
		return most
	case entryMove:
		return entryHead + moveSize
	case entryLines:
		return entryHead + maxLines
	}
	return entryHead
}

func (d *Dump) begin(b []byte) (size int, err error) {
	if len(b) < dumpHead {
		return 0, nil
	}
	total := binary.LittleEndian.Uint32(b[8:])
	if binary.LittleEndian.Uint32(b) != dumpMagic || total < dumpHead || total > maxHead {
		return 0, ErrDump
	}
	if len(b) < int(total) {
		return 0, nil
	}
	d.began = true
	return int(total), nil
}

// take takes the body of an entry.
func (d *Dump) take(kind uint32, b []byte) error {
	switch {
	case kind == entryLoad && len(b) >= codeSize:
		name, _, _ := bytes.Cut(b[codeSize:], []byte{0})
		f := Function{Start: binary.LittleEndian.Uint64(b[16:]), Size: binary.LittleEndian.Uint64(b[24:]), Name: string(name)}
		if d.of == f.Start {
			f.Lines = d.lines // from the function's beginning
		}
		d.lines = nil
		return d.add(f, binary.LittleEndian.Uint64(b[32:]))
	case kind == entryMove && len(b) >= moveSize:
		index := binary.LittleEndian.Uint64(b[40:])
		i, known := d.byIndex[index]
		if !known {
			return nil
		}
		f := d.Into.all[i]
		f.Start = binary.LittleEndian.Uint64(b[24:])
		return d.add(f, index)
	case kind == entryLines && len(b) >= 16:
		d.of = binary.LittleEndian.Uint64(b)
		d.lines = parseLines(b[16:], d.of, binary.LittleEndian.Uint64(b[8:]))
	}
	return nil
}

// add adds a function that moves name by an index.
func (d *Dump) add(f Function, index uint64) error {
	n := d.Into.Len()
	if !d.Into.Add(f) {
		return io.ErrShortBuffer
	}
	if d.Into.Len() > n {
		if d.byIndex == nil {
			d.byIndex = map[uint64]int32{}
		}
		d.byIndex[index] = int32(n)
	}
	return nil
}

// isText reports whether a name may be that of a file: V8's are random bytes.
func isText(name string) bool {
	return utf8.ValidString(name) && strings.IndexFunc(name, unicode.IsControl) < 0
}

// parseLines parses n lines of the function at an address, each of an address, a line, a
// discriminator, and a file, which may say that it is the one before.
func parseLines(b []byte, of, n uint64) (lines []Line) {
	file := ""
	for ; n > 0 && len(b) > 16; n-- {
		l := Line{Offset: binary.LittleEndian.Uint64(b) - of, Line: int32(binary.LittleEndian.Uint32(b[8:]))}
		name, rest, ok := bytes.Cut(b[16:], []byte{0})
		if !ok || len(lines) > 0 && l.Offset < lines[len(lines)-1].Offset {
			return lines
		}
		if string(name) != "\xff" {
			file = string(name)
		}
		l.File = file
		if l.Line >= 0 && isText(file) {
			lines = append(lines, l)
		}
		b = rest
	}
	return lines
}
