package why

import (
	"fmt"
	"slices"
	"strings"

	"gprof/convert/why/internal/facts"
)

// lockWaits finds goroutines that queue at a lock.
type lockWaits struct{}

const (
	// queueLeast is how many goroutines must wait at a time on average. One or two do so in any
	// program with a lock on a busy machine.
	queueLeast = 3

	// queueAlways is from how many on it is worth saying without a history to compare with.
	queueAlways = 8

	// queueFactor is how many times as many must wait as before.
	queueFactor = 3
)

func (lockWaits) About() About {
	return About{
		Name: "lock", Looks: "goroutines that wait for locks, where, and what goroutines in the same code do that hold it",
		Needs:     "counters; waits for where",
		Threshold: "3 goroutines at a time, and × 3; 8 without a history: one or two wait in any program whose machine is busy",
		Lacks: func(p *Process) string {
			if p.waitsKnown() || p.Process.Go == "" {
				return ""
			}
			return "what goroutines waited for: there are no waits; GPROF_WAIT_HZ=10 records them"
		},
		EffectOf: []string{"herd", "garbage collection", "CPU throttling", "standstill"},
	}
}

func (d lockWaits) Find(p *Process) []Finding {
	c, ok := d.queue(p)
	if !ok {
		return nil
	}
	f := Finding{Severity: Cause, Explains: 1 - c.Before/c.After, More: p.command("view"),
		Text:     fmt.Sprintf("%s goroutines at a time wait for a lock", digits(c.After)),
		Evidence: []string{fmt.Sprintf("%s before, %s", digits(c.Before), p.after(c.At))}}
	if c.At == 0 {
		f.Severity, f.Explains, f.Evidence = Likely, mostOfIt, []string{"all the time"}
	} else {
		f.Since = p.since(c.At)
	}
	d.blame(p, &f, c)
	if s := p.slows(c.At); s != "" {
		f.Evidence = append(f.Evidence, s)
	}
	return []Finding{f}
}

// queue is how the number of goroutines that wait for locks at a time changed; At is 0 if it was large all the
// time. Where goroutines wait is seen ten times a second, so the runtime's counter, which adds up all waits when
// they are over, may tell a change that they don't.
func (lockWaits) queue(p *Process) (c facts.Change, ok bool) {
	var all, rises []facts.Change
	if p.waitsKnown() {
		sites := sum(p.mutexes())
		rates, known := p.Waits.Rates(&sites)
		all, rises = append(all, p.Time.ChangeOf(rates, known)), append(rises, p.Time.RiseOf(rates, known, queueFactor))
	}
	if total := p.Counter("lock waits"); total != nil {
		rates := total.Rates()
		all, rises = append(all, p.Time.ChangeOf(&rates, &total.Known)), append(rises, p.Time.RiseOf(&rates, &total.Known, queueFactor))
	}
	for _, c := range rises {
		if c.Clear && c.After >= queueLeast {
			return c, true
		}
	}
	for _, c := range all {
		if min(c.Before, c.After) >= queueAlways {
			return facts.Change{After: (c.Before + c.After) / 2}, true
		}
	}
	return c, false
}

// mutexes are the sites at which goroutines wait for a mutex, rather than for a condition or a group.
func (p *Process) mutexes() (sites []*facts.Site) {
	for _, s := range p.waitsFor("lock") {
		if s.Via == "" || isOf(s.Via, "sync.(*Mutex).", "sync.(*RWMutex).", "internal/sync.(*Mutex).", "sync.(*Once).", "sync.(*Map).") {
			sites = append(sites, s)
		}
	}
	return sites
}

// blame names the lock, and what may hold it.
func (d lockWaits) blame(p *Process, f *Finding, c facts.Change) {
	site, more := most(p.mutexes(), c.At)
	if site == nil {
		f.Severity = Likely
		return
	}
	f.Text += " in " + site.Place.String()
	f.Evidence = append(f.Evidence, fmt.Sprintf("%s of them there, in %s", percent(min(1, more/c.After)), short(site.Via)))
	if holder := d.holder(p, site, c.At); holder != "" {
		f.Text += "; " + holder
	}
}

// holder looks for a goroutine that was in the code of the lock's owner and did something else than to
// wait for it: methods of the same type, or functions of the same package.
func (lockWaits) holder(p *Process, lock *facts.Site, at int) string {
	owner := ownerOf(lock.Function)
	other := func(s *facts.Site) bool {
		return s.Reason != "lock" && s.Function != "" && ownerOf(s.Function) == owner
	}
	var best *facts.Site
	var most float64
	for _, s := range slices.Concat(p.Sites(p.Waits), p.Sites(p.CPU)) {
		if r := s.Rise(at); other(s) && r > most {
			best, most = s, r
		}
	}
	if best == nil || most < heldLeast {
		return ""
	}
	doing := "runs"
	if best.Reason != "" {
		doing = "waits for " + reasonOf(best)
	}
	return fmt.Sprintf("%s, which %s, seems to hold it", short(best.Function), doing)
}

// heldLeast is the least share of the time for which a holder must have been seen.
const heldLeast = 0.2

// ownerOf is the type of a method, or the function without the names of what is in it.
func ownerOf(function string) string {
	if i := strings.Index(function, ")."); i >= 0 {
		return function[:i+1]
	}
	slash := strings.LastIndexByte(function, '/') + 1
	dots := strings.SplitN(function[slash:], ".", 3)
	return function[:slash] + strings.Join(dots[:min(2, len(dots))], ".")
}
