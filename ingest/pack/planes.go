package pack

import (
	"cmp"
	"slices"

	"github.com/klauspost/compress/fse"

	"gprof/rawformat"
)

// Encodings of planes.
const (
	planeSame = 0 // one byte that all are
	planeRaw  = 1
	planeZstd = 2 // U size, zstd
	planeFSE  = 3 // U size, finite state entropy as in zstd
)

// smallPlane is not worth compressing.
const smallPlane = 24

// appendColumns appends the stored form of columns, by id.
func (e *encoder) appendColumns(dst []byte, s *splitter) []byte {
	slices.SortFunc(s.used, func(a, b *column) int { return cmp.Compare(a.id, b.id) })
	for _, c := range s.used {
		t, wide := c.choose()
		dst = append(rawformat.AppendUint(dst, uint64(c.id)), byte(t))
		switch t {
		case content:
			dst = e.appendPlane(rawformat.AppendUint(dst, uint64(len(c.bytes))), c.bytes)
		case fixed:
			dst = rawformat.AppendUint(dst, uint64(len(c.tokens[asTheyAre])))
			appendBytes(&e.planes, c.tokens[asTheyAre])
			dst = e.appendPlanes(dst, 8)
		default:
			dst = rawformat.AppendUint(dst, uint64(len(c.tokens[t])))
			base, most := bounds(c.tokens[t])
			least := 0
			if wide {
				least = width(most - base)
			}
			dst = rawformat.AppendUint(dst, base)
			appendPlanes(&e.planes, c.tokens[t], base, least)
			dst = e.appendPlanes(dst, maxPlanes)
		}
	}
	return dst
}

// appendBytes appends the bytes of values by significance.
func appendBytes(planes *[maxPlanes][]byte, values []uint64) {
	for p := range planes {
		planes[p] = planes[p][:0]
	}
	for _, v := range values {
		for p := range 8 {
			planes[p] = append(planes[p], byte(v>>(8*p)))
		}
	}
}

// appendPlanes appends the planes that are not empty.
func (e *encoder) appendPlanes(dst []byte, n int) []byte {
	for _, p := range e.planes[:n] {
		if len(p) > 0 {
			dst = e.appendPlane(dst, p)
		}
	}
	return dst
}

// appendPlane appends a plane in the smallest encoding.
func (e *encoder) appendPlane(dst, p []byte) []byte {
	if same(p) {
		return append(dst, planeSame, p[0])
	}
	if len(p) > smallPlane && !noise(p) {
		mode, best := byte(planeZstd), e.zstd.EncodeAll(p, e.plane[:0])
		e.plane = best
		if b, err := fse.Compress(p, &e.fse); err == nil && len(b) <= len(best) {
			mode, best = planeFSE, b
		}
		if len(best)+4 < len(p) {
			dst = rawformat.AppendUint(append(dst, mode), uint64(len(best)))
			return append(dst, best...)
		}
	}
	return append(append(dst, planeRaw), p...)
}

// noise reports whether bytes are spread too evenly to be compressed: a byte takes more than 7.9
// bits.
func noise(p []byte) bool {
	var counts [256]uint32
	for _, b := range p {
		counts[b]++
	}
	return frequencyCost(&counts) > uint64(len(p))*256*79/10
}

func same(p []byte) bool {
	for _, b := range p {
		if b != p[0] {
			return false
		}
	}
	return true
}

// storedColumn is a column being read.
type storedColumn struct {
	transform transform
	count     int // tokens left
	base      uint64
	planes    [maxPlanes][]byte
	at        [maxPlanes]int // position in each plane
}

// next takes a token. After the last one it returns zeros, and the column is broken.
func (c *storedColumn) next() (v uint64) {
	if c.count--; c.count < 0 {
		return 0
	}
	n := int(c.planes[0][c.at[0]])
	c.at[0]++
	for p := 1; p <= n; p++ {
		v |= uint64(c.planes[p][c.at[p]]) << (8 * (p - 1))
		c.at[p]++
	}
	if v > 0 {
		v += c.base
	}
	return v
}

// nextFixed takes a value of 8 bytes.
func (c *storedColumn) nextFixed() (v uint64) {
	if c.count--; c.count < 0 {
		return 0
	}
	for p := range 8 {
		v |= uint64(c.planes[p][c.at[0]]) << (8 * p)
	}
	c.at[0]++
	return v
}

