package pipeline

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/klauspost/compress/flate"
)

// Levels of compression. Those between are possible, too.
const (
	// Huffman finds no repetitions. For rows of numbers, which hardly repeat, it is four times
	// faster than Fast, and a fifth larger.
	Huffman = flate.HuffmanOnly
	// Fast is faster than level 1, and smaller. (Level 9 of this encoder is twenty times slower.)
	Fast = 2
	Best = flate.BestCompression
)

// CheckLevel returns an error for an unknown level.
func CheckLevel(level int) error {
	if level != Huffman && (level < flate.BestSpeed || level > Best) {
		return fmt.Errorf("gzip level %d, want %d to %d", level, flate.BestSpeed, Best)
	}
	return nil
}

// Deflater compresses fragments one at a time, to runs of deflate blocks that end at a
// byte boundary with an empty stored block and refer to nothing before them. The zero
// Deflater is ready to use; it keeps up to 1 MiB for each level that it was used with.
type Deflater struct {
	out     buffer
	writers map[int]*flate.Writer
}

// Append appends text, compressed. The level must pass [CheckLevel].
func (d *Deflater) Append(dst, text []byte, level int) []byte {
	d.out = dst
	w := d.writer(level)
	// A buffer returns no errors.
	w.Write(text)
	w.Flush()
	dst, d.out = d.out, nil
	return dst
}

func (d *Deflater) writer(level int) *flate.Writer {
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

// Member is a gzip file of one member, made of fragments that were compressed independently:
//
//	Header Deflate… Deflate… Trailer
//
// A member for each block would not do: browsers unpack with DecompressionStream, for which bytes
// after the first member are an error. The same fragments give the same bytes on every machine: the
// header has no time, name or system. The zero Member is of no fragments.
type Member struct{ crc, size uint32 }

// Header begins a member: deflate, no flags, no time, system unknown.
func (*Member) Header() []byte { return []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255} }

// Add adds the next fragment's CRC-32 (IEEE) and text length.
func (m *Member) Add(crc uint32, n int) {
	m.crc = multiply(m.crc, shift(uint64(n))) ^ crc
	m.size += uint32(n)
}

// Trailer ends a member: an empty last block, and the sums.
func (m *Member) Trailer() []byte {
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
