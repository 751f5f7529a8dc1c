package recorder

import (
	"time"

	"gprof/rawformat"
	"gprof/recorder/internal/rt"
)

// Stats is how a recording is doing.
type Stats struct {
	Recording bool          // false: paused, or it has ended; what is recorded Options.Features says
	Reach     time.Duration // how far what is kept goes back
	Begin     uint64        // the index of the first byte that is kept; it counts from 1
	End       uint64        // the index behind the last chunk that was handed out
	Held      int64         // bytes of this process' files; new definitions may pass the limit until the keeper's next round
	Limit     int64         // bytes that all processes of the session may hold
	Discarded uint32        // chunks that made way for others, ever
	Drops     Drops         // what never was recorded
	Sampler   string        // how CPU samples are taken, or why they are not; as in meta
	Hook      Hook          // calls of Options.AfterRound
	Trouble   error         // of the last two seconds: the disk is full, say, or the directory was removed; recording goes on as far as it can
	Err       error         // what ended the recording before Stop, see [Recorder.Err]
}

// Stats tells how the recording is doing; for nil the zero Stats. It allocates
// nothing, takes no lock, and costs some dozens of loads: it can be asked with
// each scrape of metrics.
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

// Hook is how often Options.AfterRound was called.
type Hook struct {
	Called   uint64
	Missed   uint64 // rounds at whose end it was still busy with one before
	Panicked uint64 // of the calls
}

// Drops counts what was dropped since the recorder was started, by reason. What
// was dropped is counted before the marker's call returns.
type Drops struct {
	NoChunk    uint64 // no chunk was free
	Busy       uint64 // all writers were taken
	TooBig     uint64 // larger than a block may be
	Dictionary uint64 // the dictionary was full, or could not be written
	Samples    uint64 // CPU samples that could not be taken or stored
	Labels     uint64 // label frames of goroutines for which there was no room
	Cut        uint64 // files that somebody else cut short while they were written; what was in them is not counted
	Deep       uint64 // stacks that are cut, see Options.StackDepth
}

// Markers is how many markers were dropped.
func (d Drops) Markers() uint64 { return d.NoChunk + d.Busy + d.TooBig + d.Dictionary }

// Drops is what was dropped until now; nothing for nil. It costs some loads.
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
	}
}
