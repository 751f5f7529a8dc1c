//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package sampler

import (
	"slices"

	"gprof/rawformat"
	"gprof/recorder/internal/dict"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

// write writes a record as [shard.Recording.Sample] does. The ring has the index of the block before the block is committed, so that
// the sample counts once, whenever the process is killed. False: no writer was free.
func (s *Sampler) write(tid int, t *threadState, rec *rawformat.StackRecord) bool {
	track := trackOf(s.host.Recording.Clock(), rec)
	if track.IsUnwanted() || track == nil && !s.wantsRow(rec) {
		t.idle = idleness{} // and do not repeat an earlier sample
		return true
	}
	id := uint32(0)
	if track != nil {
		id = s.host.Recording.TrackID(track)
	}
	stack, pcs := s.intern(rec)
	cpu, rest := s.round(t, rec)
	seen, ok := s.host.Recording.Sample(&shard.Sample{Time: rt.Tick(rec.Time), Thread: uint64(tid), Goroutine: rec.Goroutine, Track: id,
		Stack: stack, PCs: pcs, Period: uint64(s.period), Periods: rec.Periods, CPU: cpu}, t.stacks.Claim)
	if !ok {
		return false
	}
	t.rest = rest
	if !seen.Valid() {
		return true // and counted as lost
	}
	t.idle = idleness{last: seen}
	s.taken++
	if isDeep(rec) {
		s.host.Recording.Lose(rawformat.LostDeep, 1, 0)
	}
	return true
}

// rowCalls is how many outermost calls of a stack say on which row it is, and maxRows how
// many of those are remembered.
const (
	rowCalls = 6
	maxRows  = 4096
)

// wantsRow reports whether a sample of no track is on a row that is recorded.
func (s *Sampler) wantsRow(rec *rawformat.StackRecord) bool {
	if !s.host.Recording.Filters() {
		return true
	}
	calls := s.key(rec)
	calls = calls[max(0, len(calls)-rowCalls):]
	var outer [rowCalls]uintptr
	copy(outer[:], calls)
	wanted, known := s.rows[outer]
	if !known {
		if wanted = s.host.Recording.Wants(dict.Row(places(calls))); s.rows == nil || len(s.rows) >= maxRows {
			s.rows = make(map[[rowCalls]uintptr]bool)
		}
		s.rows[outer] = wanted
	}
	return wanted
}

// round returns the CPU time of a record as blocks have it, plus 1, and what remains for the
// thread's next record: so sums are exact.
func (s *Sampler) round(t *threadState, rec *rawformat.StackRecord) (cpu uint64, rest int64) {
	if rec.CPU == 0 || rec.Periods > 1 {
		return rec.CPU, t.rest
	}
	period, exact := uint64(s.period), max(0, int64(rec.CPU-1)+t.rest)
	rounded := rawformat.BusyTime(period, rawformat.BusyExcess(uint64(exact), period))
	return rounded + 1, exact - int64(rounded)
}

// isDeep reports whether the handler left out callers.
func isDeep(rec *rawformat.StackRecord) bool {
	return slices.Contains(rec.Returns, rawformat.StackCut)
}
