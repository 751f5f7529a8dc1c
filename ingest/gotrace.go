package ingest

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"

	"gprof/chunks"
	"gprof/ingest/gotrace"
	"gprof/ingest/internal/damage"
	"gprof/stream"
)

// goTraceFormat names Go's execution traces.
const goTraceFormat = "Go execution trace"

// goTrace is an execution trace by itself: of a process that may have no
// recording.
type goTrace struct {
	*gotrace.File
	tracks gotrace.Grouping
	place  func(mono uint64) stream.Time // the clock that it shares with recordings; nil: none
}

func openGoTrace(open Opener) (*goTrace, error) {
	f, err := gotrace.Open(open)
	if f == nil {
		return nil, err
	}
	return &goTrace{File: f}, err
}

// Processes implements [ForeignFile].
func (g *goTrace) Processes() []stream.Process { return []stream.Process{g.Process(g.place)} }

// Source implements [ForeignFile].
func (g *goTrace) Source(t *stream.Tables, ids []stream.ProcessID, shift stream.Time) stream.Source {
	return g.File.Source(t, ids[0], gotrace.Options{Tracks: g.tracks, Place: g.place, Shift: shift})
}

// trimTraces leaves each generation to one of the traces that have it: snapshots
// of a flight recorder overlap. A trace that keeps none is a copy.
func (f *Found) trimTraces() {
	traces := map[*Process]*gotrace.File{}
	for _, p := range f.Processes {
		if p.foreign == nil {
			continue
		}
		if g, ok := p.foreign.file.(*goTrace); ok {
			traces[p] = g.File
		}
	}
	var seen gotrace.Overlap
	copied := map[*Process]bool{}
	for _, p := range slices.SortedFunc(maps.Keys(traces), func(p, q *Process) int { return gotrace.Compare(traces[p], traces[q]) }) {
		if !seen.Trim(traces[p]) {
			copied[p] = true
			f.twice = append(f.twice, p)
		}
	}
	f.Processes = slices.DeleteFunc(f.Processes, func(p *Process) bool { return copied[p] })
}

// group implements grouped.
func (g *goTrace) group(by Grouping) { g.tracks = traceTracks(by) }

// traceTracks is which tracks of a trace belong to those of recordings.
func traceTracks(by Grouping) gotrace.Grouping {
	switch by {
	case ByThread:
		return gotrace.ByThread
	case ByProcessor:
		return gotrace.ByProcessor
	}
	return gotrace.ByRoot
}

// share puts a trace on the monotonic clock that it read with recordings of the
// same boot, whose id no trace tells: real time was as far ahead of it as they
// say. So their order is exact.
func (g *goTrace) share(known []*placed) {
	a, ok := g.Anchor()
	for _, p := range known {
		low, high, _ := p.shared.known(a.Mono)
		if offset := a.Wall - int64(a.Mono); ok && offset >= low-maxSkew && offset <= high+maxSkew {
			g.place = p.clock.At
			return
		}
	}
}

// traceIndexes is from where on the rows of windows of the execution trace have
// their indexes, and windowIndexes how many each of them: no ring comes so far.
const (
	traceIndexes  = 1 << 63
	windowIndexes = 1 << 40
)

// windows returns the sources of the windows of the execution trace that lie
// beside the recording of p, whose id is given.
func (p *Process) windows(t *stream.Tables, id stream.ProcessID, by Grouping) (all []stream.Source) {
	var seen gotrace.Overlap
	for i, w := range p.Traces {
		f, err := gotrace.Open(func() (io.ReadCloser, error) { return p.files.Open(path.Join(p.Dir, w.Name)) })
		if err != nil {
			t.Ledger.Add(p.badWindow(w, err))
		}
		switch {
		case f == nil:
		case !seen.Trim(f):
			t.Ledger.Add(stream.Line{Process: p.Name(), Reason: stream.ReasonDuplicate, What: "execution traces", Where: w.Name, Count: 1, Bytes: w.Size})
		default:
			all = append(all, f.Source(t, id, gotrace.Options{
				Tracks: traceTracks(by), Place: p.clock.At, Beside: true, FirstIndex: traceIndexes + uint64(i)*windowIndexes,
			}))
		}
	}
	return all
}

// badWindow is the line of the ledger for a window that can't be read to its end.
func (p *Process) badWindow(w chunks.Trace, err error) stream.Line {
	reason := stream.ReasonUnreadable
	switch {
	case errors.Is(err, damage.ErrTorn):
		reason = stream.ReasonTorn
	case errors.Is(err, damage.ErrDamaged):
		reason = stream.ReasonDamaged
	}
	return stream.Line{Process: p.Name(), Reason: reason, What: "execution traces", Where: fmt.Sprintf("%s, %v", w.Name, err), Count: 1}
}
