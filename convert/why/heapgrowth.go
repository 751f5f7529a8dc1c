package why

import (
	"fmt"

	"gprof/convert/why/internal/facts"
	"gprof/stream"
	"gprof/stream/wording"
)

// heapGrowth finds a heap that grows without end.
type heapGrowth struct{}

const (
	// heapLeast is the least growth in bytes that matters.
	heapLeast = 16 << 20

	// stillGrowing is the share of the growth that the last third must have. Of a heap that
	// grows evenly it is a third; one that fills up, as a cache that warms, has next to nothing then.
	stillGrowing = 0.15

	// growthFactor is how many times as large it must be than at the beginning.
	growthFactor = 1.5

	// mostFallen is how much of its growth a heap may have lost at the end.
	mostFallen = 0.15
)

func (heapGrowth) About() About {
	return About{
		Name: "heap growth", Looks: "live heap, where its objects were allocated, and the memory limit",
		Needs:     "counters; heap samples for where",
		Threshold: "16 MiB and × 1.5, of which the last third of the time has 15 %: a cache that warms grows first, a leak to the end",
		Lacks: func(p *Process) string {
			switch {
			case p.Counter("heap live") == nil && p.Counter("heap") == nil:
				return "whether the heap grew: there are no counters" + p.advice("; GPROF_COUNTER_HZ=10 records them")
			case !p.Has(stream.Allocations) && p.heapMost() >= heapLeast:
				return "what fills the heap: there are no heap samples; GPROF_HEAP=1s records them each second"
			}
			return ""
		},
	}
}

// heapMost is the largest that the heap was.
func (p *Process) heapMost() float64 {
	for _, name := range []string{"heap live", "heap"} {
		if c := p.Counter(name); c != nil {
			return c.Most
		}
	}
	return 0
}

// growth is how a level grew from the beginning to the end.
type growth struct {
	from, to float64
	share    float64 // of the last third
}

// growthOf returns the growth of a level; not ok unless it grew to the end.
func (p *Process) growthOf(c *facts.Counter) (g growth, ok bool) {
	var known []float64
	for step := range c.Level {
		if c.Known[step] && p.Time.Length(step) > 0 {
			known = append(known, c.Level[step])
		}
	}
	if len(known) < facts.Steps/2 {
		return g, false
	}
	g = growth{from: min(known[0], known[1]), to: c.Last}
	rise := g.to - g.from
	if rise <= 0 || c.Most-c.Last > mostFallen*rise {
		return g, false
	}
	g.share = (g.to - known[len(known)*2/3]) / rise
	return g, g.share >= stillGrowing
}

// liveHeap is the live heap, which the last garbage collection knew. That may be long ago: the heap doubles
// from one to the next. So of what was allocated since as much is taken to be live as of what was
// allocated before.
func (p *Process) liveHeap() *facts.Counter {
	live, cycles, allocated := p.Counter("heap live"), p.Counter("GC cycles"), p.Counter("allocated")
	switch {
	case live == nil:
		return p.Counter("heap")
	case cycles == nil || allocated == nil:
		return live
	}
	last := 0
	for step, n := range cycles.Gained {
		if n > 0 {
			last = step
		}
	}
	before := allocated.Gained.Sum(0, last+1)
	if last < facts.Steps/4 || before <= 0 {
		return live
	}
	kept := min(1, max(0, (live.Last-live.First)/before))
	now := *live
	for step := last + 1; step < len(now.Level); step++ {
		now.Last += kept * allocated.Gained[step]
		now.Level[step], now.Known[step] = now.Last, true
	}
	now.Most = max(now.Most, now.Last)
	return &now
}

func (d heapGrowth) Find(p *Process) []Finding {
	c := p.liveHeap()
	if c == nil {
		return nil
	}
	g, growing := p.growthOf(c)
	rise := g.to - g.from
	if !growing || rise < heapLeast || g.to < growthFactor*g.from {
		return nil
	}
	f := Finding{
		Severity: Likely, Explains: min(1, rise/g.to),
		Text: fmt.Sprintf("the heap grew to the end, from %s to %s", byteCount(g.from), byteCount(g.to)),
		Evidence: []string{fmt.Sprintf("%s a second", byteCount(rise/p.Time.Seconds(0, facts.Steps+1))),
			fmt.Sprintf("%s of it in the last third of the time", percent(g.share))},
		More: p.command("view"),
	}
	d.blame(p, &f)
	d.limit(p, &f)
	if last := p.Process.Heap.Last(); last != nil {
		f.Evidence = append(f.Evidence, "last picture of the heap "+wording.Picture(last, p.Process.End))
		if last.Most > 0 && last.Used > 0 {
			f.Evidence = append(f.Evidence, fmt.Sprintf("%s %s of %s then", last.Limit, byteCount(float64(last.Used)), byteCount(float64(last.Most))))
		}
	}
	if !p.Died() && !p.Alive { // a program that builds something large and ends is healthy
		f.Severity = Note
	}
	return []Finding{f}
}

// mostOfIt is the share from which on one place explains the whole.
const mostOfIt = 0.5

// blame names what was allocated and not freed.
func (heapGrowth) blame(p *Process, f *Finding) {
	all, sites := 0.0, p.Sites(p.Grown)
	var top *facts.Site
	for _, s := range sites {
		all += max(0, s.Sum)
		if top == nil || s.Sum > top.Sum {
			top = s
		}
	}
	if top == nil || top.Sum <= 0 {
		return
	}
	share := top.Sum / all
	f.Text += fmt.Sprintf(": %s was allocated by %s", percent(share)+" of it", top.Place)
	f.Evidence = append(f.Evidence, fmt.Sprintf("%s of objects from there were not freed", byteCount(top.Sum)))
	if share >= mostOfIt {
		f.Severity = Cause
	}
}

// limit compares memory with its limit.
func (heapGrowth) limit(p *Process, f *Finding) {
	limit := float64(p.Process.MemoryLimit)
	if limit == 0 {
		return
	}
	for _, name := range []string{stream.CounterGroupMemory, stream.CounterRSS} {
		if c := p.Counter(name); c != nil {
			f.Evidence = append(f.Evidence, fmt.Sprintf("%s %s of %s", name, byteCount(c.Last), byteCount(limit)))
			f.Explains = max(f.Explains, min(1, c.Last/limit))
			return
		}
	}
}
