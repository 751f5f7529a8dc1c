//go:build linux && (amd64 || arm64) && !gprof_portable

package sampler

import (
	"slices"

	"gprof/rawformat"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

// write writes a record as [shard.Recording.Sample] does. The ring has the index of the block before the block is committed, so that
// the sample counts once, whenever the process is killed. False: no writer was free.
func (s *Sampler) write(tid int, t *threadState, rec *rawformat.StackRecord) bool {
	track := trackOf(s.host.Recording.Clock(), rec)
	if track.IsUnwanted() {
		t.idle = idleness{} // and do not repeat an earlier sample
		return true
	}
	id := uint32(0)
	if track != nil {
		id = s.host.Recording.TrackID(track)
	}
	stack, pcs := s.intern(rec)
	seen, ok := s.host.Recording.Sample(&shard.Sample{Time: rt.Tick(rec.Time), Thread: uint64(tid), Goroutine: rec.Goroutine, Track: id,
		Stack: stack, PCs: pcs, Period: uint64(s.period), Periods: rec.Periods, CPU: rec.CPU}, t.stacks.Claim)
	if !ok {
		return false
	}
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

// isDeep reports whether the handler left out callers.
func isDeep(rec *rawformat.StackRecord) bool {
	return slices.Contains(rec.Returns, rawformat.StackCut)
}
