package why

import (
	"slices"
	"strings"
	"time"

	"gprof/convert/why/internal/facts"
	"gprof/stream"
	"gprof/stream/wording"
)

// Process is one process with what is known of it.
type Process struct {
	*facts.Facts
	Alive bool // it is not known to have ended

	tables *stream.Tables
	sites  map[*facts.Stacks][]*facts.Site
	slow   []slowed
	looked bool // slow is known
}

// Title names the process for people.
func (p *Process) Title() string { return wording.Printable(p.Process.Title()) }

// Died reports whether the process ended in another way than in order. It may also have been killed on
// purpose.
func (p *Process) Died() bool {
	e := p.Process.Exit
	return !p.Alive && (!e.Known || e.Failed())
}

// advice is what to record, if the process is one of those that can: a Go program.
func (p *Process) advice(text string) string {
	if p.Process.Go == "" {
		return ""
	}
	return text
}

// Sites are the places of stacks, those with most first.
func (p *Process) Sites(s *facts.Stacks) []*facts.Site {
	if p.sites[s] == nil {
		p.sites[s] = s.Sites(p.tables, p.Process.Module)
	}
	return p.sites[s]
}

// Sites of waits for one of some reasons.
func (p *Process) waitsFor(reasons ...string) (sites []*facts.Site) {
	for _, s := range p.Sites(p.Waits) {
		if slices.Contains(reasons, s.Reason) {
			sites = append(sites, s)
		}
	}
	return sites
}

// sum adds up sites.
func sum(sites []*facts.Site) (all facts.Series) {
	for _, s := range sites {
		for step, v := range s.Steps {
			all[step] += v
		}
	}
	return all
}

// rise is by how much a second of the steps from one on has more than one of those before.
func (p *Process) rise(s *facts.Series, at int) float64 {
	before, after := p.around(s, at)
	return after - before
}

// around is what a second has before and from a step on.
func (p *Process) around(s *facts.Series, at int) (before, after float64) {
	return ratio(s.Sum(0, at), p.Time.Seconds(0, at)), ratio(s.Sum(at, len(s)), p.Time.Seconds(at, len(s)))
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// most is the site whose value in a second rose most at a step, and by how much.
func most(sites []*facts.Site, at int) (best *facts.Site, rise float64) {
	for _, s := range sites {
		if r := s.Rise(at); r > rise {
			best, rise = s, r
		}
	}
	return best, rise
}

// work is how many times as often markers came from a step on than before: the median of those that
// came often. Not ok if there are none.
func (p *Process) work(at int) (factor float64, ok bool) {
	var all []float64
	for _, m := range p.Markers {
		before, after := p.around(&m.Count, at)
		if m.Count.Sum(0, at) >= fewMarkers {
			all = append(all, after/before)
		}
	}
	if len(all) == 0 {
		return 0, false
	}
	slices.Sort(all)
	return all[len(all)/2], true
}

// fewMarkers is how many markers of a name there must be to tell how often they come.
const fewMarkers = 10

// when is when a step begins, for --from.
func (p *Process) when(step int) stream.Time { return p.Time.Begin(step) }

// moment is a time as a flag takes it.
func moment(t stream.Time) string {
	return time.Unix(0, int64(t)).UTC().Format("2006-01-02T15:04:05.000Z")
}

// from are the arguments that show what happened from a step on.
func (p *Process) from(step int) []string { return []string{"--from", moment(p.when(step))} }

// since is when a step begins, for a finding: 0 if it was so from the beginning.
func (p *Process) since(step int) int64 {
	if step <= 1 && p.Time.Begin(step) <= p.Time.From {
		return 0
	}
	return int64(p.when(step))
}

// after says how long after the beginning a step is.
func (p *Process) after(step int) string {
	if p.since(step) == 0 {
		return "from the beginning"
	}
	return "since +" + took(time.Duration(p.when(step)-p.Time.From).Seconds())
}

// command are arguments of gprof-convert, about this process where there are several.
func (p *Process) command(args ...string) []string {
	if len(p.tables.Processes) > 1 {
		args = append(args, "--process", p.Process.InstanceName())
	}
	return args
}

// isOf reports whether a function belongs to one of some packages or receivers.
func isOf(function string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(function, prefix) })
}
