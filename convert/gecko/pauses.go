package gecko

import "gprof/stream"

// pauses is the list of ranges in which nothing was recorded. A range that was
// open at either end has null there.
type pauses struct {
	since [3]stream.Time // by reason, if open
	open  [3]bool
}

// pauseReasons are the names of the reasons.
var pauseReasons = [3]string{
	stream.PausedAll:        "profiler-paused",
	stream.PausedSampling:   "sampling-paused",
	stream.PausedCollecting: "collecting",
}

func (p *pauses) begin(s *Sink) {
	s.out.Key("pausedRanges")
	s.out.BeginArray()
}

func (p *pauses) rows(s *Sink, b *stream.Batch) {
	for i, at := range b.Time {
		reason := b.Value[i]
		if reason < 0 || int(reason) >= len(pauseReasons) {
			s.lose("pauses", 1)
			continue
		}
		switch b.Phase[i] {
		case stream.PhaseStart: // of two in a row the later one counts
			p.since[reason], p.open[reason] = at, true
		case stream.PhaseEnd:
			p.write(s, reason, at, true)
		case stream.Interval:
			p.since[reason], p.open[reason] = at, true
			p.write(s, reason, at+stream.Time(b.Duration[i]), true)
		}
	}
}

// end writes what is still paused.
func (p *pauses) end(s *Sink) {
	for reason, open := range p.open {
		if open {
			p.write(s, int64(reason), 0, false)
		}
	}
	s.out.EndArray()
}

func (p *pauses) write(s *Sink, reason int64, end stream.Time, ended bool) {
	s.out.BeginObject()
	s.moment("startTime", p.since[reason], p.open[reason])
	s.moment("endTime", end, ended)
	s.member("reason", pauseReasons[reason])
	s.out.EndObject()
	p.open[reason] = false
}

// moment writes a member that is a time, or null if it is not known.
func (s *Sink) moment(key string, t stream.Time, known bool) {
	s.out.Key(key)
	if known {
		s.out.Fixed(s.ms(t), 6)
	} else {
		s.out.Null()
	}
}
