package why

import (
	"fmt"

	"gprof/convert/why/internal/facts"
)

// goroutineGrowth finds goroutines that begin and never end.
type goroutineGrowth struct{}

const (
	// goroutineLeast is the least growth that matters: a burst of requests has hundreds, too, but ends.
	goroutineLeast = 100

	// goroutineFactor is how many times as many there must be than at the beginning.
	goroutineFactor = 2
)

func (goroutineGrowth) About() About {
	return About{
		Name: "goroutine growth", Looks: "the number of goroutines, and where those wait that became more",
		Needs:     "counters; waits for where",
		Threshold: "100 more and × 2, of which the last third of the time has 15 %: a pool is full at once, a leak never",
		Lacks: func(p *Process) string {
			switch {
			case p.Process.Go == "":
				return ""
			case p.Counter("goroutines") == nil:
				return "how many goroutines there were: there are no counters; GPROF_COUNTER_HZ=10 records them"
			}
			return ""
		},
	}
}

func (d goroutineGrowth) Find(p *Process) []Finding {
	c := p.Counter("goroutines")
	if c == nil {
		return nil
	}
	g, growing := p.growthOf(c)
	rise := g.to - g.from
	if !growing || rise < goroutineLeast || g.to < goroutineFactor*g.from {
		return nil
	}
	f := Finding{
		Severity: Likely, Explains: rise / g.to,
		Text: fmt.Sprintf("goroutines became more to the end, from %s to %s", digits(g.from), digits(g.to)),
		Evidence: []string{fmt.Sprintf("%s a second", digits(rise/p.Time.Seconds(0, facts.Steps+1))),
			fmt.Sprintf("%s of it in the last third of the time", percent(g.share))},
		More: p.command("top", "--by", "track"),
	}
	if site, more := d.most(p); site != nil {
		share := min(1, more/rise)
		f.Text += fmt.Sprintf(": they wait in %s", site.Place)
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s more there for %s", digits(more), reasonOf(site)), "began in "+short(site.Root))
		if share >= mostOfIt {
			f.Severity = Cause
		}
	}
	return []Finding{f}
}

// most is the site at which goroutines became more from the first steps to the last that are known, and by
// how many.
func (goroutineGrowth) most(p *Process) (best *facts.Site, most float64) {
	for _, s := range p.Sites(p.Waits) {
		rates, known := s.Rates()
		var levels []float64
		for step, v := range rates {
			if known[step] {
				levels = append(levels, v)
			}
		}
		if len(levels) < facts.Steps/2 {
			return nil, 0
		}
		if more := levels[len(levels)-1] - levels[0]; more > most {
			best, most = s, more
		}
	}
	return best, most
}

// reasonOf is what is waited for at a site.
func reasonOf(s *facts.Site) string {
	if s.Via == "" {
		return s.Reason
	}
	return s.Reason + " in " + short(s.Via)
}
