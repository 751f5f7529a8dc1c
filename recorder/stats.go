package recorder

import (
	"time"

	"gprof/rawformat"
	"gprof/recorder/internal/rt"
)

// Stats says how a recording is doing.
type Stats struct {
	Recording bool          // false: it is paused, or has ended; Options.Features says what is recorded
	Reach     time.Duration // how far back the recording goes without a part that was discarded
	Begin     uint64        // index of the first byte that is kept; indexes count from 1
	End       uint64        // index behind the last chunk that was handed out
	Held      int64         // bytes of this process' files; new definitions may exceed the limit for a tenth of a second
	Limit     int64         // bytes that all processes of the session may hold
	Discarded uint32        // how many chunks were discarded to make room, ever
	Drops     Drops         // what was not recorded
	Sampler   string        // how CPU samples are taken, or why they are not; as in meta
	Hook      Hook          // calls of Options.AfterRound
	Trouble   error         // an error of the last two seconds, such as a full disk or a removed directory; recording goes on as far as it can
	Err       error         // the error that ended the recording before Stop, see [Recorder.Err]
}

// Stats returns how the recording is doing; the zero Stats for nil. It allocates nothing,
// takes no lock and costs some dozens of loads, so it can be called at every scrape of
// metrics. Directly after Start it waits until the recorder's goroutine has tested the
// sampler, as a rule for less than a millisecond.
func (r *Recorder) Stats() Stats {
	if r == nil {
		return Stats{}
	}
	ring := r.keeper.Ring()
	s := Stats{Recording: r.keeper.IsActive(), Begin: ring.RangeStart(), End: ring.RangeEnd(), Held: ring.Held(), Limit: ring.Limit(),
		Discarded: ring.Discarded(), Drops: r.Drops(), Sampler: r.keeper.Sampler(), Trouble: r.keeper.Trouble(), Err: r.Err()}
	s.Hook.Called, s.Hook.Missed, s.Hook.Panicked = r.keeper.Hooked()
	if oldest := ring.Oldest(); oldest > 0 {
		s.Reach = max(0, time.Duration(r.rec.Clock().Base+uint64(rt.Now())-oldest))
	}
	return s
}

// Hook counts calls of Options.AfterRound.
type Hook struct {
	Called   uint64
	Missed   uint64 // rounds that ended while it was still busy
	Panicked uint64 // calls that panicked
}

// Drops counts what was dropped since the recorder was started, by reason. A marker that is
// dropped is counted before its call returns.
type Drops struct {
	NoChunk    uint64 // no chunk was free
	Busy       uint64 // all writers were taken
	TooBig     uint64 // larger than a block may be
	Dictionary uint64 // the dictionary was full, or could not be written
	Samples    uint64 // CPU samples that could not be taken or stored
	Labels     uint64 // label frames for which there was no room
	Cut        uint64 // files that somebody cut short while they were written; their contents are not counted
	Deep       uint64 // stacks that were cut, see Options.StackDepth
	Times      uint64 // markers whose given times are years away, or end before they begin
}

// Markers is how many markers were dropped.
func (d Drops) Markers() uint64 { return d.NoChunk + d.Busy + d.TooBig + d.Dictionary }

// Drops returns what was dropped so far; the zero Drops for nil. It costs some loads.
func (r *Recorder) Drops() Drops {
	if r == nil {
		return Drops{}
	}
	return Drops{
		NoChunk:    r.rec.Lost(rawformat.LostNoChunk),
		Busy:       r.rec.Lost(rawformat.LostBusy),
		TooBig:     r.rec.Lost(rawformat.LostTooBig),
		Dictionary: r.rec.Lost(rawformat.LostDictionary),
		Samples:    r.rec.Lost(rawformat.LostSamples),
		Labels:     r.rec.Lost(rawformat.LostLabels),
		Cut:        r.rec.Lost(rawformat.LostCut),
		Deep:       r.rec.Lost(rawformat.LostDeep),
		Times:      r.rec.Lost(rawformat.LostTime),
	}
}
