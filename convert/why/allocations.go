package why

import (
	"fmt"
	"strings"

	"gprof/convert/internal/places"
	"gprof/convert/why/internal/facts"
	"gprof/stream"
)

// allocations finds code that allocates far more than it did.
type allocations struct{}

const (
	// allocatedLeast is the least rate in bytes a second that matters: less is collected unnoticed.
	allocatedLeast = 32 << 20

	// allocatedFactor is how many times as much must be allocated.
	allocatedFactor = 4
)

func (allocations) About() About {
	return About{
		Name: "allocations", Looks: "how much is allocated, where, and against how often markers come",
		Needs:     "counters; heap samples or CPU samples for where",
		Threshold: "32 MiB a second and × 4, for at most × 1.3 as many markers: with more work it would be load",
		EffectOf:  []string{"version", "heap growth"},
	}
}

func (d allocations) Find(p *Process) []Finding {
	total := p.Counter("allocated")
	if total == nil {
		return nil
	}
	rates := total.Rates()
	c := p.Time.RiseOf(&rates, &total.Known, allocatedFactor)
	if !c.Clear || c.After < allocatedLeast {
		return nil
	}
	f := Finding{
		Severity: Likely, Since: p.since(c.At), Explains: 1 - c.Before/c.After,
		Text:     fmt.Sprintf("%s a second are allocated, %s before", byteCount(c.After), byteCount(c.Before)),
		Evidence: []string{p.after(c.At)},
		More:     p.command(append([]string{"top"}, p.from(c.At)...)...),
	}
	work, known := p.work(c.At)
	switch {
	case !known:
		f.Severity = Note
		f.Evidence = append(f.Evidence, "no markers tell whether there was more work")
	case work > sameWork:
		f.Severity = Note
		f.Evidence = append(f.Evidence, fmt.Sprintf("there were %s as many markers", times(1, work)))
	default:
		f.Evidence = append(f.Evidence, fmt.Sprintf("for %s as many markers", times(1, work)))
	}
	if where, share := d.where(p, c.At); where != nil {
		f.Text += fmt.Sprintf(", %s of it by %s", percent(share), where.Place)
		if share >= mostOfIt && f.Severity == Likely {
			f.Severity = Cause
		}
	}
	if gc, share := p.collecting(c.At); gc {
		f.Evidence = append(f.Evidence, fmt.Sprintf("garbage collection takes %s of the CPU time", percent(share)))
	}
	return []Finding{f}
}

// where is the place that allocates most from a step on, and its share: by heap samples, else by the CPU time
// that allocating takes.
func (allocations) where(p *Process, at int) (*facts.Site, float64) {
	if site, share := largestRise(p.Sites(p.Made), at); site != nil {
		return site, share
	}
	return largestRise(p.sitesThat(p.CPU, func(f string) bool { return strings.HasPrefix(f, "runtime.mallocgc") }), at)
}

// largestRise is the site that rose most at a step, and its share of all that rose.
func largestRise(sites []*facts.Site, at int) (best *facts.Site, share float64) {
	all := 0.0
	for _, s := range sites {
		if s.Function != "" {
			all += max(0, s.Rise(at))
		}
	}
	best, most := most(sites, at)
	if best == nil || best.Function == "" {
		return nil, 0
	}
	return best, most / all
}

// sitesThat are the sites of the stacks that have a function.
func (p *Process) sitesThat(of *facts.Stacks, has func(function string) bool) []*facts.Site {
	part := of.Part(func(stack stream.StackID) bool { return p.contains(stack, has) })
	return part.Sites(p.tables, p.Process.Module)
}

// contains reports whether a stack has a function.
func (p *Process) contains(stack stream.StackID, has func(function string) bool) (found bool) {
	places.Frames(p.tables, stack, func(function string) bool {
		found = has(function)
		return !found
	})
	return found
}
