package gecko

import (
	"strconv"
	"sync"

	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/ordered"
)

// Rows of one list are written in pieces. What depends on the order of rows,
// the numbers of stacks and strings, is decided when a row comes; the rest of
// the work is to write numbers and texts, and any core can do it.

const (
	// handOver is from how many rows on a piece is made on another core. To
	// make less at once costs about as much as to hand it over, and small
	// pieces compress badly.
	handOver = 1024
	// maxRows and maxText bound a piece, and so the memory of those that are in
	// the making: rows, and about how many bytes they become.
	maxRows = 16 << 10
	maxText = 1 << 20
)

// list writes n elements of a list, which piece appends with commas between
// them.
func (s *Sink) list(n int, kind ordered.Kind, piece func(dst []byte) []byte) {
	switch {
	case n == 0:
	case n < handOver:
		s.row = piece(s.row[:0])
		s.out.RawBytes(s.row)
	default:
		s.out.Splice()
		s.pipe.Go(kind, piece)
	}
}

// pool keeps values for pieces to come.
type pool[T any] struct{ free sync.Pool }

func (p *pool[T]) get() *T {
	if v, ok := p.free.Get().(*T); ok {
		return v
	}
	return new(T)
}

func (p *pool[T]) put(v *T) { p.free.Put(v) }

// pair is a row of two numbers.
type pair struct{ a, b int32 }

// pairs is a piece of them.
type pairs struct{ rows []pair }

// writePairs writes rows, each of which appendRow appends. It copies rows.
func (s *Sink) writePairs(rows []pair, appendRow func(dst []byte, row pair) []byte) {
	for len(rows) > 0 {
		n := min(len(rows), maxRows)
		p := s.pairs.get()
		p.rows = append(p.rows[:0], rows[:n]...)
		s.list(n, ordered.Numbers, func(dst []byte) []byte {
			for _, row := range p.rows {
				dst = append(appendRow(dst, row), ',')
			}
			s.pairs.put(p)
			return dst[:len(dst)-1]
		})
		rows = rows[n:]
	}
}

func appendStackRow(dst []byte, row pair) []byte {
	if row.a < 0 {
		dst = append(dst, "[null,"...)
	} else {
		dst = append(strconv.AppendUint(append(dst, '['), uint64(row.a), 10), ',')
	}
	return append(strconv.AppendUint(dst, uint64(row.b), 10), ']')
}

// appendFrameRow appends a frame of a location and a category.
func appendFrameRow(dst []byte, row pair) []byte {
	dst = strconv.AppendUint(append(dst, '['), uint64(row.a), 10)
	dst = strconv.AppendUint(append(dst, ",false,"...), uint64(row.b), 10)
	return append(dst, ",0]"...)
}

// writeTexts writes strings. It keeps the list.
func (s *Sink) writeTexts(list []string) {
	for len(list) > 0 {
		n, size := 0, 0
		for n < len(list) && n < maxRows && size < maxText {
			size += len(list[n])
			n++
		}
		part := list[:n]
		list = list[n:]
		s.list(n, ordered.Text, func(dst []byte) []byte {
			for _, text := range part {
				dst = append(jsontext.AppendString(dst, text), ',')
			}
			return dst[:len(dst)-1]
		})
	}
}
