//go:build linux && (amd64 || arm64) && !gprof_portable

package recorder

import (
	"slices"

	"gprof/rawformat"
	"gprof/recorder/internal/rt"
)

// write writes a record as a busy block, or as a sample block if it stands for more
// than a period. Which block that is stands in the ring before it is committed: so
// the sample counts once, whenever the process is killed. False: no writer was free.
func (s *sampler) write(k *keeper, tid int, t *sampled, rec *rawformat.StackRecord) bool {
	track := k.trackOf(rec)
	if track.IsUnwanted() {
		t.idle = idleness{} // nor is that repeated
		return true
	}
	row := s.row(k, rec, track)
	at := rt.Tick(rec.Time)
	w := k.acquireAny()
	if w == nil {
		return false
	}
	of := sampledThread{thread: uint64(tid), period: uint64(s.period), goroutine: rec.Goroutine, track: row.track}
	if !k.turnToBusy(w, of, &row, at) {
		return true // and counted
	}
	var b []byte
	if rec.Periods == 1 {
		b = w.busy(at, of.thread, of.goroutine, row.stack)
	} else {
		b = w.sample(at, [...]uint64{of.thread, of.goroutine, uint64(row.track), row.stack, rec.Periods, rec.Periods*of.period + 1, 0})
	}
	t.stacks.Claim(w.chunk.RangeStart() + uint64(w.offset()))
	w.finish(b)
	t.idle = idleness{last: lastSample{at, row.stack, of, w.chunk.Epoch(), w.generation}}
	leave(w)
	k.spent.taken.Add(1)
	if isDeep(rec) {
		k.lose(rawformat.LostDeep, 1, 0)
	}
	return true
}

// isDeep reports whether the handler left out callers.
func isDeep(rec *rawformat.StackRecord) bool {
	return slices.Contains(rec.Returns, rawformat.StackCut)
}

// turnToBusy is turn for a busy block: it states what that builds on, and the stack if
// that has no id yet, in the page that the block will be in.
func (r *recording) turnToBusy(w *shard, of sampledThread, row *sampleRow, at rt.Tick) bool {
	size := uint32(sampleRoom + 2*10*len(row.raw))
	for r.turn(w, size, who{goroutine: w.goroutine, track: w.track}, at) {
		w.sampling(of.track, of.period)
		if len(row.raw) > 0 {
			w.stack(row.raw)
		}
		if w.samePage() {
			return true
		}
	}
	return false
}

// sampling writes a sampling block, if the one before it in the page says something
// else.
func (s *shard) sampling(track uint32, period uint64) {
	is := &s.sampled
	if is.track == track && is.period == period {
		return
	}
	b := rawformat.AppendUint(s.begin(rawformat.KindSampling), uint64(track))
	if is.period == period {
		b = rawformat.AppendUint(b, 0)
	} else {
		b = rawformat.AppendUint(b, period)
	}
	is.track, is.period = track, period
	s.finish(b)
}

// busy is a busy block, not yet finished.
func (s *shard) busy(at rt.Tick, thread, goroutine, stack uint64) []byte {
	is := &s.sampled
	b := s.coarseTime(s.begin(rawformat.KindBusy), at)
	b = rawformat.AppendSint(b, int64(thread-is.thread))
	b = rawformat.AppendSint(b, int64(goroutine-is.goroutine))
	is.thread, is.goroutine = thread, goroutine
	return rawformat.AppendUint(b, stack)
}

// coarseTime appends a C.
func (s *shard) coarseTime(b []byte, now rt.Tick) []byte {
	delta := int64(now-s.last) >> sampleShift
	s.last += rt.Tick(delta << sampleShift)
	return rawformat.AppendSint(b, delta)
}

const sampleShift = 8 // of rawformat.SampleUnit
