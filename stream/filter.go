package stream

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// filtered is a source without the rows that a filter does not want.
type filtered struct {
	Source
	filter filter
	rows   []int32
	order  ordering
	left   leftOut
	err    error // of the end; nil before
}

// filter says which rows are wanted.
type filter struct {
	name string // in the ledger
	// keep appends the numbers of the rows of b that are wanted, ascending.
	keep func(b *Batch, rows []int32) []int32
	// end, if set, is told the complete tables. An error ends the source: it
	// says that nothing can be what was asked for.
	end func(t *Tables) error
}

// newFiltered returns a Source of the rows of src that f wants. It is a
// [Progress] if src is, and closes src if it can be closed. At the end the
// ledger is told how much was left out, and Copy that tracks and processes
// without rows are not wanted.
func newFiltered(src Source, f filter) Source {
	return likeSource(&filtered{Source: src, filter: f}, src)
}

// likeSource makes s, which can be closed, a Progress if src is one.
func likeSource(s interface {
	Source
	io.Closer
}, src Source) Source {
	if p, ok := src.(Progress); ok {
		return &progressing{s, s, p}
	}
	return s
}

// progressing is a source that tells the progress of another.
type progressing struct {
	Source
	io.Closer
	of Progress
}

func (p *progressing) Progress() (done, total int64) { return p.of.Progress() }

// Next implements [Source].
func (s *filtered) Next(b *Batch) error {
	for s.err == nil {
		if err := s.Source.Next(b); err != nil {
			if !errors.Is(err, io.EOF) {
				return err
			}
			s.err = s.finish()
			break
		}
		if s.sift(b); b.Len() > 0 {
			return nil
		}
	}
	b.Reset(Series{}, 0)
	return s.err
}

// sift takes the rows out of b that are not wanted.
func (s *filtered) sift(b *Batch) {
	s.rows = s.filter.keep(b, s.rows[:0])
	if len(s.rows) == b.Len() {
		return
	}
	s.left.add(b, s.rows)
	if len(s.rows) == 0 {
		b.Reset(b.Series, 0)
		return
	}
	s.order.order = s.rows
	s.order.permute(b)
}

// finish is the error of the end.
func (s *filtered) finish() error {
	t := s.Tables()
	s.left.tell(t, s.filter.name)
	t.onlyUsed = true
	if s.filter.end != nil && !t.Full() { // else it was not read to its end
		if err := s.filter.end(t); err != nil {
			return err
		}
	}
	return io.EOF
}

// Close implements [io.Closer].
func (s *filtered) Close() error { return closeSource(s.Source) }

func closeSource(src Source) error {
	if c, ok := src.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// leftOut counts what a filter left out.
type leftOut struct{ counts map[leftKey]int64 }

type leftKey struct {
	process ProcessID
	kind    Kind
}

// add counts the rows of b but for those that are kept: of samples, their
// weights.
func (l *leftOut) add(b *Batch, kept []int32) {
	n := int64(b.Len() - len(kept))
	if b.Series.Kind == Samples {
		n = 0
		for _, w := range b.Weight {
			n += w
		}
		for _, i := range kept {
			n -= b.Weight[i]
		}
	}
	if l.counts == nil {
		l.counts = make(map[leftKey]int64)
	}
	l.counts[leftKey{b.Series.Process, b.Series.Kind}] += n
}

// tell adds what was counted to the ledger.
func (l *leftOut) tell(t *Tables, filter string) {
	for k, n := range l.counts {
		t.Ledger.Add(Line{Process: t.Process(k.process).instance(), Reason: ReasonFiltered, What: k.kind.String(), Where: filter, Count: n})
	}
}

// instance is how the ledger names a process.
func (p *Process) instance() string { return fmt.Sprintf("%016x", p.Instance) }

// allRows appends the numbers of all rows of b.
func allRows(b *Batch, rows []int32) []int32 {
	for i := range b.Time {
		rows = append(rows, int32(i))
	}
	return rows
}

// ErrNoMatch says that nothing is what a filter asks for, and what there is.
var ErrNoMatch = errors.New("nothing matches")

// maxListed is how many names an error lists.
const maxListed = 30

// NoMatch is an [ErrNoMatch] that says what was asked for and lists the names
// that there are; it sorts them.
func NoMatch(what string, names []string) error {
	slices.Sort(names)
	names = slices.Compact(names)
	list := ""
	for i, name := range names {
		if i == maxListed {
			list += fmt.Sprintf("\n  and %d more", len(names)-i)
			break
		}
		list += "\n  " + shown(name)
	}
	if len(names) == 0 {
		return fmt.Errorf("%w: %s; there are none at all", ErrNoMatch, what)
	}
	return fmt.Errorf("%w: %s; there are:%s", ErrNoMatch, what, list)
}
