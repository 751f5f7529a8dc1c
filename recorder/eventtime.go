package recorder

import (
	"time"

	"gprof/rawformat"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

// The methods here make markers of what happened at another time than now, such as what
// another clock measured or a queue remembered. Times may lie before Start and in the
// future. If a time is more than four years from the start of the program, or an end lies
// before its start, the marker is not recorded, which is counted in [Drops].

// TimeOf is the Time of a moment. It is exact for what time.Now returned in this process,
// and depends on the machine's real time for all others.
func TimeOf(t time.Time) Time { return rt.TimeOf(t) }

// MarkAt records an instant at that time.
func (e Event) MarkAt(at Time) {
	if shard.Current.Load() != nil {
		e.h.Place(rawformat.PhaseInstant, at, at, shard.Arg{}, shard.Arg{}, nil)
	}
}

// StartAt is [Event.Start] at that time.
func (e Event) StartAt(at Time) {
	if shard.Current.Load() != nil {
		e.h.Place(rawformat.PhaseStart, at, at, shard.Arg{}, shard.Arg{}, nil)
	}
}

// EndAt is [Event.End] at that time.
func (e Event) EndAt(at Time) {
	if shard.Current.Load() != nil {
		e.h.Place(rawformat.PhaseEnd, at, at, shard.Arg{}, shard.Arg{}, nil)
	}
}

// Between records an interval from begin to end.
func (e Event) Between(begin, end Time) {
	if shard.Current.Load() != nil {
		e.h.Place(rawformat.PhaseInterval, begin, end, shard.Arg{}, shard.Arg{}, nil)
	}
}

// MarkAt: see [Event.MarkAt].
func (e Event1[A]) MarkAt(at Time, a A) {
	if shard.Current.Load() != nil {
		e.h.Place(rawformat.PhaseInstant, at, at, shard.Pack(a), shard.Arg{}, nil)
	}
}

// StartAt: see [Event.StartAt].
func (e Event1[A]) StartAt(at Time, a A) {
	if shard.Current.Load() != nil {
		e.h.Place(rawformat.PhaseStart, at, at, shard.Pack(a), shard.Arg{}, nil)
	}
}

// EndAt: see [Event.EndAt].
func (e Event1[A]) EndAt(at Time, a A) {
	if shard.Current.Load() != nil {
		e.h.Place(rawformat.PhaseEnd, at, at, shard.Pack(a), shard.Arg{}, nil)
	}
}

// Between: see [Event.Between].
func (e Event1[A]) Between(begin, end Time, a A) {
	if shard.Current.Load() != nil {
		e.h.Place(rawformat.PhaseInterval, begin, end, shard.Pack(a), shard.Arg{}, nil)
	}
}

// MarkAt: see [Event.MarkAt].
func (e Event2[A, B]) MarkAt(at Time, a A, b B) {
	if shard.Current.Load() != nil {
		e.h.Place(rawformat.PhaseInstant, at, at, shard.Pack(a), shard.Pack(b), nil)
	}
}

// StartAt: see [Event.StartAt].
func (e Event2[A, B]) StartAt(at Time, a A, b B) {
	if shard.Current.Load() != nil {
		e.h.Place(rawformat.PhaseStart, at, at, shard.Pack(a), shard.Pack(b), nil)
	}
}

// EndAt: see [Event.EndAt].
func (e Event2[A, B]) EndAt(at Time, a A, b B) {
	if shard.Current.Load() != nil {
		e.h.Place(rawformat.PhaseEnd, at, at, shard.Pack(a), shard.Pack(b), nil)
	}
}

// Between: see [Event.Between].
func (e Event2[A, B]) Between(begin, end Time, a A, b B) {
	if shard.Current.Load() != nil {
		e.h.Place(rawformat.PhaseInterval, begin, end, shard.Pack(a), shard.Pack(b), nil)
	}
}

// MarkAt: see [Event.MarkAt].
func (e Event3[A, B, C]) MarkAt(at Time, a A, b B, c C) {
	if shard.Current.Load() != nil {
		e.h.Place(rawformat.PhaseInstant, at, at, shard.Pack(a), shard.Pack(b), &[2]shard.Arg{shard.Pack(c)})
	}
}

// StartAt: see [Event.StartAt].
func (e Event3[A, B, C]) StartAt(at Time, a A, b B, c C) {
	if shard.Current.Load() != nil {
		e.h.Place(rawformat.PhaseStart, at, at, shard.Pack(a), shard.Pack(b), &[2]shard.Arg{shard.Pack(c)})
	}
}

// EndAt: see [Event.EndAt].
func (e Event3[A, B, C]) EndAt(at Time, a A, b B, c C) {
	if shard.Current.Load() != nil {
		e.h.Place(rawformat.PhaseEnd, at, at, shard.Pack(a), shard.Pack(b), &[2]shard.Arg{shard.Pack(c)})
	}
}

// Between: see [Event.Between].
func (e Event3[A, B, C]) Between(begin, end Time, a A, b B, c C) {
	if shard.Current.Load() != nil {
		e.h.Place(rawformat.PhaseInterval, begin, end, shard.Pack(a), shard.Pack(b), &[2]shard.Arg{shard.Pack(c)})
	}
}

// MarkAt: see [Event.MarkAt].
func (e Event4[A, B, C, D]) MarkAt(at Time, a A, b B, c C, d D) {
	if shard.Current.Load() != nil {
		e.h.Place(rawformat.PhaseInstant, at, at, shard.Pack(a), shard.Pack(b), &[2]shard.Arg{shard.Pack(c), shard.Pack(d)})
	}
}

// StartAt: see [Event.StartAt].
func (e Event4[A, B, C, D]) StartAt(at Time, a A, b B, c C, d D) {
	if shard.Current.Load() != nil {
		e.h.Place(rawformat.PhaseStart, at, at, shard.Pack(a), shard.Pack(b), &[2]shard.Arg{shard.Pack(c), shard.Pack(d)})
	}
}

// EndAt: see [Event.EndAt].
func (e Event4[A, B, C, D]) EndAt(at Time, a A, b B, c C, d D) {
	if shard.Current.Load() != nil {
		e.h.Place(rawformat.PhaseEnd, at, at, shard.Pack(a), shard.Pack(b), &[2]shard.Arg{shard.Pack(c), shard.Pack(d)})
	}
}

// Between: see [Event.Between].
func (e Event4[A, B, C, D]) Between(begin, end Time, a A, b B, c C, d D) {
	if shard.Current.Load() != nil {
		e.h.Place(rawformat.PhaseInterval, begin, end, shard.Pack(a), shard.Pack(b), &[2]shard.Arg{shard.Pack(c), shard.Pack(d)})
	}
}

// MarkAt: see [Event.MarkAt].
func (e EventN) MarkAt(at Time, values ...Arg) {
	if shard.Current.Load() != nil {
		e.h.PlaceN(rawformat.PhaseInstant, at, at, values)
	}
}

// StartAt: see [Event.StartAt].
func (e EventN) StartAt(at Time, values ...Arg) {
	if shard.Current.Load() != nil {
		e.h.PlaceN(rawformat.PhaseStart, at, at, values)
	}
}

// EndAt: see [Event.EndAt].
func (e EventN) EndAt(at Time, values ...Arg) {
	if shard.Current.Load() != nil {
		e.h.PlaceN(rawformat.PhaseEnd, at, at, values)
	}
}

// Between: see [Event.Between].
func (e EventN) Between(begin, end Time, values ...Arg) {
	if shard.Current.Load() != nil {
		e.h.PlaceN(rawformat.PhaseInterval, begin, end, values)
	}
}
