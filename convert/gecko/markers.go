package gecko

import (
	"strconv"
	"sync/atomic"

	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/ordered"
	"gprof/stream"
)

const markerColumns = `{"name":0,"startTime":1,"endTime":2,"phase":3,"category":4,"data":5}`

// beginMarkers ends the list of samples and begins that of markers, unless that
// has been done.
func (s *Sink) beginMarkers() {
	if s.thread.markers {
		return
	}
	s.endTable()
	s.beginTable("markers", markerColumns)
	s.thread.markers = true
}

func (s *Sink) endMarkers() {
	s.writeJank()
	s.endTable()
}

// markerPiece is some markers of one event and thread.
type markerPiece struct {
	typ     *markerType
	start   stream.Time // 0 of the output
	name    int32       // of the event, among the strings of the thread
	cause   []byte      // a marker's stack, up to the stack's number
	lost    *atomic.Int64
	rows    stream.Batch
	stacks  []int32   // by row: number in the thread, -1 none
	numbers [][]int32 // by field, by row: number among the strings; empty for other fields
}

// markers writes the markers of one event.
func (s *Sink) markers(b *stream.Batch) {
	typ := &s.types[b.Series.Event-1]
	name := s.thread.strings.intern(typ.event.Name)
	for from := 0; from < b.Len(); {
		to := s.markersEnd(b, from)
		p := s.markerPieces.get()
		p.typ, p.start, p.name, p.cause, p.lost = typ, s.start, name, s.thread.cause, &s.lostArguments[s.process]
		p.rows.Reset(b.Series, len(b.Args))
		p.rows.AppendRows(b, from, to)
		p.number(&s.thread)
		s.list(to-from, ordered.Text, func(dst []byte) []byte {
			dst = p.appendTo(dst)
			s.markerPieces.put(p)
			return dst
		})
		from = to
	}
}

// rowText and argText are about what a marker and a field of it take without
// the texts of the program.
const (
	rowText = 64
	argText = 24
)

// markersEnd is where the piece ends that begins at row from.
func (s *Sink) markersEnd(b *stream.Batch, from int) int {
	size := 0
	for to := from; to < b.Len(); to++ {
		size += rowText + len(b.Args)*argText
		for k := range b.Args {
			if b.Args[k].TypeAt(to) == stream.Text {
				size += len(b.Args[k].TextAt(to))
			}
		}
		if size >= maxText || to-from == maxRows-1 {
			return to + 1
		}
	}
	return b.Len()
}

// number gives the rows the numbers that the thread counts.
func (p *markerPiece) number(t *thread) {
	for len(p.numbers) < len(p.typ.fields) {
		p.numbers = append(p.numbers, nil)
	}
	for k := range p.numbers {
		p.numbers[k] = p.numbers[k][:0]
	}
	p.stacks = p.stacks[:0]
	for i := range p.rows.Len() {
		for k := range p.typ.fields {
			if f := &p.typ.fields[k]; f.value.counted() {
				p.numbers[k] = append(p.numbers[k], t.internArg(f.value, &p.rows.Args[k], i))
			}
		}
		stack := int32(-1)
		if id := p.rows.Stack[i]; id != 0 {
			stack = t.stack(id)
		}
		p.stacks = append(p.stacks, stack)
	}
}

// appendTo appends all rows, with commas between them.
func (p *markerPiece) appendTo(dst []byte) []byte {
	for i := range p.rows.Len() {
		dst = strconv.AppendUint(append(dst, '['), uint64(p.name), 10)
		dst = p.appendPhase(dst, i)
		dst = strconv.AppendInt(append(dst, ','), int64(p.typ.category), 10)
		dst = append(append(dst, ','), p.typ.head...)
		for k := range p.typ.fields {
			dst = p.appendArg(dst, k, i)
		}
		if p.stacks[i] >= 0 {
			dst = p.appendStack(dst, i)
		}
		dst = append(dst, "}],"...)
	}
	return dst[:len(dst)-1]
}

// appendPhase appends start, end and phase of row i.
func (p *markerPiece) appendPhase(row []byte, i int) []byte {
	at, phase := int64(p.rows.Time[i]-p.start), p.rows.Phase[i]
	row = append(row, ',')
	switch phase {
	case stream.Interval:
		row = append(jsontext.AppendMillis(row, at), ',')
		row = jsontext.AppendMillis(row, at+max(0, p.rows.Duration[i]))
	case stream.PhaseEnd:
		// The viewer takes an end at 0 for none, and none is an error.
		if at == 0 {
			at++
		}
		row = jsontext.AppendMillis(append(row, "null,"...), at)
	default:
		row = append(jsontext.AppendMillis(row, at), ",null"...)
	}
	return append(row, ',', '0'+byte(phase))
}

// appendStack appends the member for a marker's stack: a thread of one sample.
func (p *markerPiece) appendStack(row []byte, i int) []byte {
	row = append(row, p.cause...)
	row = strconv.AppendInt(row, int64(p.stacks[i]), 10)
	row = jsontext.AppendMillis(append(row, ','), int64(p.rows.Time[i]-p.start))
	return append(row, "]]}}"...)
}

// appendCause appends what appendStack writes before the stack's number.
func (s *Sink) appendCause(dst []byte) []byte {
	dst = append(dst, `,"stack":{"name":"SyncProfile","registerTime":null,"unregisterTime":null,"processType":"`+processType+`","tid":`...)
	dst = strconv.AppendInt(dst, s.tid, 10)
	dst = strconv.AppendInt(append(dst, `,"pid":`...), int64(s.of(s.process).OutPid), 10)
	return append(dst, `,"markers":{"schema":`+markerColumns+`,"data":[]},"samples":{"schema":{"stack":0,"time":1},"data":[[`...)
}
