package why

import (
	"fmt"
	"math"

	"gprof/convert/why/internal/facts"
	"gprof/stream"
)

// starved finds work that is ready and waits for a processor: because others use the machine, or because the
// program may use too few.
type starved struct{}

const (
	// starvedFactor is how many times as long threads must wait for each second that they run.
	starvedFactor = 3

	// starvedLeast is for how many seconds they wait for each that they run: on a machine that is
	// merely busy it is about one.
	starvedLeast = 4

	// starvedSeconds is for how many seconds they must wait in a second.
	starvedSeconds = 0.5

	// starvedWork is how few of its markers must be left for it to matter, where none takes longer.
	starvedWork = 0.4

	// runnableLeast is how many goroutines wait for each processor that the program may use.
	runnableLeast = 3
)

func (starved) About() About {
	return About{
		Name: "starved", Looks: "threads that are ready to run and goroutines that are, and for how long they wait",
		Needs:     "counters",
		Threshold: "threads wait 4 s for each that they run, × 3 as long as before; or 3 goroutines wait for each processor that the program may use, × 3 as many: a machine that is merely busy has about one. Threads that wait are a note unless a marker became slow, or comes × 0.4 as often",
		Elsewhere: true,
		EffectOf:  []string{"version", "CPU throttling", "busy function", "allocations", "garbage collection", "logging", "retries", "herd", "timers"},
	}
}

func (d starved) Find(p *Process) []Finding {
	if f, ok := d.threads(p); ok {
		return []Finding{f}
	}
	if f, ok := d.goroutines(p); ok {
		return []Finding{f}
	}
	return nil
}

// threads looks at threads that the kernel lets wait.
func (starved) threads(p *Process) (f Finding, ok bool) {
	wait, cpu := p.Counter(counterCPUWait), p.Counter(stream.CounterProcessCPU)
	if wait == nil || cpu == nil {
		return f, false
	}
	waits, runs := wait.Rates(), cpu.Rates()
	var each facts.Series
	for step := range each {
		each[step] = waits[step] / math.Max(runs[step], 0.01)
	}
	c := p.Time.RiseOf(&each, &wait.Known, starvedFactor)
	_, waited := wait.Around(c.At)
	if !c.Clear || c.After < starvedLeast || waited < starvedSeconds {
		return f, false
	}
	f = Finding{
		Severity: Note, Since: p.since(c.At), Explains: 1 - 1/(1+c.After),
		Text:     fmt.Sprintf("it gets no processor: its threads wait %s for each second that they run, %s before; others use the machine", took(c.After), took(c.Before)),
		Evidence: []string{p.after(c.At), fmt.Sprintf("%s of waiting in a second", took(waited))},
		More:     p.command(append([]string{"view"}, p.from(c.At)...)...),
	}
	if pressure := p.Counter("CPU pressure"); pressure != nil {
		_, after := pressure.Around(c.At)
		f.Evidence = append(f.Evidence, fmt.Sprintf("CPU pressure of the machine %s", percent(after)))
	}
	if s := p.slows(c.At); s != "" {
		f.Severity = Cause
		f.Evidence = append(f.Evidence, s)
	} else if work, known := p.work(c.At); known && work <= starvedWork {
		f.Severity = Cause
		f.Evidence = append(f.Evidence, fmt.Sprintf("markers come %s as often as before", times(1, work)))
	}
	return f, true
}

// goroutines looks at goroutines that the program's own processors let wait.
func (starved) goroutines(p *Process) (f Finding, ok bool) {
	ready := p.Counter("goroutines runnable")
	if ready == nil {
		return f, false
	}
	c := p.Time.RiseOf(&ready.Level, &ready.Known, starvedFactor)
	cpus := float64(max(1, p.Process.CPUs))
	if !c.Clear || c.After < runnableLeast*cpus {
		return f, false
	}
	f = Finding{
		Severity: Likely, Since: p.since(c.At), Explains: 1 - c.Before/c.After,
		Text:     fmt.Sprintf("too few processors: %s goroutines at a time are ready and wait for one of %s, %s before", digits(c.After), digits(cpus), digits(c.Before)),
		Evidence: []string{p.after(c.At)},
		More:     p.command(append([]string{"top"}, p.from(c.At)...)...),
	}
	if latency := p.Counter("scheduler latency p99"); latency != nil {
		f.Evidence = append(f.Evidence, fmt.Sprintf("one of a hundred waits longer than %s", took(mean(latency, c.At))))
	}
	if site, _ := most(p.Sites(p.CPU), c.At); site != nil && site.Function != "" {
		f.Text += "; most CPU time in addition is in " + site.Place.String()
	}
	if s := p.slows(c.At); s != "" {
		f.Severity = Cause
		f.Evidence = append(f.Evidence, s)
	}
	return f, true
}
