package why

import (
	"fmt"
	"slices"
	"strings"

	"gprof/convert/why/internal/facts"
)

// herd finds many goroutines that wait at one place and are woken all at once.
type herd struct{}

const (
	// herdLeast is how many must be ready at once, and herdFactor how many for each processor.
	herdLeast  = 100
	herdFactor = 20

	// herdShare is the share of those that wait at the place that must be ready at once.
	herdShare = 0.4

	// herdLatency is for how long one of a hundred then waits for a processor, in seconds.
	herdLatency = 5e-3
)

func (herd) About() About {
	return About{
		Name: "herd", Looks: "moments at which very many goroutines are ready to run, and where as many wait at other times",
		Needs:     "counters and waits",
		Threshold: "100 goroutines ready at once, 20 for each processor, that are 40 % of those that wait at one place, and one of a hundred waits 5 ms to run: a burst of requests has no such place",
		EffectOf:  []string{"timers"},
	}
}

func (d herd) Find(p *Process) []Finding {
	ready, latency := p.Counter("goroutines runnable"), p.Counter("scheduler latency p99")
	if ready == nil || latency == nil {
		return nil
	}
	if f, ok := d.condition(p); ok {
		return []Finding{f}
	}
	if ready.Most < herdLeast || ready.Most < herdFactor*float64(p.Process.CPUs) || latency.Most < herdLatency {
		return nil
	}
	best, usual := d.place(p, func(s *facts.Site) bool { return s.Reason != "system call" })
	if best == nil {
		return nil
	}
	most, moments := d.woken(best, usual, ready)
	if most < herdShare*usual {
		return nil
	}
	return []Finding{{
		Severity: Cause, Explains: min(1, most/usual),
		Text: fmt.Sprintf("%s goroutines that wait in %s are woken all at once", digits(usual), best.Place),
		Evidence: []string{fmt.Sprintf("up to %s are ready at once for %d processors, in %d of %d steps of the time", digits(most), p.Process.CPUs, moments, facts.Steps),
			fmt.Sprintf("then one of a hundred waits %s to run", took(latency.Most)), "they wait for " + reasonOf(best)},
		More: p.command("view"),
	}}
}

// place is where most goroutines wait, of some places, and how many at most; nil if they are few.
func (herd) place(p *Process, fits func(*facts.Site) bool) (best *facts.Site, most float64) {
	for _, s := range p.Sites(p.Waits) {
		rates, _ := s.Rates()
		if usual := slices.Max(rates[:]); fits(s) && usual >= herdLeast && usual > most {
			best, most = s, usual
		}
	}
	return best, most
}

// woken is how many goroutines were ready at once at most, and in how many steps about so many, after they had
// waited: when they begin they are ready, too.
func (herd) woken(s *facts.Site, usual float64, ready *facts.Counter) (most float64, moments int) {
	rates, _ := s.Rates()
	for step := 2; step < len(rates); step++ {
		if slices.Max(rates[1:step]) >= usual/2 {
			most = max(most, ready.Top[step])
		}
	}
	for _, top := range ready.Top {
		if top >= herdShare*most {
			moments++
		}
	}
	return most, moments
}

// condition looks for goroutines that wait for a condition and, as all are woken, queue at its lock.
func (d herd) condition(p *Process) (f Finding, ok bool) {
	waits := p.Counter("lock waits")
	best, usual := d.place(p, func(s *facts.Site) bool { return strings.HasPrefix(s.Via, "sync.(*Cond).Wait") })
	if best == nil || waits == nil {
		return f, false
	}
	queue := waits.Gained.Total() / p.Time.Seconds(0, facts.Steps+1)
	if queue < herdFactor {
		return f, false
	}
	return Finding{
		Severity: Cause, Explains: min(1, queue/usual),
		Text:     fmt.Sprintf("%s goroutines that wait for a condition in %s are woken all at once", digits(usual), best.Place),
		Evidence: []string{fmt.Sprintf("then they queue at its lock: %s at a time, on average", digits(queue))},
		More:     p.command("view"),
	}, true
}
