package pack

import (
	"encoding/binary"
	"slices"
)

// Row is numbers that are stored side by side, for rows that are read a few at a time: so those of one are in one place in
// memory, and not in one of each column. Rows are
//
//	heads    of each number: base and width as those of a column
//	values   of each row its numbers, as those of a column
type Row [8]uint64

// AppendRows encodes 1 to MaxRows rows.
func AppendRows(dst []byte, rows []Row) []byte {
	base := rows[0]
	var apart, signs Row
	for i := range rows {
		for k, v := range &rows[i] {
			d := int64(v - base[k])
			apart[k] |= uint64(unsigned(d))
			signs[k] |= uint64(d)
		}
	}
	var at [len(base)]int
	stride := 0
	for k := range base {
		size := 0
		base[k], size = spanOf(base[k], apart[k], int64(signs[k]))
		width := widthOf(size)
		dst = append(binary.AppendVarint(dst, int64(base[k])), byte(width))
		at[k] = stride
		stride += width
	}
	end := len(dst) + stride*len(rows)
	dst = slices.Grow(dst, stride*len(rows)+Slack)
	out := dst[len(dst) : end+Slack]
	for i := range rows {
		for k, v := range &rows[i] { // what spills over is written after it
			binary.LittleEndian.PutUint64(out[at[k]:], v-base[k])
		}
		out = out[stride:]
	}
	return dst[:end]
}

// Rows are encoded rows that are read in any order.
type Rows struct {
	base, mask Row
	at         [len(Row{})]int
	stride, n  int
	data       []byte // with slack
}

// Rows reads n rows, of which nothing is decoded yet: they are valid as long as the data. Of invalid data there are none.
func (r *Reader) Rows(n int) (rows Rows) {
	for k := range rows.base {
		rows.base[k] = r.signed()
		width := r.AtMost(8)
		rows.mask[k] = ^uint64(0) >> (64 - 8*width)
		rows.at[k] = rows.stride
		rows.stride += int(width)
	}
	size := rows.stride * n
	if size > r.Left() {
		r.Fail()
	}
	if r.bad {
		return Rows{}
	}
	rows.n, rows.data = n, r.data[:size+Slack]
	r.data = r.data[size:]
	return rows
}

// Read decodes row i.
func (r *Rows) Read(i int, to *Row) {
	row := r.data[i*r.stride:]
	for k := range to {
		to[k] = r.base[k] + binary.LittleEndian.Uint64(row[r.at[k]:])&r.mask[k]
	}
}
