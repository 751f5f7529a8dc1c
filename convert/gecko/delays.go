package gecko

import (
	"strconv"
	"time"

	"gprof/stream"
)

// jankNanos is from which delay on the viewer shows a Jank marker.
const jankNanos = int64(50 * time.Millisecond)

// jankName is the name and the type of these markers. The viewer has its own
// schema for them.
const jankName = "Jank"

// jank is the last delay of a thread. Delays grow while a thread is busy, so
// the last one before they fall tells how long it was.
//
// The viewer would derive the same markers from a column of the samples. But
// delays come when the samples are written, and only for these few intervals
// the column would have to be kept.
type jank struct {
	at    stream.Time
	nanos int64
}

func (s *Sink) delays(b *stream.Batch) {
	for i, at := range b.Time {
		if b.Value[i] < s.thread.jank.nanos {
			s.writeJank()
		}
		s.thread.jank = jank{at, b.Value[i]}
	}
}

// writeJank writes a marker of the last delay, if it was long enough, and
// forgets it.
func (s *Sink) writeJank() {
	j := s.thread.jank
	s.thread.jank = jank{}
	if j.nanos < jankNanos {
		return
	}
	row := strconv.AppendInt(append(s.row[:0], '['), int64(s.thread.strings.intern(jankName)), 10)
	row = s.appendTime(append(row, ','), j.at-stream.Time(j.nanos))
	row = s.appendTime(append(row, ','), j.at)
	s.endRow(append(row, `,1,0,{"type":"`+jankName+`"}`...))
}
