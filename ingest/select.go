package ingest

import (
	"cmp"
	"math"
	"slices"

	"gprof/chunks"
	"gprof/decode"
	"gprof/stream"
)

// place puts all processes on one time line and sets aside what has expired.
// What the ledger is told of that is kept for the tables of the source.
func (f *Found) place() {
	if f.placed {
		return
	}
	f.placed = true
	f.joinCopies()
	f.current = newExpiry(f).current(f.Processes, &f.ledger)
}

// Span is from the moment at which the first process began to that of the
// latest event of all. Both are 0 if there are no events.
func (f *Found) Span() (start, end stream.Time) {
	f.place()
	start, end = math.MaxInt64, math.MinInt64
	for _, p := range f.current {
		if last, ok := p.latest(); ok {
			end = max(end, last)
			start = min(start, p.start())
		}
	}
	if start > end {
		return 0, 0
	}
	return start, end
}

// Crash is a process that ended uncleanly.
type Crash struct {
	Instance string
	Title    string
	At       stream.Time // of the last entry that it committed
}

// Crashes are the processes that were killed, crashed or failed, in the order
// in which they ended. One that is still recording is none.
func (f *Found) Crashes() (all []Crash) {
	f.place()
	for _, p := range f.current {
		at, ok := p.latest()
		if !ok || decode.Clean(p.Process) || (p.Alive || p.Snapshot()) && p.Exit == nil {
			continue
		}
		row := decode.Describe(p.Process, p.clock)
		all = append(all, Crash{Instance: p.Name(), Title: row.Title(), At: at})
	}
	slices.SortFunc(all, func(a, b Crash) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Instance, b.Instance)) })
	return all
}

// latest is the moment of the last event of p. It is not ok if there is none.
// Of the chunks only those are read that may hold it.
func (p *Process) latest() (at stream.Time, ok bool) {
	images := slices.Clone(p.Chunks)
	slices.SortStableFunc(images, func(a, b *chunks.Image) int { return cmp.Compare(closed(b), closed(a)) })
	last := uint64(0)
	for i := range images {
		if last > closed(images[i]) {
			break
		}
		_, read := decode.ReadAnchors(p.Process, images[i:i+1])
		last = max(last, read)
	}
	return p.clock.At(last), last != 0
}

// start is when p began to record, as far as that is known.
func (p *Process) start() stream.Time {
	if m, ok := decode.StartOf(p.Process); ok {
		return p.clock.At(m)
	}
	return p.From()
}

// closed is the monotonic time at which a chunk was closed; of one that was not,
// the end of all times.
func closed(im *chunks.Image) uint64 {
	if im.Closed && im.Header.Close.Monotonic != 0 {
		return im.Header.Close.Monotonic
	}
	return math.MaxUint64
}
