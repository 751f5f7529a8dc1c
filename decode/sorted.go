package decode

import (
	"encoding/binary"

	"gprof/chunks"
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
	l.takeOthers(d)
	l.takeStacks(d)
}

// takeOthers takes all but stacks.
func (l *loader) takeOthers(d *dictionary) {
	for _, at := range l.sorted.Of(otherClass) {
		l.takeAt(d, at)
	}
	l.takeStrings(d)
	l.takeFrames(d)
	l.takeSymbols(d)
}

// manyStacks is how many stacks are worth another goroutine.
const manyStacks = 1 << 14

// takeApart takes all definitions up to one that is not sorted, and the stacks among them on another goroutine: they are most of
// a large dictionary, and while it is read no other core has anything to do.
func (l *loader) takeApart(d *dictionary) {
	stacks := &loader{records: l.records, sorted: chunks.Sorted{Class: classes}, stack: l.stack}
	of := &dictionary{stacks: d.stacks}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for stacks.records.Sort(&stacks.sorted) {
			stacks.takeStacks(of)
		}
	}()
	for l.records.Sort(&l.sorted) {
		l.takeOthers(d)
	}
	<-done
	d.stacks, l.stack = of.stacks, stacks.stack
	d.malformed += of.malformed
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

// short reads an integer of up to four bytes; not ok: it is longer, and size is 4. A branch for its length would often be guessed wrong, and
// to find the lowest bit takes some processors longer than to add up bytes by a product.
func short(w uint32) (v uint32, size uint, ok bool) {
	stop := ^w & 0x80808080
	own := stop ^ (stop - 1)
	w &= own & 0x7f7f7f7f
	w = w&0x007f007f | w>>1&0x3f803f80
	w = w&0x00003fff | w>>2&0x0fffc000
	return w, uint(own & 0x01010101 * 0x01010101 >> 24), stop != 0
}

// sequence is an id and how it is written. Definitions of a kind mostly have one id after the other, so it need not be read
// but compared.
type sequence struct {
	id         uint32
	word, mask uint64
	size       uint
}

// sequenceFrom begins with an id.
func sequenceFrom(id uint32) (s sequence) {
	s.id = id
	s.write()
	return s
}

func (s *sequence) write() {
	var b [8]byte
	s.size = uint(len(rawformat.AppendUint(b[:0], uint64(s.id))))
	s.word, s.mask = binary.LittleEndian.Uint64(b[:]), 1<<(8*s.size)-1
}

func (s *sequence) next() {
	if s.id++; s.id&0x7f != 0 {
		s.word++
	} else {
		s.write()
	}
}

// begins reports whether an id is what a word begins with.
func (s *sequence) begins(x uint64) bool { return x&s.mask == s.word }

// behind is the sequence that goes on behind the id that a word begins with.
func behind(x uint64) sequence {
	id, _, _ := short(uint32(x))
	return sequenceFrom(id + 1)
}

// takeStacks takes stacks. Of most the parent is the one before, and only the frame is new.
func (l *loader) takeStacks(d *dictionary) {
	data, next, last := l.file(), l.stack, sequenceFrom(l.stack.id-1)
	for _, at := range l.sorted.Of(stackClass) {
		n := uint(data[at-1]) - 1
		x := binary.LittleEndian.Uint64(data[at+1:])
		fields := x >> (8 * next.size & 63)
		parent, size, known := last.id, last.size, true
		if !last.begins(fields) {
			parent, size, known = short(uint32(fields))
		}
		frame, more, ok := short(uint32(fields >> (8 * size & 63)))
		if !known || !ok || !next.begins(x) || next.size+size+more != n || n > 8 {
			l.takeAt(d, at)
			next = behind(x)
			last = sequenceFrom(next.id - 1)
			continue
		}
		d.stacks.put(uint64(next.id), edge{parent, frame})
		last = next
		next.next()
	}
	l.stack = next
}

func (l *loader) takeFrames(d *dictionary) {
	data, next := l.file(), l.frame
	for _, at := range l.sorted.Of(frameClass) {
		n := uint(data[at-1]) - 1
		x := binary.LittleEndian.Uint64(data[at+1:])
		fields := x >> (8 * next.size & 63)
		module, size, known := short(uint32(fields))
		offset, more, ok := short(uint32(fields >> (8 * size & 63)))
		if !known || !ok || !next.begins(x) || next.size+size+more != n || n > 8 {
			l.takeAt(d, at)
			next = behind(x)
			continue
		}
		d.addFrame(uint64(next.id), uint64(module), uint64(offset))
		next.next()
	}
	l.frame = next
}

func (l *loader) takeStrings(d *dictionary) {
	data, next := l.file(), l.string
	for _, at := range l.sorted.Of(stringClass) {
		n := uint(data[at-1]) - 1
		x := binary.LittleEndian.Uint64(data[at+1:])
		from := uint(at) + 1 + next.size
		if !next.begins(x) || next.size >= n || uint(data[from]) != n-next.size-1 {
			l.takeAt(d, at)
			next = behind(x)
			continue
		}
		d.strings.put(uint64(next.id), d.keep(data[from+1:from+1+uint(data[from])]))
		next.next()
	}
	l.string = next
}
