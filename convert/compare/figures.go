package compare

import (
	"math"

	"gprof/convert/internal/calls"
	"gprof/convert/internal/durations"
)

// used is what a function, or one part of it, used.
type used struct{ share, load Estimate }

// function estimates what the function of that name used by itself and in all.
func (s *sample) function(name string) (f struct{ self, total used }) {
	f.self = s.used(name, func(sum *calls.Sum) calls.Amount { return sum.Self })
	f.total = s.used(name, func(sum *calls.Sum) calls.Amount { return sum.Total })
	return f
}

func (s *sample) used(name string, of func(*calls.Sum) calls.Amount) used {
	var cells []cell
	for _, at := range s.functions[name] {
		p := &s.set.processes[at.process]
		a := of(&p.sums[at.at])
		if v := s.basis.value(p, a); v > 0 {
			cells = append(cells, cell{at.process, v, s.basis.counted(a)})
		}
	}
	sum := s.sum(cells)
	return used{s.share(cells, sum), s.load(cells, sum)}
}

// share is the part of all samples; the whole of them is not random.
func (s *sample) share(cells []cell, sum sum) Estimate {
	rest := 0.0
	if s.all.whole > 0 {
		rest = max(0, 1-sum.whole/s.all.whole)
	}
	return s.ratio(cells, sum, s.all, math.Sqrt(rest)*counting(cells))
}

// load is how much there is of samples in a second of one process.
func (s *sample) load(cells []cell, sum sum) Estimate {
	return s.ratio(cells, sum, s.seconds, counting(cells))
}

// counting is the relative error of having counted that many samples.
func counting(cells []cell) float64 {
	n := 0.0
	for _, c := range cells {
		n += c.counted
	}
	if n == 0 {
		return 0
	}
	return 1 / math.Sqrt(n)
}

// taken is how often something happened, and how long it took.
type taken struct{ count, rate, mean, p50, p99 Estimate }

// marker estimates what the markers of that name say.
func (s *sample) marker(name string) taken {
	var count, took, all []cell
	for _, at := range s.markers[name] {
		m := &s.set.processes[at.process].markers[at.at]
		count = append(count, cell{process: at.process, value: float64(m.Count)})
		took = append(took, cell{process: at.process, value: float64(m.Took.Count)})
		all = append(all, cell{process: at.process, value: float64(m.Took.All) / 1e9})
	}
	n, times := s.sum(count), s.quantiles(name, 0.5, 0.99)
	return taken{s.ratio(count, n, s.count, 0), s.ratio(count, n, s.seconds, 0), s.ratio(took, s.sum(all), s.sum(took), 0), times[0], times[1]}
}

// quantiles estimates, in seconds, how long the markers of that name took.
func (s *sample) quantiles(name string, shares ...float64) []Estimate {
	var all durations.Sum
	var took []cell
	for _, at := range s.markers[name] {
		m := &s.set.processes[at.process].markers[at.at]
		took = append(took, cell{process: at.process, value: float64(m.Took.Count)})
		all.Add(m.Took)
	}
	out, drawn := make([]Estimate, len(shares)), make([][]float64, len(shares))
	if all.Count == 0 {
		for i := range out {
			out[i].none = true
		}
		return out
	}
	counts := newCounts(&all)
	for _, w := range s.weights {
		counts.draw(s, name, w)
		for i, q := range shares {
			if v, ok := counts.quantile(q); ok {
				drawn[i] = append(drawn[i], v)
			}
		}
	}
	for i, q := range shares {
		v := float64(all.Quantile(q)) / 1e9
		out[i] = Estimate{Value: v, Error: max(spread(drawn[i]), v*durations.Precision), freedom: s.freedom(took)}
	}
	return out
}

// counts is how many durations of a draw lie in each bucket, from first on.
type counts struct {
	first, last int32
	weights     []float64
	all         float64
	of          *durations.Sum
}

func newCounts(all *durations.Sum) *counts {
	first, last := all.Buckets[0].Number, all.Buckets[len(all.Buckets)-1].Number
	return &counts{first: first, last: last, weights: make([]float64, last-first+1), of: all}
}

// draw counts those of one draw.
func (c *counts) draw(s *sample, name string, weights []float64) {
	clear(c.weights)
	c.all = 0
	for _, at := range s.markers[name] {
		w := weights[at.process]
		if w == 0 {
			continue
		}
		for _, b := range s.set.processes[at.process].markers[at.at].Took.Buckets {
			c.weights[b.Number-c.first] += w * float64(b.Count)
			c.all += w * float64(b.Count)
		}
	}
}

// quantile is a duration in seconds; there is none in a draw without durations.
func (c *counts) quantile(q float64) (seconds float64, ok bool) {
	if c.all == 0 {
		return 0, false
	}
	below := 0.0
	for i, w := range c.weights {
		if below += w; w > 0 && below >= q*c.all*(1-1e-12) {
			return float64(durations.Middle(int(c.first)+i)) / 1e9, true
		}
	}
	return float64(c.of.Max) / 1e9, true
}
