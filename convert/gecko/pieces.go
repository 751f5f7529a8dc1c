package gecko

import (
	"strconv"

	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/pipeline"
	"gprof/convert/internal/viewer"
)

// pair is a row of two numbers.
type pair struct{ a, b int32 }

// frameRow is a row of a frame table.
type frameRow struct {
	location int32
	place    viewer.Place
	scripted bool
	window   int64 // 0 unknown
	// Of a frame of a script.
	script       bool
	line, column int32 // 0 unknown
}

// tablePiece is a piece of a table.
type tablePiece[T any] struct{ rows []T }

// writeRows writes rows, each of which appendRow appends. It copies rows.
func writeRows[T any](s *Sink, pool *viewer.Pool[tablePiece[T]], rows []T, appendRow func(dst []byte, row T) []byte) {
	for len(rows) > 0 {
		n := min(len(rows), viewer.MaxRows)
		p := pool.Get()
		p.rows = append(p.rows[:0], rows[:n]...)
		s.out.List(n, pipeline.Numbers, func(dst []byte) []byte {
			for _, row := range p.rows {
				dst = append(appendRow(dst, row), ',')
			}
			pool.Put(p)
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

// appendFrameRow appends a frame. Those that have no more than a category end
// there.
func appendFrameRow(dst []byte, row frameRow) []byte {
	dst = jsontext.AppendUint(append(dst, '['), uint64(row.location))
	dst = strconv.AppendBool(append(dst, ','), row.scripted)
	dst = jsontext.AppendUint(append(dst, ','), uint64(row.place.Category))
	dst = jsontext.AppendUint(append(dst, ','), uint64(row.place.Sub))
	if row.window != 0 || row.script {
		dst = appendKnown(dst, row.window)
	}
	if row.script {
		dst = appendKnown(append(dst, ",null"...), int64(row.line))
		dst = appendKnown(dst, int64(row.column))
	}
	return append(dst, ']')
}

// appendKnown appends a comma and a number, null if it is not known.
func appendKnown(dst []byte, n int64) []byte {
	if n <= 0 {
		return append(dst, ",null"...)
	}
	return jsontext.AppendUint(append(dst, ','), uint64(n))
}
