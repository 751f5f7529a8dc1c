package why

import (
	"fmt"

	"gprof/convert/why/internal/facts"
)

// logging finds a program that logs far more than it did.
type logging struct{}

const (
	// logLeast is how many log records a second are many.
	logLeast = 100

	// logFactor is how many times as many there must be.
	logFactor = 5

	// logShare is the share of the CPU time that logging must take where log records are not recorded.
	logShare = 0.2
)

// logPackages are packages that log.
var logPackages = []string{"log.", "log/slog.", "go.uber.org/zap", "github.com/rs/zerolog", "github.com/sirupsen/logrus", "github.com/go-kit/log"}

func (logging) About() About {
	return About{
		Name: "logging", Looks: "log records by their text, writes, and the CPU time in packages that log",
		Needs:     "records of log/slog by recorder/logs, or CPU samples and counters",
		Threshold: "100 a second and × 5, for at most × 1.3 as many markers; without log records × 5 writes and 20 % of the CPU time",
	}
}

func (d logging) Find(p *Process) []Finding {
	if len(p.Messages) == 0 {
		return d.writes(p)
	}
	var all facts.Series
	for _, m := range p.Messages {
		for step, n := range m.Count {
			all[step] += n
		}
	}
	rates := p.Time.Rates(&all)
	c := p.Time.RiseOf(&rates, nil, logFactor)
	if !c.Clear || c.After < logLeast {
		return nil
	}
	if work, known := p.work(c.At); known && work > sameWork {
		return nil
	}
	most := p.Messages[0]
	for _, m := range p.Messages {
		if p.rise(&m.Count, c.At) > p.rise(&most.Count, c.At) {
			most = m
		}
	}
	share := min(1, p.rise(&most.Count, c.At)/(c.After-c.Before))
	f := Finding{
		Severity: Likely, Since: p.since(c.At), Explains: share,
		Text:     fmt.Sprintf("it logs %s records a second, %s before; %s of them %q", digits(c.After), digits(c.Before), percent(share), most.Text),
		Evidence: []string{p.after(c.At), "level " + most.Level},
		More:     p.command(append([]string{"top", "--by", "marker"}, p.from(c.At)...)...),
	}
	if share >= mostOfIt {
		f.Severity = Cause
	}
	if cpu := p.shareOf(c.At, logPackages...); cpu > 0 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("logging takes %s of the CPU time", percent(cpu)))
	}
	if s := p.slows(c.At); s != "" {
		f.Evidence = append(f.Evidence, s)
	}
	return []Finding{f}
}

// writes looks at a program whose log records are not recorded.
func (logging) writes(p *Process) []Finding {
	written := p.Counter("written")
	if written == nil {
		return nil
	}
	calls := p.Time.Rates(&written.Number)
	c := p.Time.RiseOf(&calls, &written.Known, logFactor)
	share := p.shareOf(c.At, logPackages...)
	if !c.Clear || c.After < logLeast || share < logShare {
		return nil
	}
	if work, known := p.work(c.At); known && work > sameWork {
		return nil
	}
	site, _ := most(p.sitesThat(p.CPU, func(f string) bool { return isOf(f, logPackages...) }), c.At)
	if site == nil {
		return nil
	}
	return []Finding{{
		Severity: Cause, Since: p.since(c.At), Explains: share,
		Text:     fmt.Sprintf("it logs all the time in %s: %s writes a second, %s before", site.Place, digits(c.After), digits(c.Before)),
		Evidence: []string{p.after(c.At), fmt.Sprintf("logging takes %s of the CPU time", percent(share))},
		More:     p.command(append([]string{"top"}, p.from(c.At)...)...),
	}}
}

// shareOf is the share of the CPU time from a step on of stacks that have functions of some packages.
func (p *Process) shareOf(at int, prefixes ...string) float64 {
	all, part := p.CPU.Sum(nil), facts.Series{}
	for _, s := range p.sitesThat(p.CPU, func(f string) bool { return isOf(f, prefixes...) }) {
		for step, v := range s.Steps {
			part[step] += v
		}
	}
	return ratio(part.Sum(at, len(part)), all.Sum(at, len(all)))
}
