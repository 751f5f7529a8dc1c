package viewer

import (
	"time"

	"gprof/stream"
)

// jankNanos is from which delay on the viewer shows a Jank marker.
const jankNanos = int64(50 * time.Millisecond)

// JankType is the type of these markers: the viewer has its own schema for it, and
// shows what has it in the header of a track.
const JankType = "Jank"

// DelayName is the name of these markers: the viewer's own for a browser, whose event
// loop was late. In a Go program it is the scheduler.
func DelayName(p *stream.Process) string {
	if p.Go != "" {
		return "scheduler delay"
	}
	return JankType
}

// Jank finds the Jank markers in the delays of a thread. Delays grow while a
// thread is busy, so the last one before they fall tells how long it was.
//
// The viewer would derive the same markers from a column of the samples. But
// delays come when the samples are written, and only for these few intervals
// the column would have to be kept.
type Jank struct {
	at    stream.Time
	nanos int64
}

// Rows takes delays, and calls mark for each marker.
func (j *Jank) Rows(b *stream.Batch, mark func(start, end stream.Time)) {
	for i, at := range b.Time {
		if b.Value[i] < j.nanos {
			j.End(mark)
		}
		*j = Jank{at, b.Value[i]}
	}
}

// End calls mark if the last delay was long enough, and forgets it.
func (j *Jank) End(mark func(start, end stream.Time)) {
	last := *j
	*j = Jank{}
	if last.nanos >= jankNanos {
		mark(last.at-stream.Time(last.nanos), last.at)
	}
}
