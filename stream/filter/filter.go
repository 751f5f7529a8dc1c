// Package filter has Sources that leave out some of the events of another: by time,
// by track, by category, or to what happened during certain markers.
package filter

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"unicode/utf8"

	"gprof/stream"
	"gprof/stream/wording"
)

// filterSource is a source without the rows that a filter leaves out.
type filterSource struct {
	stream.Wrapper
	rule  rule
	rows  []int32
	spare stream.Batch
	left  dropCounts
	err   error // of the end; nil before
}

// rule says which rows are kept.
type rule struct {
	name string // in the ledger
	// keep appends the numbers of the rows of b to keep, in ascending order.
	keep func(b *stream.Batch, rows []int32) []int32
	// end, if set, is called with the complete tables. Its error ends the source, and
	// says that nothing can match.
	end func(t *stream.Tables) error
}

// newFilter returns a Source of the rows of src that r keeps. At the end it notes in the
// ledger how much was left out, and tells Copy to drop tracks and processes without rows.
func newFilter(src stream.Source, r rule) stream.Source {
	return &filterSource{Wrapper: stream.Wrapper{Source: src}, rule: r}
}

// Next implements [Source].
func (s *filterSource) Next(b *stream.Batch) error {
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
	b.Reset(stream.Series{}, 0)
	return s.err
}

// sift removes the rows of b that are not kept.
func (s *filterSource) sift(b *stream.Batch) {
	s.rows = s.rule.keep(b, s.rows[:0])
	if len(s.rows) == b.Len() {
		return
	}
	s.left.add(b, s.rows)
	if len(s.rows) == 0 {
		b.Reset(b.Series, 0)
		return
	}
	b.Select(s.rows, &s.spare)
}

// finish returns the error for the end.
func (s *filterSource) finish() error {
	t := s.Tables()
	s.left.tell(t, s.rule.name)
	t.DropUnused()
	if s.rule.end != nil && !t.Full() { // if full it was not read to its end
		if err := s.rule.end(t); err != nil {
			return err
		}
	}
	return io.EOF
}

// dropCounts counts what a filter left out.
type dropCounts struct{ counts map[dropKey]int64 }

type dropKey struct {
	process stream.ProcessID
	kind    stream.Kind
}

// add counts the rows of b that are not kept, samples by their weights.
func (l *dropCounts) add(b *stream.Batch, kept []int32) {
	n := int64(b.Len() - len(kept))
	if b.Series.Kind == stream.Samples {
		n = 0
		for _, w := range b.Weight {
			n += w
		}
		for _, i := range kept {
			n -= b.Weight[i]
		}
	}
	if l.counts == nil {
		l.counts = make(map[dropKey]int64)
	}
	l.counts[dropKey{b.Series.Process, b.Series.Kind}] += n
}

// tell adds the counts to the ledger.
func (l *dropCounts) tell(t *stream.Tables, filter string) {
	for k, n := range l.counts {
		t.Ledger.Add(stream.Line{Process: t.Process(k.process).InstanceName(), Reason: stream.ReasonFiltered, What: k.kind.String(), Where: filter, Count: n})
	}
}

// allRows appends the numbers of all rows of b.
func allRows(b *stream.Batch, rows []int32) []int32 {
	for i := range b.Time {
		rows = append(rows, int32(i))
	}
	return rows
}

// choice is whether something matches, if that was asked already.
type choice uint8

const (
	unasked choice = iota
	yes
	no
)

func chosen(match bool) choice {
	if match {
		return yes
	}
	return no
}

// grown is list, extended to index i.
func grown(list []choice, i int) []choice {
	if i >= len(list) {
		list = append(list, make([]choice, i+1-len(list))...)
	}
	return list
}

// ErrNoMatch says that nothing matches a filter, and what there is.
var ErrNoMatch = errors.New("nothing matches")

// maxListed is how many names an error lists.
const maxListed = 30

// Names are names that there are, for [NoMatch].
type Names map[string]bool

// maxNames is how many names of their own markers may add to Names.
const maxNames = 1000

// Add adds a name of a marker's own, unless it is empty or they are too many.
func (n Names) Add(own []byte) {
	if len(own) > 0 && len(n) < maxNames && !n[string(own)] {
		n[string(own)] = true
	}
}

// List is all of them, in no order.
func (n Names) List() []string { return slices.Collect(maps.Keys(n)) }

// NoMatch returns an [ErrNoMatch] that says what was asked for and lists the names that
// there are; it sorts them.
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

// maxShown is how many characters of a name an error shows.
const maxShown = 200

// shown is a name in the list of an error.
func shown(name string) string {
	if name == "" {
		return "(no name)"
	}
	name = wording.Printable(name)
	if utf8.RuneCountInString(name) > maxShown {
		name = string([]rune(name)[:maxShown]) + "…"
	}
	return name
}
