package decode

import (
	"encoding/binary"
	"math/bits"

	"gprof/rawformat"
)

// The classes of definitions, see [chunks.Sorted]. Most definitions are of the last four.
const (
	otherClass = iota
	stringClass
	frameClass
	symbolClass
	stackClass
)

// classes are the classes of kinds.
var classes = [256]uint8{
	rawformat.KindDefString: stringClass,
	rawformat.KindDefFrame:  frameClass,
	rawformat.KindDefSymbol: symbolClass,
	rawformat.KindDefStack:  stackClass,
}

// takeSorted takes definitions class by class, because frames need only modules, and the others nothing, that was defined
// before them.
func (l *loader) takeSorted(d *dictionary) {
	for _, at := range l.sorted.Of(otherClass) {
		l.takeAt(d, at)
	}
	l.takeStrings(d)
	l.takeFrames(d)
	l.takeSymbols(d)
	l.takeStacks(d)
}

// takeAt takes the record at an offset, whatever it is.
func (l *loader) takeAt(d *dictionary, at uint32) {
	r := l.sorted.Record(at)
	l.takeAny(d, &r)
}

// file is the bytes of the file and their slack.
func (l *loader) file() []byte {
	data := l.sorted.Data()
	return data[:len(data)+rawformat.Slack]
}

// short reads an integer of up to four bytes. A branch for its length would often be guessed wrong. size is in bits: 33
// if it is longer, which adds up with others to no number of bytes.
func short(w uint32) (v uint32, size uint) {
	stop := ^w & 0x80808080
	w &= (stop ^ (stop - 1)) & 0x7f7f7f7f
	w = w&0x007f007f | w>>1&0x3f803f80
	w = w&0x00003fff | w>>2&0x0fffc000
	return w, uint(bits.TrailingZeros32(stop)) + 1
}

// three reads the three integers that the n fields of a record are, if they have up to eight bytes, and four each.
func three(fields []byte, n int) (a, b, c uint32, ok bool) {
	x := binary.LittleEndian.Uint64(fields)
	a, i := short(uint32(x))
	b, j := short(uint32(x >> (i & 63)))
	c, k := short(uint32(x >> ((i + j) & 63)))
	return a, b, c, i+j+k == uint(8*n) && n <= 8
}

// takeStacks takes stacks. Most are the children of those before them, of which only the frame is new.
func (l *loader) takeStacks(d *dictionary) {
	data := l.file()
	next := follower(uint32(len(d.stacks.dense)))
	for _, at := range l.sorted.Of(stackClass) {
		n := uint(data[at-1]) - 1
		x := binary.LittleEndian.Uint64(data[at+1:])
		frame, size := short(uint32(x >> (next.size & 63)))
		if x&next.mask == next.word && next.size+size == 8*n && n <= 8 {
			d.stacks.put(uint64(next.id), edge{next.id - 1, frame})
			next.advance()
			continue
		}
		id, parent, frame, ok := three(data[at+1:], int(n))
		if !ok {
			l.takeAt(d, at)
			continue
		}
		d.stacks.put(uint64(id), edge{parent, frame})
		if id == next.id {
			next.advance()
		} else {
			next = follower(id + 1)
		}
	}
}

// following is what the fields of a stack begin with that has an id and the one before it as its parent.
type following struct {
	id         uint32
	word, mask uint64
	size       uint   // in bits
	own        uint64 // the id, as it is written
	ownSize    uint
}

func follower(id uint32) (f following) {
	f.id = id
	f.own, f.ownSize = written(id)
	parent, size := written(id - 1)
	f.set(parent, size)
	return f
}

func (f *following) set(parent uint64, size uint) {
	f.word, f.size = f.own|parent<<f.ownSize, f.ownSize+size
	f.mask = 1<<f.size - 1
}

// advance makes f that of the next id.
func (f *following) advance() {
	parent, size := f.own, f.ownSize
	if f.id++; f.id&0x7f != 0 {
		f.own++
	} else {
		f.own, f.ownSize = written(f.id)
	}
	f.set(parent, size)
}

// written is an integer as it is written, and its size in bits.
func written(v uint32) (word uint64, size uint) {
	var b [8]byte
	n := len(rawformat.AppendUint(b[:0], uint64(v)))
	return binary.LittleEndian.Uint64(b[:]), uint(8 * n)
}

func (l *loader) takeFrames(d *dictionary) {
	data := l.file()
	for _, at := range l.sorted.Of(frameClass) {
		id, module, offset, ok := three(data[at+1:], int(data[at-1])-1)
		if !ok {
			l.takeAt(d, at)
			continue
		}
		d.addFrame(uint64(id), uint64(module), uint64(offset))
	}
}

func (l *loader) takeStrings(d *dictionary) {
	data := l.file()
	for _, at := range l.sorted.Of(stringClass) {
		n := uint(data[at-1]) - 1
		id, size := short(binary.LittleEndian.Uint32(data[at+1:]))
		from := uint(at) + 1 + size/8
		if size > 32 || size/8 >= n || uint(data[from]) != n-size/8-1 {
			l.takeAt(d, at)
			continue
		}
		d.strings.put(uint64(id), d.keep(data[from+1:from+1+uint(data[from])]))
	}
}
