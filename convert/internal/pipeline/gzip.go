package pipeline

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/klauspost/compress/flate"
)

// Levels of compression. Those between are possible, too.
const (
	// huffman finds no repetitions. For rows of numbers, which hardly repeat, it is four times
	// faster than Fast, and a fifth larger.
	huffman = flate.HuffmanOnly
	// fast is faster than level 1, and smaller. (Level 9 of this encoder is twenty times slower.)
	fast = 2
	best = flate.BestCompression
)

// checkLevel returns an error for an unknown level.
func checkLevel(level int) error {
	if level != huffman && (level < flate.BestSpeed || level > best) {
		return fmt.Errorf("gzip level %d, want %d to %d", level, flate.BestSpeed, best)
	}
	return nil
}

// deflater compresses fragments one at a time, to runs of deflate blocks that end at a
// byte boundary with an empty stored block and refer to nothing before them. The zero
// deflater is ready to use; it keeps up to 1 MiB for each level that it was used with.
type deflater struct {
	out     buffer
	writers map[int]*flate.Writer
}

// append appends text, compressed. The level must pass checkLevel.
func (d *deflater) append(dst, text []byte, level int) []byte {
	d.out = dst
	w := d.writer(level)
	// A buffer returns no errors.
	w.Write(text)
	w.Flush()
	dst, d.out = d.out, nil
	return dst
}

func (d *deflater) writer(level int) *flate.Writer {
	if w := d.writers[level]; w != nil {
		w.Reset(&d.out)
		return w
	}
	w, err := flate.NewWriter(&d.out, level)
	if err != nil {
		panic("internal error: " + err.Error())
	}
	if d.writers == nil {
		d.writers = make(map[int]*flate.Writer)
	}
	d.writers[level] = w
	return w
}

type buffer []byte

func (b *buffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

// member is a gzip file of one member, made of fragments that were compressed independently:
//
//	Header Deflate… Deflate… Trailer
//
// A member for each block would not do: browsers unpack with DecompressionStream, for which bytes
// after the first member are an error. The same fragments give the same bytes on every machine: the
// header has no time, name or system. The zero Member is of no fragments.
type member struct{ crc, size uint32 }

// header begins a member: deflate, no flags, no time, system unknown.
func (*member) header() []byte { return []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255} }

// add adds the next fragment's CRC-32 (IEEE) and text length.
func (m *member) add(crc uint32, n int) {
	m.crc = multiply(m.crc, shift(uint64(n))) ^ crc
	m.size += uint32(n)
}

// trailer ends a member: an empty last block, and the sums.
func (m *member) trailer() []byte {
	t := []byte{3, 0}
	t = binary.LittleEndian.AppendUint32(t, m.crc)
	return binary.LittleEndian.AppendUint32(t, m.size)
}

// multiply returns a·b. A CRC is a polynomial modulo that of IEEE, its highest bit the coefficient
// of x^0. The CRC of two texts is the first one's, times x for each bit of the second, plus the
// second one's.
func multiply(a, b uint32) (product uint32) {
	for ; a != 0; a <<= 1 {
		if a&(1<<31) != 0 {
			product ^= b
		}
		b = b>>1 ^ crc32.IEEE&-(b&1)
	}
	return product
}

// shift returns x to the power of 8n.
func shift(n uint64) uint32 {
	power, square := uint32(1)<<31, uint32(1)<<(31-8)
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			power = multiply(power, square)
		}
		square = multiply(square, square)
	}
	return power
}
