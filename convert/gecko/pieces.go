package gecko

import (
	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/ordered"
	"gprof/convert/internal/viewer"
)

// pair is a row of two numbers.
type pair struct{ a, b int32 }

// pairs is a piece of them.
type pairs struct{ rows []pair }

// writePairs writes rows, each of which appendRow appends. It copies rows.
func (s *Sink) writePairs(rows []pair, appendRow func(dst []byte, row pair) []byte) {
	for len(rows) > 0 {
		n := min(len(rows), viewer.MaxRows)
		p := s.pairs.Get()
		p.rows = append(p.rows[:0], rows[:n]...)
		s.out.List(n, ordered.Numbers, func(dst []byte) []byte {
			for _, row := range p.rows {
				dst = append(appendRow(dst, row), ',')
			}
			s.pairs.Put(p)
			return dst[:len(dst)-1]
		})
		rows = rows[n:]
	}
}

func appendStackRow(dst []byte, row pair) []byte {
	if row.a < 0 {
		dst = append(dst, "[null,"...)
	} else {
		dst = append(jsontext.AppendUint(append(dst, '['), uint64(row.a)), ',')
	}
	return append(jsontext.AppendUint(dst, uint64(row.b)), ']')
}

// packPlace makes one number of the place of a category; both are below 256.
func packPlace(p viewer.Place) int32 { return int32(p.Category<<8 | p.Sub) }

// appendFrameRow appends a frame of a location and a category, see [packPlace].
func appendFrameRow(dst []byte, row pair) []byte {
	dst = jsontext.AppendUint(append(dst, '['), uint64(row.a))
	dst = jsontext.AppendUint(append(dst, ",false,"...), uint64(row.b>>8))
	dst = jsontext.AppendUint(append(dst, ','), uint64(row.b&0xff))
	return append(dst, ']')
}
