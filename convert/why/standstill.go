package why

import (
	"fmt"
	"math"
	"slices"

	"gprof/convert/why/internal/facts"
)

// standstill finds a process in which nothing happens any more, because goroutines wait for each other.
type standstill struct{}

const (
	// stillLeast is how many seconds nothing must have happened, and stillSteps how many steps.
	stillLeast = 0.5
	stillSteps = 3

	// often is the share of steps before in which a marker must have come, to say that it stopped.
	often = 0.8

	// stuckLeast is the least number of goroutines that wait for the same all the time.
	stuckLeast = 0.9
)

func (standstill) About() About {
	return About{
		Name: "standstill", Looks: "markers that came all the time and stopped, and locks and channels at which goroutines wait since",
		Needs:     "markers and waits",
		Threshold: "no marker for 0.5 s and 15 % of the time, after they came in 80 % of it; goroutines that wait for locks or to send all that time, and did not before",
	}
}

func (d standstill) Find(p *Process) []Finding {
	at, name := d.stopped(p)
	if at == 0 {
		return nil
	}
	f := Finding{
		Severity: Likely, Explains: 1, Since: p.since(at),
		Text:     fmt.Sprintf("standstill: nothing has happened for the last %s", took(p.Time.Seconds(at, facts.Steps+1))),
		Evidence: []string{"no marker " + name + " any more, " + p.after(at)},
		More:     p.command(append([]string{"view"}, p.from(at)...)...),
	}
	stuck := d.stuck(p, at)
	if len(stuck) == 0 {
		return nil // idle
	}
	f.Severity = Cause
	f.Text += fmt.Sprintf("; %s wait for a %s in %s", digits(d.waiting(p, stuck[0], at)), stuck[0].Reason, stuck[0].Place)
	for _, s := range stuck[1:min(2, len(stuck))] {
		f.Text += fmt.Sprintf(", %s in %s", digits(d.waiting(p, s, at)), s.Place)
	}
	if by := (lockWaits{}).holder(p, stuck[0], at); stuck[0].Reason == "lock" && by != "" {
		f.Text += "; " + by
	}
	return []Finding{f}
}

// stopped is the step since which no marker came though they came all the time before, and the name of
// the one that came most often.
func (standstill) stopped(p *Process) (at int, name string) {
	last, most := 0, 0.0
	for _, m := range p.Markers {
		steps, seen := 0, 0
		for step := range m.Count {
			if m.Count[step] > 0 {
				last, seen = max(last, step), seen+1
				steps = step
			}
		}
		if float64(seen) >= often*float64(steps) && seen >= stillSteps && m.Count.Total() > most {
			name, most = m.Name, m.Count.Total()
		}
	}
	at = last + 1
	if name == "" || facts.Steps+1-at < stillSteps || p.Time.Seconds(at, facts.Steps+1) < stillLeast {
		return 0, ""
	}
	return at, name
}

// waiting is how many goroutines wait at a site, on average.
func (standstill) waiting(p *Process, s *facts.Site, at int) float64 {
	_, after := s.Around(at)
	return math.Round(after)
}

// stuck are the sites at which goroutines wait for a lock or to send all the time since a step and did not
// before: those of locks first, then those with most goroutines.
func (d standstill) stuck(p *Process, at int) (sites []*facts.Site) {
	for _, reason := range []string{"lock", "channel send"} {
		for _, s := range p.waitsFor(reason) {
			before, after := s.Around(at)
			if after >= stuckLeast && before < after/2 {
				sites = append(sites, s)
			}
		}
	}
	slices.SortStableFunc(sites, func(a, b *facts.Site) int {
		if a.Reason != b.Reason {
			return 0
		}
		return int(d.waiting(p, b, at) - d.waiting(p, a, at))
	})
	return sites
}
