package pack

import (
	"cmp"
	"slices"

	"gprof/rawformat"
)

// Ways in which a plane is stored.
const (
	planeSame = 0 // one byte, which all are
	planeRaw  = 1
	planeZstd = 2 // U size, zstd
)

// smallPlane is not worth compressing.
const smallPlane = 24

// appendColumns appends the stored form of what was split: columns by their id.
func (e *encoder) appendColumns(dst []byte, s *splitter) []byte {
	slices.SortFunc(s.used, func(a, b *column) int { return cmp.Compare(a.id, b.id) })
	for _, c := range s.used {
		t := c.choose()
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
			appendPlanes(&e.planes, c.tokens[t])
			dst = e.appendPlanes(dst, maxPlanes)
		}
	}
	return dst
}

// appendBytes appends the bytes of values by place.
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

func (e *encoder) appendPlane(dst, p []byte) []byte {
	if same(p) {
		return append(dst, planeSame, p[0])
	}
	if len(p) > smallPlane {
		e.plane = e.zstd.EncodeAll(p, e.plane[:0])
		if len(e.plane)+4 < len(p) {
			dst = rawformat.AppendUint(append(dst, planeZstd), uint64(len(e.plane)))
			return append(dst, e.plane...)
		}
	}
	return append(append(dst, planeRaw), p...)
}

func same(p []byte) bool {
	for _, b := range p {
		if b != p[0] {
			return false
		}
	}
	return true
}

// stored is a column that is being read.
type stored struct {
	transform transform
	count     int // of tokens that were not taken yet
	planes    [maxPlanes][]byte
}

// next takes a token. After the last one it is 0, and the column broken.
func (c *stored) next() (v uint64) {
	if c.count--; c.count < 0 {
		return 0
	}
	for p := range c.planes {
		plane := c.planes[p]
		if len(plane) == 0 {
			c.count = -1
			return 0
		}
		b := plane[0]
		c.planes[p] = plane[1:]
		v |= uint64(b&0x7f) << (7 * p)
		if b < 0x80 {
			return v
		}
	}
	c.count = -1
	return 0
}

// nextFixed takes a value of 8 bytes.
func (c *stored) nextFixed() (v uint64) {
	if c.count--; c.count < 0 {
		return 0
	}
	for p := range 8 {
		v |= uint64(c.planes[p][0]) << (8 * p)
		c.planes[p] = c.planes[p][1:]
	}
	return v
}

// take takes n bytes of content, nil if there are not so many.
func (c *stored) take(n uint64) []byte {
	if n > uint64(len(c.planes[0])) {
		c.count = -1
		return nil
	}
	b := c.planes[0][:n]
	c.planes[0] = c.planes[0][n:]
	return b
}

// columnReader reads columns out of their stored form.
type columnReader struct {
	decoder *decoder
	rest    []byte
	arena   []byte // of planes
}

// read reads the next column. What it is made of lies in the arena.
func (r *columnReader) read() (id uint16, c *stored, err error) {
	cur := rawformat.NewCursor(r.rest, 0)
	n := cur.Uint("column")
	t := cur.Bytes(1, "transform")
	count := cur.Uint("count")
	switch {
	case cur.Err() != nil:
		return 0, nil, cur.Err()
	case n > 0xffff || transform(t[0]) >= numTransforms || count > rawformat.MaxRecordFile:
		return 0, nil, rawformat.ErrSyntax
	}
	r.rest = r.rest[cur.Offset():]
	c = &stored{transform: transform(t[0]), count: int(count)}
	return uint16(n), c, r.planes(c, int(count))
}

func (r *columnReader) planes(c *stored, n int) (err error) {
	most := maxPlanes
	switch c.transform {
	case content:
		most = 1
	case fixed:
		most = 8
	}
	for p := 0; p < most && n > 0; p++ {
		if c.planes[p], err = r.plane(n); err != nil {
			return err
		}
		if most == maxPlanes {
			n = continued(c.planes[p])
		}
	}
	if most == maxPlanes && n > 0 {
		return rawformat.ErrOverflow
	}
	return nil
}

// continued counts the bytes behind which a token goes on.
func continued(p []byte) (n int) {
	for _, b := range p {
		n += int(b >> 7)
	}
	return n
}

// plane reads n bytes.
func (r *columnReader) plane(n int) ([]byte, error) {
	if n > cap(r.arena)-len(r.arena) {
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
