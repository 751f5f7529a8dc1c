package v8

import (
	"gprof/ingest/internal/batches"
	"gprof/stream"
)

// Samples makes rows of the samples of one thread. As in DevTools, a sample stands for the time up to
// the next one:
//
//   - One of a function is a sample, with that as its CPU time.
//   - "(idle)" is no sample: it is a wait of so long, on a track beside that of the thread.
//   - "(garbage collector)" lies upon the functions of the sample before it.
//   - "(root)" is no function.
type Samples struct {
	Tree *Tree

	rows    *batches.Batches
	process stream.ProcessID
	track   stream.TrackID
	idle    stream.TrackID // 0 until there is a wait
	thread  int64

	pending bool // there is a sample whose end is unknown
	at      stream.Time
	stack   stream.StackID
	kind    special
	under   stream.StackID // the functions that a collection interrupts

	Undefined int64 // samples of nodes without a definition
	Backwards int64 // samples that lie before the one before them
}

// NewSamples returns the samples of a thread of a process in t, with a tree of their own. Rows are added to
// rows.
func NewSamples(t *stream.Tables, rows *batches.Batches, process stream.ProcessID, track stream.TrackID, thread int64) *Samples {
	return &Samples{Tree: NewTree(t), rows: rows, process: process, track: track, thread: thread}
}

// Sample is one of a thread.
type Sample struct {
	Node         int64
	At           stream.Time
	Line, Column int32 // where the innermost function was, from 1; 0 unknown
}

// Add adds a sample. The tables are locked.
func (s *Samples) Add(of Sample) {
	at := of.At
	if s.pending && at < s.at {
		s.Backwards++
		at = s.at
	}
	s.End(at)
	stack, kind, ok := s.Tree.stack(of.Node)
	if !ok {
		s.Undefined++
	}
	if kind == ordinary && stack != 0 && of.Line > 0 {
		stack = s.Tree.inLine(stack, of.Line, of.Column)
	}
	if kind == collector && s.under != 0 {
		_, frame := s.Tree.tables.Stacks.At(stack)
		stack = s.Tree.tables.Stacks.Intern(s.under, frame)
	} else if kind != collector {
		s.under = stack
	}
	if kind == idle {
		s.under = 0
	}
	s.pending, s.at, s.stack, s.kind = true, at, stack, kind
}

// End ends the last sample, if it hasn't ended. The tables are locked.
func (s *Samples) End(at stream.Time) {
	if !s.pending {
		return
	}
	s.pending = false
	lasted := int64(max(0, at-s.at))
	if s.kind == idle {
		if lasted > 0 {
			s.wait(lasted)
		}
		return
	}
	b := s.row(stream.Samples, s.track)
	b.Weight, b.CPU = append(b.Weight, 1), append(b.CPU, lasted)
	if s.thread != 0 {
		b.AppendOwner(stream.Owner{Thread: s.thread})
	}
}

// Hits adds the samples of a node whose times are unknown.
func (s *Samples) Hits(id, count int64, at stream.Time) {
	stack, kind, _ := s.Tree.stack(id)
	if kind == idle || count <= 0 {
		return
	}
	s.at, s.stack = at, stack
	b := s.row(stream.Samples, s.track)
	b.Weight, b.CPU = append(b.Weight, count), append(b.CPU, -1)
}

func (s *Samples) wait(lasted int64) {
	if s.idle == 0 {
		tracks := &s.Tree.tables.Tracks
		name := tracks.At(s.track).Name
		s.idle = tracks.Intern(stream.Track{Process: s.process, Name: name + " (idle)", Root: true})
	}
	b := s.row(stream.Waits, s.idle)
	b.Value, b.Number = append(b.Value, lasted), append(b.Number, 1)
}

func (s *Samples) row(kind stream.Kind, track stream.TrackID) *stream.Batch {
	b := s.rows.Row(stream.Series{Process: s.process, Track: track, Kind: kind}, 0, s.at)
	b.Stack = append(b.Stack, s.stack)
	return b
}

// Tell adds to the ledger, under the name of the process there, what was odd.
func (s *Samples) Tell(l *stream.Ledger, process string) {
	tell := func(r stream.Reason, what, where string, n int64) {
		if n > 0 {
			l.Add(stream.Line{Process: process, Reason: r, What: what, Where: where, Count: n})
		}
	}
	tell(stream.ReasonUndefined, "nodes", "samples of them have no stack", s.Undefined)
	tell(stream.ReasonClock, "samples", "before the one before them: they stand at its time", s.Backwards)
	tell(stream.ReasonImpossible, "nodes", "called by themselves", s.Tree.odd)
}
