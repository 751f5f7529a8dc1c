//go:build linux && (amd64 || arm64) && !gprof_portable

package recorder

import (
	"slices"

	"gprof/rawformat"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

// write writes a record as a busy block, or as a sample block if it stands for more
// than a period. Which block that is stands in the ring before it is committed: so
// the sample counts once, whenever the process is killed. False: no writer was free.
func (s *sampler) write(k *keeper, tid int, t *sampled, rec *rawformat.StackRecord) bool {
	track := trackOf(k.rec.Clock(), rec)
	if track.IsUnwanted() {
		t.idle = idleness{} // nor is that repeated
		return true
	}
	row := s.row(k, rec, track)
	seen, ok := k.rec.Sample(&shard.Sample{Time: rt.Tick(rec.Time), Thread: uint64(tid), Goroutine: rec.Goroutine, Track: row.track,
		Stack: row.stack, PCs: row.raw, Period: uint64(s.period), Periods: rec.Periods}, t.stacks.Claim)
	if !ok {
		return false
	}
	if !seen.IsThere() {
		return true // and counted
	}
	t.idle = idleness{last: seen}
	k.spent.taken.Add(1)
	if isDeep(rec) {
		k.rec.Lose(rawformat.LostDeep, 1, 0)
	}
	return true
}

// isDeep reports whether the handler left out callers.
func isDeep(rec *rawformat.StackRecord) bool {
	return slices.Contains(rec.Returns, rawformat.StackCut)
}
