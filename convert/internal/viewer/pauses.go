package viewer

import (
	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// Pauses writes ranges in which nothing was recorded, as elements of a list. A
// range that was open at either end has null there.
type Pauses struct {
	Out   *jsontext.Writer
	Start stream.Time // 0 of the output

	since [3]stream.Time // by reason, if open
	open  [3]bool
}

// pauseReasons are the names of the reasons.
var pauseReasons = [3]string{
	stream.PausedAll:        "profiler-paused",
	stream.PausedSampling:   "sampling-paused",
	stream.PausedCollecting: "collecting",
}

// Rows writes the ranges that end in b. It returns how many rows have a reason
// that nobody knows; these are left out.
func (p *Pauses) Rows(b *stream.Batch) (unknown int64) {
	for i, at := range b.Time {
		reason := b.Value[i]
		if reason < 0 || int(reason) >= len(pauseReasons) {
			unknown++
			continue
		}
		switch b.Phase[i] {
		case stream.PhaseStart: // of two in a row the later one counts
			p.since[reason], p.open[reason] = at, true
		case stream.PhaseEnd:
			p.write(reason, at, true)
		case stream.Interval:
			p.since[reason], p.open[reason] = at, true
			p.write(reason, at+stream.Time(b.Duration[i]), true)
		}
	}
	return unknown
}

// End writes what is still paused.
func (p *Pauses) End() {
	for reason, open := range p.open {
		if open {
			p.write(int64(reason), 0, false)
		}
	}
}

func (p *Pauses) write(reason int64, end stream.Time, ended bool) {
	p.Out.BeginObject()
	moment(p.Out, "startTime", p.since[reason]-p.Start, p.open[reason])
	moment(p.Out, "endTime", end-p.Start, ended)
	member(p.Out, "reason", pauseReasons[reason])
	p.Out.EndObject()
	p.open[reason] = false
}
