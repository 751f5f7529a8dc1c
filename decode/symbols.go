package decode

import (
	"encoding/binary"
	"math/bits"

	"gprof/rawformat"
)

// symbols are functions of the inline chains at frames, as they were written: most are of places that have their names from
// another dictionary, so nothing but the frame is looked at. Each is the size of its fields and these.
type symbols []byte

// symbol is a function of the inline chain at a frame.
type symbol struct {
	frame, function, file uint64
	depth, line           int32
}

// ends has the highest bit of each byte of a word.
const ends = 0x8080808080808080

// shortSymbol is how many bytes the fields of a short symbol have at most. None of its five integers has more than eight then.
const shortSymbol = 12

// within has, for each number of bytes up to [shortSymbol], the highest bits of so many bytes of two words.
var within = func() (masks [shortSymbol + 1][2]uint64) {
	for n := range masks {
		masks[n] = [2]uint64{ends >> (64 - 8*min(n, 8)), ends >> (64 - 8*max(n-8, 0))}
	}
	return masks
}()

// takeSymbols keeps symbols. A short one is valid if five integers end in it.
func (l *loader) takeSymbols(d *dictionary) {
	data := l.file()
	for _, at := range l.sorted.Of(symbolClass) {
		n := uint(data[at-1]) - 1
		low, high := binary.LittleEndian.Uint64(data[at+1:]), binary.LittleEndian.Uint64(data[at+9:])
		if n > shortSymbol || bits.OnesCount64(^low&within[n][0])+bits.OnesCount64(^high&within[n][1]) < 5 {
			l.takeAt(d, at)
			continue
		}
		d.symbols = append(d.symbols, data[at:at+1+uint32(n)]...)
		d.symbols[uint(len(d.symbols))-1-n] = byte(n)
	}
}

func (d *dictionary) defSymbol(e *entry) {
	at := len(d.symbols)
	d.symbols = append(d.symbols, 0)
	for _, v := range e.v[:5] {
		d.symbols = rawformat.AppendUint(d.symbols, v)
	}
	d.symbols[at] = byte(len(d.symbols) - at - 1)
}

// next takes the first symbol apart.
func (s *symbols) next() (fields []byte) {
	all := *s
	n := 1 + int(all[0])
	*s = all[n:]
	return all[1:n]
}

// frameOf is the frame of a symbol.
func frameOf(fields []byte) uint64 {
	v, _, _ := rawformat.ReadUint(fields)
	return v
}

// read reads a symbol; ok: its depth is one that there can be.
func (s *symbol) read(fields []byte) (ok bool) {
	var v [5]uint64
	for i := range v {
		n := 0
		v[i], n, _ = rawformat.ReadUint(fields)
		fields = fields[n:]
	}
	*s = symbol{v[0], v[2], v[3], int32(min(v[1], rawformat.MaxStack)), int32(min(v[4], 1<<31-1))}
	return s.depth < rawformat.MaxStack
}

// linkSymbols names functions at the dictionary's frames that have no name yet.
func (d *dictionary) linkSymbols() {
	var s symbol
	for left := d.symbols; len(left) > 0; {
		fields := left.next()
		if frame := frameOf(fields); frame < uint64(len(d.placed)) && d.placed[frame] != 0 || !s.read(fields) {
			continue
		}
		if f := d.frames.get(s.frame); f.known && f.label == 0 {
			c, of := d.codeOf(f.module), s
			c.define(c.place(f.offset), s.depth, func() function { return d.function(&of) })
		}
	}
}
