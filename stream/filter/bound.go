package filter

import (
	"strconv"
	"strings"

	"gprof/stream"
)

// Bound is a query about the markers of one event.
type Bound struct {
	bound boundQuery
	event string
}

// Bind binds a query to an event. It is not ok if no marker of the event is called so.
func (q *Query) Bind(e *stream.Event) (b Bound, ok bool) {
	if !q.Name.Match(e.Name) && e.NameArg() < 0 {
		return b, false
	}
	return Bound{fit(q, 0, e), e.Name}, true
}

// Name is the name by which row i of a batch of the event is wanted: its event's if the query names that, else its
// own. It is not ok if the row is called otherwise. Conditions are another matter.
func (b *Bound) Name(batch *stream.Batch, i int) (name string, ok bool) {
	if !b.bound.names(batch, i) {
		return "", false
	}
	if b.bound.own >= 0 {
		return string(batch.Args[b.bound.own].TextAt(i)), true
	}
	return b.event, true
}

// Own is the name of its own that row i of a batch of the event has, if the query does not name the event; nil if it has none.
func (b *Bound) Own(batch *stream.Batch, i int) []byte { return b.bound.ownName(batch, i) }

// Conditions are bits of those conditions on fields that row i fulfils; of a start and its end they are united.
func (b *Bound) Conditions(batch *stream.Batch, i int) uint64 { return b.bound.holds(batch, i) }

// Holds reports whether all conditions on fields are among the bits.
func (b *Bound) Holds(bits uint64) bool { return bits == b.bound.fieldBits() }

// Lasts reports whether a duration in ns fulfils the conditions on it. percentile is the duration that a share of all,
// from 0 to 1, does not exceed; it is asked only if the query has [Query.Percentiles].
func (q *Query) Lasts(ns int64, percentile func(share float64) int64) bool {
	for i := range q.conditions {
		c := &q.conditions[i]
		if c.field != durationField {
			continue
		}
		than := *c
		if c.share > 0 {
			than.value.number = intNumber(percentile(c.share))
		}
		if !than.holdsNumber(intNumber(ns)) {
			return false
		}
	}
	return true
}

// Percentiles are the shares, from 0 to 1, that the query compares the duration with.
func (q *Query) Percentiles() (shares []float64) {
	for i := range q.conditions {
		if share := q.conditions[i].share; share > 0 {
			shares = append(shares, share)
		}
	}
	return shares
}

// Conditional reports whether the query has any condition.
func (q *Query) Conditional() bool { return len(q.conditions) > 0 }

// percentile is the share that the value of a condition names, as p99 does; 0: none.
func (c *condition) percentile() float64 {
	digits, ok := strings.CutPrefix(c.value.text, "p")
	if !ok || c.field != durationField || strings.Trim(digits, "0123456789.") != "" {
		return 0
	}
	switch c.op {
	case opLess, opAtMost, opMore, opAtLeast:
		if p, err := strconv.ParseFloat(digits, 64); err == nil && p > 0 && p <= 100 {
			return p / 100
		}
	}
	return 0
}
