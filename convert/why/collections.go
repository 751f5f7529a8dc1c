package why

import (
	"fmt"
	"math"

	"gprof/convert/why/internal/facts"
	"gprof/stream"
	"gprof/stream/gonames"
)

// collections finds a garbage collector that takes the CPU time, because the heap fills its limit.
type collections struct{}

const (
	// collectingLeast is the share of the CPU time that garbage collection must take. By default it
	// takes up to a quarter of the processors while it works, and works a part of the time.
	collectingLeast = 0.25

	// cyclesLeast is how many collections there must be in a second.
	cyclesLeast = 2

	// gcFactor is how many times as large the share must be as before, in which there must be so many
	// seconds of CPU time: while it starts a program does other things.
	gcFactor = 2
	gcSeen   = 0.1

	// tight is how many times the live heap the goal may be: by default it is twice as large; where a
	// memory limit holds it down it is less.
	tight = 1.3
)

func (collections) About() About {
	return About{
		Name: "garbage collection", Looks: "its share of the CPU time, how often it runs, and how near the live heap is to the goal",
		Needs:     "CPU samples and counters",
		Threshold: "25 % of the CPU time and 2 collections a second; a cause if the goal is below × 1.3 of the live heap: then a memory limit holds it down, as by default the goal is × 2",
		EffectOf:  []string{"allocations"},
	}
}

func (d collections) Find(p *Process) []Finding {
	cycles, live, goal := p.Counter("GC cycles"), p.Counter("heap live"), p.Counter("heap goal")
	if cycles == nil || live == nil || goal == nil || !p.Has(stream.Samples) {
		return nil
	}
	rates := cycles.Rates()
	c := p.Time.ChangeOf(&rates, &cycles.Known)
	at := 0
	if c.Clear && c.After > c.Before {
		at = c.At
	}
	_, often := cycles.Around(at)
	much, share := p.collecting(at)
	if !much || often < cyclesLeast {
		return nil
	}
	f := Finding{
		Severity: Likely, Explains: share, Since: p.since(at),
		Text:     fmt.Sprintf("garbage collection takes %s of the CPU time, %s times a second", percent(share), digits(often)),
		Evidence: []string{p.after(at)},
		More:     p.command(append([]string{"top", "--by", "category"}, p.from(at)...)...),
	}
	if liveNow, goalNow := mean(live, at), mean(goal, at); goalNow > 0 && goalNow < tight*liveNow {
		f.Severity = Cause
		f.Text += fmt.Sprintf(": the live heap, %s, fills the memory limit (GOMEMLIMIT or GOGC), which sets the goal %s", byteCount(liveNow), byteCount(goalNow))
		d.largest(p, &f)
	}
	if f.Severity == Likely && !d.rose(p, at, share) { // it always was so: a program that allocates much
		f.Severity = Note
	}
	if s := p.slows(at); s != "" {
		f.Evidence = append(f.Evidence, s)
	}
	return []Finding{f}
}

// rose reports whether garbage collection takes a larger share from a step on than before.
func (collections) rose(p *Process, at int, share float64) bool {
	gc, all := p.collected(), p.CPU.Sum(nil)
	return all.Sum(0, at) >= gcSeen && share >= gcFactor*ratio(gc.Sum(0, at), all.Sum(0, at))
}

// largest names what most of the heap was allocated by.
func (collections) largest(p *Process, f *Finding) {
	if sites := p.Sites(p.Grown); len(sites) > 0 && sites[0].Sum > 0 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s of it by %s", byteCount(sites[0].Sum), sites[0].Place))
	}
}

// collecting is the share of the CPU time from a step on that garbage collection took, also when it was done
// by goroutines that allocate; much reports whether that is a lot.
func (p *Process) collecting(at int) (much bool, share float64) {
	gc, all := p.collected(), p.CPU.Sum(nil)
	share = ratio(gc.Sum(at, len(gc)), all.Sum(at, len(all)))
	return share >= collectingLeast, share
}

// collected is the CPU time of garbage collection.
func (p *Process) collected() facts.Series {
	return p.CPU.Sum(func(stack stream.StackID) bool {
		return p.contains(stack, func(f string) bool { return gonames.Category(f).Name == "Garbage collection" })
	})
}

// mean is the mean of a level from a step on.
func mean(c *facts.Counter, at int) float64 {
	sum, n := 0.0, 0.0
	for step := at; step < len(c.Level); step++ {
		if c.Known[step] {
			sum, n = sum+c.Level[step], n+1
		}
	}
	return sum / math.Max(1, n)
}
