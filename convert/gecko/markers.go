package gecko

import (
	"strconv"

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

// markers writes the markers of one event.
func (s *Sink) markers(b *stream.Batch) {
	typ := &s.types[b.Series.Event-1]
	name := s.thread.strings.intern(typ.event.Name)
	for i := range b.Time {
		row := strconv.AppendInt(append(s.row[:0], '['), int64(name), 10)
		row = s.appendPhase(row, b, i)
		row = strconv.AppendInt(append(row, ','), int64(typ.category), 10)
		row = append(append(row, ','), typ.head...)
		for k := range typ.fields {
			row = s.appendArg(row, &typ.fields[k], &b.Args[k], i)
		}
		if b.Stack[i] != 0 {
			row = s.appendStack(row, b.Time[i], b.Stack[i])
		}
		s.endRow(append(row, '}'))
	}
}

// appendPhase appends start, end and phase of row i.
func (s *Sink) appendPhase(row []byte, b *stream.Batch, i int) []byte {
	at, phase := b.Time[i], b.Phase[i]
	row = append(row, ',')
	switch phase {
	case stream.Interval:
		row = append(s.appendTime(row, at), ',')
		row = s.appendTime(row, at+stream.Time(max(0, b.Duration[i])))
	case stream.PhaseEnd:
		// The viewer takes an end at 0 for none, and none is an error.
		if at == s.start {
			at++
		}
		row = s.appendTime(append(row, "null,"...), at)
	default:
		row = append(s.appendTime(row, at), ",null"...)
	}
	return append(row, ',', '0'+byte(phase))
}

// appendStack appends the member for a marker's stack: a thread of one sample.
func (s *Sink) appendStack(row []byte, at stream.Time, stack stream.StackID) []byte {
	row = append(row, s.thread.cause...)
	row = strconv.AppendInt(row, int64(s.thread.stack(stack)), 10)
	row = s.appendTime(append(row, ','), at)
	return append(row, "]]}}"...)
}

// appendCause appends what appendStack writes before the stack's number.
func (s *Sink) appendCause(dst []byte) []byte {
	dst = append(dst, `,"stack":{"name":"SyncProfile","registerTime":null,"unregisterTime":null,"processType":"`+processType+`","tid":`...)
	dst = strconv.AppendInt(dst, s.tid, 10)
	dst = strconv.AppendInt(append(dst, `,"pid":`...), int64(s.of(s.process).OutPid), 10)
	return append(dst, `,"markers":{"schema":`+markerColumns+`,"data":[]},"samples":{"schema":{"stack":0,"time":1},"data":[[`...)
}
