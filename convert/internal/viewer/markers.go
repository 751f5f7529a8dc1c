package viewer

import (
	"sync/atomic"

	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// Markers is a piece of the markers of one event and thread. String indexes, which depend on the
// order of rows, are assigned by Take; the rest can be done on any core.
type Markers struct {
	Rows stream.Batch // a copy

	typ     *MarkerType
	start   stream.Time // 0 of the output
	lost    *atomic.Int64
	numbers [][]int32 // string indexes by field, by row; empty for other fields
}

// rowText and argText are the approximate sizes of a marker and a field without the program's
// texts.
const (
	rowText = 64
	argText = 24
)

// PieceEnd is the end of the piece that begins at row from.
func PieceEnd(b *stream.Batch, from int) int {
	size := 0
	for to := from; to < b.Len(); to++ {
		size += rowText + len(b.Args)*argText
		for k := range b.Args {
			if b.Args[k].TypeAt(to).Textual() {
				size += len(b.Args[k].TextAt(to))
			}
		}
		if size >= maxText || to-from == MaxRows-1 {
			return to + 1
		}
	}
	return b.Len()
}

// Take copies rows from to to-1 of b. Strings that the viewer wants by index go to texts. Arguments
// that can't be shown are counted in lost.
func (m *Markers) Take(b *stream.Batch, from, to int, typ *MarkerType, start stream.Time, texts *Texts, lost *atomic.Int64) {
	m.typ, m.start, m.lost = typ, start, lost
	m.Rows.Reset(b.Series, len(b.Args))
	m.Rows.AppendRows(b, from, to)
	for len(m.numbers) < len(typ.fields) {
		m.numbers = append(m.numbers, nil)
	}
	for k := range m.numbers {
		m.numbers[k] = m.numbers[k][:0]
	}
	for i := range m.Rows.Len() {
		for k := range typ.fields {
			if f := &typ.fields[k]; f.value.counted() {
				m.numbers[k] = append(m.numbers[k], texts.internArg(f.value, &m.Rows.Args[f.arg], i))
			}
		}
	}
}

// AppendPayload appends the payload of row i without its closing brace.
func (m *Markers) AppendPayload(dst []byte, i int) []byte {
	head := m.typ.head
	if !m.typ.needs.fulfilled(&m.Rows, i) {
		head = m.typ.plain
	}
	dst = append(dst, head...)
	for k := range m.typ.fields {
		dst = m.appendArg(dst, k, i)
	}
	if of := m.Rows.Owner(i).Goroutine; of != 0 && m.typ.goroutine != nil {
		dst = jsontext.AppendInt(append(dst, m.typ.goroutine.key...), of)
	}
	return dst
}

// AppendNames appends the string indexes of the names of rows from to to-1.
func (m *MarkerType) AppendNames(dst []int32, b *stream.Batch, from, to int, texts *Texts) []int32 {
	common := int32(-1)
	for i := from; i < to; i++ {
		switch {
		case m.name >= 0 && b.Args[m.name].TypeAt(i) == stream.Text:
			dst = append(dst, texts.InternBytes(b.Args[m.name].TextAt(i)))
			continue
		case common < 0:
			common = texts.Intern(m.Event.Name)
		}
		dst = append(dst, common)
	}
	return dst
}

// Times are start and end of row i in ns after start, by its phase.
func Times(b *stream.Batch, i int, start stream.Time) (from, to int64) {
	at := int64(b.Time[i] - start)
	switch b.Phase[i] {
	case stream.Interval:
		return at, at + max(0, b.Duration[i])
	case stream.PhaseEnd:
		// The viewer takes an end at 0 for none, and none is an error.
		if at == 0 {
			at++
		}
	}
	return at, at
}
