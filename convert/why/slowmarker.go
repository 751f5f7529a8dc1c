package why

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gprof/convert/why/internal/facts"
	"gprof/stream"
)

// slowMarker finds markers that take longer than they did.
type slowMarker struct{}

const (
	// slowFactor is how many times as long a marker must take: means of a healthy program on a busy
	// machine differ by a factor of two.
	slowFactor = 3

	// slowLeast is the least that a marker must take to matter, in seconds.
	slowLeast = 1e-3
)

func (slowMarker) About() About {
	return About{
		Name: "slow marker", Looks: "how long markers take, against their own history",
		Needs:     "intervals",
		Threshold: "mean × 3, at least 1 ms: on a busy machine a factor of 2 is chance",
		Lacks: func(p *Process) string {
			if slices.ContainsFunc(p.Markers, func(m *facts.Marker) bool { return m.Timed.Total() > 0 }) {
				return ""
			}
			return "whether requests became slower: no marker has a duration" + p.advice("; make each request an interval (docs/embed.md)")
		},
		EffectOf: []string{"version", "heap growth", "goroutine growth", "open files", "CPU throttling", "standstill", "lock", "retries", "logging", "herd", "allocations", "garbage collection",
			"timers", "busy function", "page faults", "slow files", "slow dependency", "slow hand-over", "starved"},
	}
}

// slowed is a marker that takes longer from a step on.
type slowed struct {
	*facts.Marker
	facts.Change         // of its mean
	extra        float64 // by how many more of them are in progress at a time
}

// slowed are the markers that take longer than they did, those of which most more are in progress first.
func (p *Process) slowed() []slowed {
	if p.looked {
		return p.slow
	}
	p.looked = true
	for _, m := range p.Markers {
		mean, known := facts.Series{}, [facts.Steps + 1]bool{}
		for step := range mean {
			if known[step] = m.Timed[step] > 0; known[step] {
				mean[step] = m.Took[step] / m.Timed[step]
			}
		}
		c := p.Time.RiseOf(&mean, &known, slowFactor)
		if c.Clear && c.After >= slowLeast && m.Timed.Sum(0, c.At) >= fewMarkers {
			p.slow = append(p.slow, slowed{m, c, p.rise(&m.Within, c.At)})
		}
	}
	slices.SortStableFunc(p.slow, func(a, b slowed) int { return cmp.Compare(b.extra, a.extra) })
	return p.slow
}

func (slowMarker) Find(p *Process) (found []Finding) {
	for _, m := range p.slowed()[:min(1, len(p.slowed()))] {
		f := Finding{
			Severity: Likely, Since: p.since(m.At), Explains: min(1, max(0, m.extra)),
			Text:     fmt.Sprintf("%s takes %s, %s before (%s)", m.Name, took(m.After), took(m.Before), times(m.Before, m.After)),
			Evidence: []string{p.after(m.At), fmt.Sprintf("longest %s", took(largest(m.Longest[m.At:])))},
			More:     p.command("slow", m.query()),
		}
		if rest := len(p.slow) - 1; rest > 0 {
			f.Evidence = append(f.Evidence, fmt.Sprintf("%d other markers as well", rest))
		}
		if ids := m.traces(); len(ids) > 0 {
			f.Evidence = append(f.Evidence, "slowest traces "+strings.Join(ids, ", "))
		}
		found = append(found, f)
	}
	return found
}

// query chooses those that take longer than they did, for gprof-convert slow.
func (m *slowed) query() string {
	name := m.Name
	if strings.ContainsAny(name, "[\"") || strings.TrimSpace(name) != name {
		name = strconv.Quote(name)
	}
	between := time.Duration(1e9 * math.Sqrt(max(m.Before, 1e-9)*m.After))
	return fmt.Sprintf("%s[duration>%v]", name, between.Round(time.Microsecond))
}

// traces are the slowest of them that are part of a trace.
func (m *slowed) traces() (ids []string) {
	for _, x := range m.Slowest {
		if x.Of != (stream.Span{}) {
			ids = append(ids, fmt.Sprintf("%s (%s)", x.Of.TraceText(), took(float64(x.Took)/1e9)))
		}
	}
	return ids
}

func largest(values []float64) float64 { return slices.Max(values) }

// slows says which marker became slower at about a step, as evidence; "" if none did.
func (p *Process) slows(at int) string {
	for _, m := range p.slowed() {
		if abs(m.At-at) <= 2 {
			return fmt.Sprintf("%s takes %s instead of %s", m.Name, took(m.After), took(m.Before))
		}
	}
	return ""
}

func abs(n int) int { return max(n, -n) }

// kindIsKnown reports whether waits were recorded.
func (p *Process) waitsKnown() bool { return p.Has(stream.Waits) }
