package trigger

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Readings is what conditions are about, as it was lately. Totals grow from the beginning on.
type Readings struct {
	Now time.Duration // since any moment; it never goes back

	CPU        time.Duration // total, of the program
	GC         time.Duration // total, of that
	Processors float64       // that the program may use
	Memory     float64       // share of the limit that is in use; 0 if there is none
	Limit      string        // name of that limit
	Goroutines int64
	Known      bool // the fields above were read now; otherwise nothing is concluded from them
}

// Counted is how many markers, or log records, there were, ever.
type Counted struct {
	All, Over uint64        // all of them, if they are counted; and those for which the condition holds
	Longest   time.Duration // of Over, the longest since the last call
	Flow      uint64        // of one of Over, 0: none
}

// Firing is that a condition held, and that its rule is to act.
type Firing struct {
	Value string // what was seen, for people
	Held  uint64 // how often the condition held since that was told last, and the rule did not act because of Rule.Every
	Flow  uint64 // of the marker that it is about, 0: none
}

// Trigger is a rule at work. It belongs to one goroutine.
type Trigger struct {
	Rule
	// Read is what Slow, Percentile and Log look at.
	Read func() Counted
	// Check is the program's function, as far as its answer is known.
	Check func() bool

	Fired, Held uint64 // ever
	Off         string // why it is switched off; "": it is not

	window  window
	since   time.Duration // when the condition began to hold
	holds   bool
	seen    Counted
	next    time.Duration // when it may act again
	pending uint64        // the part of Held that was not told yet
	quiet   bool          // it acted, and was not held back since
}

// Look says whether the rule is to act now.
func (t *Trigger) Look(r *Readings) (f Firing, fires bool) {
	if t.Off != "" {
		return f, false
	}
	if f, fires = t.holdsNow(r); !fires {
		return f, false
	}
	if r.Now < t.next {
		t.Held++
		t.pending++
		return f, false
	}
	t.Fired++
	t.next = r.Now + t.Every
	f.Held, t.pending, t.quiet = t.pending, 0, true
	return f, true
}

// HeldFirst reports, once after each time that the rule acted, that it is held back.
func (t *Trigger) HeldFirst() bool {
	first := t.quiet && t.pending > 0
	t.quiet = t.quiet && !first
	return first
}

// Pause keeps the rule from acting for so long, at least: what it asks for has failed.
func (t *Trigger) Pause(now, d time.Duration) { t.next = max(t.next, now+d) }

// Rest says that nothing is known of the time until now.
func (t *Trigger) Rest() { t.holds, t.window = false, window{} }

// TakeHeld is how often the rule was held back since a Firing, or the last call, told it.
func (t *Trigger) TakeHeld() (n uint64) {
	n, t.pending = t.pending, 0
	return n
}

// holdsNow reports whether the condition holds, and has held for as long as the rule says.
func (t *Trigger) holdsNow(r *Readings) (f Firing, holds bool) {
	switch t.On {
	case Slow, Log:
		return t.counted()
	case Percentile:
		return t.quantile(r.Now)
	case CPU:
		return t.share(r, float64(r.CPU), float64(r.Now)*r.Processors, 0)
	case GC:
		return t.share(r, float64(r.GC), float64(r.CPU), leastBusy)
	}
	switch {
	case t.On == Own:
		return f, t.held(r.Now, t.Check())
	case !r.Known:
		return f, false
	case t.On == Heap:
		f.Value = percent(r.Memory) + " of " + r.Limit
		return f, t.held(r.Now, r.Memory > t.Share)
	}
	f.Value = strconv.FormatInt(r.Goroutines, 10)
	return f, t.held(r.Now, r.Goroutines > t.Count)
}

// held reports whether a condition has held for long enough. The time begins anew then.
func (t *Trigger) held(now time.Duration, holds bool) bool {
	if !holds {
		t.holds = false
		return false
	}
	if !t.holds {
		t.holds, t.since = true, now
	}
	if now-t.since < t.For {
		return false
	}
	t.since = now
	return true
}

func (t *Trigger) counted() (f Firing, holds bool) {
	c := t.Read()
	n := c.Over - t.seen.Over
	t.seen = c
	f.Flow = c.Flow
	if f.Value = c.Longest.Round(time.Microsecond).String(); t.On == Log {
		f.Value = fmt.Sprintf("records: %d", n)
	}
	return f, n > 0
}

// quantile looks at the markers of the last For, when that is over. That p99 is above a
// duration means that more than a hundredth of them took longer.
func (t *Trigger) quantile(now time.Duration) (f Firing, holds bool) {
	if !t.holds { // the first time
		t.holds, t.since, t.seen = true, now, t.Read()
	}
	if now-t.since < t.For {
		return f, false
	}
	c := t.Read()
	all, over := float64(c.All-t.seen.All), float64(c.Over-t.seen.Over)
	t.since, t.seen = now, c
	f.Value = fmt.Sprintf("%.0f of %.0f took longer, one of them %v", over, all, c.Longest.Round(time.Microsecond))
	f.Flow = c.Flow
	few := math.Ceil(1/(1-t.Quantile) - 1e-6) // with fewer, each would be the slowest hundredth
	return f, all >= few && over > all*(1-t.Quantile)+1e-6
}

// leastBusy is the share of one processor that a program must use for the share of garbage
// collection to mean anything.
const leastBusy = 0.1

// share looks at part by whole over the last For. Of one processor at least busy must be in use.
func (t *Trigger) share(r *Readings, part, whole, busy float64) (f Firing, holds bool) {
	if !r.Known {
		return f, false
	}
	from, full := t.window.move(moment{r.Now, part, whole, float64(r.CPU)}, t.For)
	if !full || whole <= from.whole || float64(r.CPU)-from.cpu < busy*float64(r.Now-from.at) {
		return f, false
	}
	share := (part - from.part) / (whole - from.whole)
	f.Value = percent(share)
	if share <= t.Share {
		return f, false
	}
	t.window = window{} // the time begins anew
	return f, true
}

func percent(share float64) string { return fmt.Sprintf("%.3g %%", 100*min(max(share, 0), 1e6)) }

// window remembers totals of the last while, some moments of it.
type window struct {
	at [moments + 2]moment
	n  int
}

// moments is how many there are in the time that a share is measured over: by so much it may
// be longer than that.
const moments = 8

type moment struct {
	at               time.Duration
	part, whole, cpu float64
}

// move adds a moment, and returns the one that was span ago; full: there is one.
func (w *window) move(now moment, span time.Duration) (from moment, full bool) {
	if w.n == 0 || now.at-w.at[w.n-1].at >= span/moments {
		if w.n == len(w.at) { // rounds come late
			copy(w.at[:], w.at[1:])
			w.n--
		}
		w.at[w.n] = now
		w.n++
	}
	for w.n > 1 && now.at-w.at[1].at >= span {
		copy(w.at[:], w.at[1:w.n])
		w.n--
	}
	return w.at[0], now.at-w.at[0].at >= span
}