// left is how many tokens or bytes are left.
func (c *storedColumn) left() int {
	if c.transform == content {
		return len(c.planes[0]) - c.at[0]
	}
	return max(0, c.count)
}

// take takes n bytes of content, nil if there are fewer.
func (c *storedColumn) take(n uint64) []byte {
	if n > uint64(c.left()) {
		return nil
	}
	at := c.at[0]
	c.at[0] += int(n)
	return c.planes[0][at:c.at[0]]
}

// columnReader reads columns from their stored form.
type columnReader struct {
	decoder *decoder
	rest    []byte
	room    int    // bytes of planes that are allowed
	arena   []byte // memory of planes
	fse     fse.Scratch
}

// read reads the next column into the arena.
func (r *columnReader) read() (id uint16, c *storedColumn, err error) {
	cur := rawformat.NewCursor(r.rest, 0)
	n := cur.Uint("column")
	t := cur.Bytes(1, "transform")
	count := cur.Uint("count")
	base := uint64(0)
	if t != nil && transform(t[0]) <= difference {
		base = cur.Uint("base")
	}
	switch {
	case cur.Err() != nil:
		return 0, nil, cur.Err()
	case n > 0xffff || transform(t[0]) >= numTransforms || count > rawformat.MaxRecordFile:
		return 0, nil, rawformat.ErrSyntax
	}
	r.rest = r.rest[cur.Offset():]
	c = &storedColumn{transform: transform(t[0]), count: int(count), base: base}
	return uint16(n), c, r.planes(c, int(count))
}

func (r *columnReader) planes(c *storedColumn, n int) (err error) {
	counts := [maxPlanes]int{n} // of each plane
	switch c.transform {
	case content:
	case fixed:
		for p := range 8 {
			counts[p] = n
		}
	default:
		if n == 0 {
			return nil // no plane is stored, and whoever unpacks one takes 0 bytes for no limit
		}
		if c.planes[0], err = r.plane(n); err != nil {
			return err
		}
		if counts, err = planeCounts(c.planes[0]); err != nil {
			return err
		}
	}
	for p, n := range counts {
		if n > 0 {
			if c.planes[p], err = r.plane(n); err != nil {
				return err
			}
		}
	}
	return nil
}

// planeCounts are the sizes of the planes after that of widths.
func planeCounts(widths []byte) (counts [maxPlanes]int, err error) {
	var of [256]int
	for _, w := range widths {
		of[w]++
	}
	n := len(widths)
	for p := 1; p < maxPlanes; p++ {
		n -= of[p-1]
		counts[p] = n
	}
	if n > of[maxPlanes-1] {
		return counts, rawformat.ErrOverflow
	}
	return counts, nil
}

// plane reads a plane of n bytes.
func (r *columnReader) plane(n int) ([]byte, error) {
	if n > r.room-len(r.arena) {
		return nil, rawformat.ErrTooBig
	}
	at := len(r.arena)
	dst := r.arena[at : at+n : at+n]
	c := rawformat.NewCursor(r.rest, 0)
	mode := c.Bytes(1, "plane")
	if c.Err() != nil {
		return nil, c.Err()
	}
	switch mode[0] {
	case planeSame:
		if b := c.Bytes(1, "plane"); b != nil {
			for i := range dst {
				dst[i] = b[0]
			}
		}
	case planeRaw:
		copy(dst, c.Bytes(n, "plane"))
	case planeZstd:
		size := c.Uint("plane size")
		if size > uint64(len(r.rest)) {
			return nil, rawformat.ErrTruncated
		}
		b, err := r.decoder.zstd.DecodeAll(c.Bytes(int(size), "plane"), dst[:0])
		if err != nil || len(b) != n {
			return nil, rawformat.ErrSyntax
		}
	case planeFSE:
		r.fse.DecompressLimit = n
		b, err := fse.Decompress(c.Bytes(int(min(c.Uint("plane size"), rawformat.MaxRecordFile)), "plane"), &r.fse)
		if err != nil || len(b) != n {
			return nil, rawformat.ErrSyntax
		}
		copy(dst, b)
	default:
		return nil, rawformat.ErrSyntax
	}
	if c.Err() != nil {
		return nil, c.Err()
	}
	r.rest = r.rest[c.Offset():]
	r.arena = r.arena[:at+n]
	return dst, nil
}
