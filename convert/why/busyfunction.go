package why

import (
	"fmt"

	"gprof/convert/why/internal/facts"
	"gprof/stream"
)

// busyFunction finds a function that takes CPU time for which there is no more work to show.
type busyFunction struct{}

const (
	// busyLeast is the least rise of CPU time, in processors.
	busyLeast = 0.25

	// starvedRise is how many times as much CPU time a process may have wanted than it got: on a
	// machine that is busy with others a loop that never ends gets a part of a processor.
	starvedRise = 5

	// busyFactor is how many times as much CPU time the process must take.
	busyFactor = 1.5

	// sameWork is how many times as much work there may be.
	sameWork = 1.3

	// fewCPU is the CPU time, in processors, below which having no samples is no gap: there is
	// nothing to sample.
	fewCPU = 0.05

	// dominant is the share of all CPU time from which on one place is worth a note.
	dominant = 0.6
)

func (busyFunction) About() About {
	return About{
		Name: "busy function", Looks: "CPU time of the process, by where in the program's code it is taken, against how often markers come",
		Needs:     "CPU samples; markers to tell more work from the same",
		Threshold: "0.25 processors and × 1.5 more for at most × 1.3 as many markers, half of it in one place: with more work it would be load, which is only a note",
		Lacks: func(p *Process) string {
			c := p.Counter(stream.CounterProcessCPU)
			if p.Has(stream.Samples) || c != nil && c.Gained.Total() < fewCPU*p.Time.Seconds(0, facts.Steps+1) {
				return ""
			}
			return "what took CPU time: there are no CPU samples (gprof-convert info says why)"
		},
		EffectOf: []string{"version", "heap growth", "page faults", "garbage collection", "timers"},
	}
}

func (d busyFunction) Find(p *Process) []Finding {
	if !p.Has(stream.Samples) {
		return nil
	}
	cpu := p.CPU.Sum(nil)
	rates := p.Time.Rates(&cpu)
	c := p.Time.RiseOf(&rates, nil, busyFactor)
	work, known := p.work(c.At)
	site, more := most(p.Sites(p.CPU), c.At)
	rise := c.After - c.Before
	if !c.Clear || max(rise, min(p.wanted(c.At), starvedRise*rise)) < busyLeast || site == nil || more < mostOfIt*rise {
		return d.dominates(p, &cpu)
	}
	f := Finding{
		Severity: Note, Since: p.since(c.At), Explains: min(1, more/c.After),
		Text:     fmt.Sprintf("%s takes %s processors, %s before", site.Place, digits(more), digits(c.Before)),
		Evidence: []string{fmt.Sprintf("%s of the process' CPU time, %s", percent(min(1, more/c.After)), p.after(c.At))},
		More:     p.command(append([]string{"top"}, p.from(c.At)...)...),
	}
	before, here := site.Around(c.At)
	f.Text = fmt.Sprintf("%s takes %s processors, %s before", site.Place, digits(here), digits(before))
	switch {
	case !known:
		f.Evidence = append(f.Evidence, "no markers tell whether there was more work")
	case work <= sameWork:
		f.Severity = Cause
		f.Evidence = append(f.Evidence, fmt.Sprintf("for %s as many markers", times(1, work)))
	default:
		f.Evidence = append(f.Evidence, fmt.Sprintf("there were %s as many markers", times(1, work)))
	}
	return []Finding{f}
}

// wanted is by how many processors more would have been used from a step on, had there been enough: what
// threads used, and what they waited for.
func (p *Process) wanted(at int) (rise float64) {
	for _, name := range []string{stream.CounterProcessCPU, counterCPUWait} {
		if c := p.Counter(name); c != nil {
			before, after := c.Around(at)
			rise += after - before
		}
	}
	return rise
}

// counterCPUWait is for how long threads were ready to run and waited for a processor.
const counterCPUWait = "CPU wait"

// dominates notes a place that takes most of the CPU time.
func (busyFunction) dominates(p *Process, cpu *facts.Series) []Finding {
	sites := p.Sites(p.CPU)
	all, used := cpu.Total(), 0.0
	if length := p.Time.Seconds(0, facts.Steps+1); length > 0 {
		used = all / length
	}
	if len(sites) == 0 || sites[0].Sum < dominant*all || used < busyLeast || sites[0].Function == "" {
		return nil
	}
	return []Finding{{
		Severity: Note, Explains: sites[0].Sum / all,
		Text:     fmt.Sprintf("%s takes %s of the CPU time", sites[0].Place, percent(sites[0].Sum/all)),
		Evidence: []string{fmt.Sprintf("the process uses %s processors", digits(used))},
		More:     p.command("top"),
	}}
}
