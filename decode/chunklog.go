package decode

import (
	"cmp"
	"slices"

	"gprof/chunks"
	"gprof/stream"
)

// chunkLog is what became of the chunks of p, as headers tell. Each says how many were discarded
// before it was opened, so a discard has the time at which the next chunk was opened, or the process
// ended. It is not known when a chunk was filled that has been discarded since. Chunks that were
// left out, by a slice or for their time, are not in it.
func chunkLog(p *chunks.Process, clock Clock) []stream.ChunkChange {
	total, bytes := p.Discarded()
	l := chunkChanges{total: total, size: bytes / max(1, total)}
	out := make(map[*chunks.Image]bool, len(p.LeftOut))
	for _, im := range p.LeftOut {
		out[im] = true
	}
	all := slices.Concat(p.Chunks, p.LeftOut)
	slices.SortFunc(all, func(a, b *chunks.Image) int {
		return cmp.Or(cmp.Compare(a.Header.Epoch, b.Header.Epoch), cmp.Compare(a.Header.RangeStart, b.Header.RangeStart))
	})
	filled := uint64(0) // epoch of the last one that was, of which there may be more parts
	for _, im := range all {
		h := &im.Header
		n := l.discarded(int64(h.Discarded))
		if out[im] {
			continue
		}
		if h.Open.Monotonic != 0 {
			l.add(-n, l.size, clock.At(h.Open.Monotonic))
		}
		switch bytes := int64(im.End() - h.RangeStart); {
		case !im.Closed || h.Close.Monotonic == 0:
		case filled == h.Epoch:
			l.all[len(l.all)-1].Bytes += bytes
		default:
			l.add(1, bytes, clock.At(h.Close.Monotonic))
			filled = h.Epoch
		}
	}
	if at := ExitTime(p); at != 0 {
		l.add(-l.discarded(total), l.size, clock.At(at))
	}
	slices.SortStableFunc(l.all, func(a, b stream.ChunkChange) int { return cmp.Compare(a.Time, b.Time) })
	return l.all
}

type chunkChanges struct {
	all         []stream.ChunkChange
	total, size int64 // number of the discarded ones, and bytes of one
	told        int64 // discarded ones that were told of
}

// discarded is how many were discarded since the last call, if so many were by now.
func (l *chunkChanges) discarded(byNow int64) int64 {
	before := l.told
	l.told = max(before, min(byNow, l.total))
	return l.told - before
}

func (l *chunkChanges) add(n, size int64, at stream.Time) {
	if n != 0 {
		l.all = append(l.all, stream.ChunkChange{Time: at, Chunks: n, Bytes: n * size})
	}
}
