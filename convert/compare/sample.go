package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gprof/convert/internal/calls"
	"gprof/convert/internal/durations"
)

// draws is how many times the processes of a set are drawn anew: the error of an
// error is then 3 %.
const draws = 500

// sample is the processes of a set, and the weights of bootstrap draws.
type sample struct {
	set     *Set
	basis   basis
	stratum []int       // by process
	sizes   []int       // of strata
	weights [][]float64 // by process, by draw

	seconds, all, count parts // of time, of samples, of processes

	functions map[string][]place
	markers   map[string][]place
}

// place is where a process has something: which of its sums or markers.
type place struct{ process, at int }

// sum is what some cells add up to: in all, and in each draw.
type sum struct {
	whole float64
	drawn []float64
}

// parts are cells with their sum.
type parts struct {
	cells []cell
	sum
}

// cell is what a process adds to a figure.
type cell struct {
	process int
	value   float64
	counted float64 // samples behind it, 0 if it is not sampled
}

// newSample draws the processes of a set.
func newSample(set *Set, basis basis, seed, stream uint64) *sample {
	s := &sample{set: set, basis: basis, functions: map[string][]place{}, markers: map[string][]place{}}
	s.stratify()
	s.draw(rand.New(rand.NewPCG(seed, stream)))
	s.all = s.parts(s.cells(func(p *process) cell {
		return cell{value: s.basis.value(p, p.all), counted: s.basis.counted(p.all)}
	}))
	s.seconds = s.parts(s.cells(func(p *process) cell { return cell{value: p.seconds} }))
	s.count = s.parts(s.cells(func(*process) cell { return cell{value: 1} }))
	for i := range set.processes {
		s.find(i)
	}
	return s
}

// find notes what process i has.
func (s *sample) find(i int) {
	p := &s.set.processes[i]
	for at, sum := range p.sums {
		name := s.set.functions[sum.Key]
		s.functions[name] = append(s.functions[name], place{i, at})
	}
	for at, m := range p.markers {
		name := s.set.markers[m.name]
		s.markers[name] = append(s.markers[name], place{i, at})
	}
}

// cells makes a cell of each process.
func (s *sample) cells(of func(*process) cell) []cell {
	cells := make([]cell, len(s.set.processes))
	for i := range cells {
		cells[i] = of(&s.set.processes[i])
		cells[i].process = i
	}
	return cells
}

func (s *sample) summary() Summary {
	out := Summary{Programs: []string{}, Processes: len(s.set.processes), Seconds: s.seconds.whole}
	for _, p := range s.set.processes {
		out.Samples += int64(s.basis.counted(p.all))
		switch value := s.basis.value(&p, p.all); s.basis.Basis {
		case Heap, Allocations:
			out.Bytes += value
		case Waits:
			out.Waits += value
		default:
			out.CPU += float64(p.all.CPU) / 1e9
		}
		out.Programs = append(out.Programs, strings.TrimSpace(p.program+" "+p.version))
	}
	slices.Sort(out.Programs)
	out.Programs = slices.Compact(out.Programs)
	return out
}

// stratify groups processes by program; programs of a single process share a stratum; if that is a
// single one again, it joins the largest stratum.
func (s *sample) stratify() {
	number := s.programs()
	strata := map[string]int{}
	for _, p := range s.set.processes {
		program := p.program
		if number[program] < 2 {
			program = ""
		}
		if _, ok := strata[program]; !ok {
			strata[program] = len(s.sizes)
			s.sizes = append(s.sizes, 0)
		}
		s.stratum = append(s.stratum, strata[program])
		s.sizes[strata[program]]++
	}
	if alone := slices.Index(s.sizes, 1); alone >= 0 && len(s.sizes) > 1 {
		s.join(alone)
	}
}

// join moves a single process to the largest stratum.
func (s *sample) join(alone int) {
	largest := 0
	for i, size := range s.sizes {
		if size > s.sizes[largest] {
			largest = i
		}
	}
	s.stratum[slices.Index(s.stratum, alone)] = largest
	s.sizes[largest]++
	s.sizes[alone] = 0
}

// draw makes the weights: of n processes of a stratum n-1 are drawn, each weighted n/(n-1), so that
// the spread of draws is that of the sets that might have been recorded.
func (s *sample) draw(random *rand.Rand) {
	members := make([][]int, len(s.sizes))
	for i, stratum := range s.stratum {
		members[stratum] = append(members[stratum], i)
	}
	s.weights = make([][]float64, len(s.stratum))
	for i := range s.weights {
		s.weights[i] = make([]float64, draws)
	}
	for d := range draws {
		for _, m := range members {
			for range len(m) - 1 {
				s.weights[m[random.IntN(len(m))]][d] += float64(len(m)) / float64(len(m)-1)
			}
		}
	}
}

func (s *sample) parts(cells []cell) parts { return parts{cells, s.sum(cells)} }

// sum adds up cells, of all processes and of each draw.
func (s *sample) sum(cells []cell) sum {
	out := sum{drawn: make([]float64, draws)}
	for _, c := range cells {
		out.whole += c.value
		out.add(s.weights[c.process], c.value)
	}
	return out
}

// add adds what a process has to each draw.
func (s *sum) add(weights []float64, value float64) {
	drawn := s.drawn[:len(weights)]
	for d, w := range weights {
		drawn[d] += w * value
	}
}

// Estimate is a figure of a set.
type Estimate struct {
	Value float64 `json:"value"`
	Error float64 `json:"error"` // standard error

	freedom float64
	none    bool // there is nothing of which it could be: Value is no figure
}

// ratio estimates sum/of. floor is its least relative error.
func (s *sample) ratio(cells []cell, sum, of sum, floor float64) Estimate {
	return estimate(s.freedom(cells), sum, of, floor)
}

// estimate is ratio, given the degrees of freedom.
func estimate(freedom float64, sum, of sum, floor float64) Estimate {
	e := Estimate{freedom: freedom}
	if of.whole <= 0 {
		e.none = true
		return e
	}
	e.Value = sum.whole / of.whole
	drawn := make([]float64, 0, draws)
	for d, v := range sum.drawn {
		if of.drawn[d] > 0 {
			drawn = append(drawn, v/of.drawn[d])
		}
	}
	e.Error = max(spread(drawn), floor*e.Value)
	return e
}

// freedom is the degrees of freedom of a figure: the processes of strata in which it occurs, less
// one for each.
func (s *sample) freedom(cells []cell) float64 {
	occurs := make([]bool, len(s.sizes))
	n := 0
	for _, c := range cells {
		if stratum := s.stratum[c.process]; c.value > 0 && !occurs[stratum] {
			occurs[stratum] = true
			n += s.sizes[stratum] - 1
		}
	}
	return float64(n)
}

// spread is the standard deviation of the draws.
func spread(drawn []float64) float64 {
	if len(drawn) < 2 {
		return 0
	}
	var mean, sum float64
	for _, v := range drawn {
		mean += v
	}
	mean /= float64(len(drawn))
	for _, v := range drawn {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum / float64(len(drawn)-1))
}

// fraction is a figure as what it is made of: what is counted, and of what. floor is its least relative error.
type fraction struct {
	value []cell
	of    parts
	floor float64
}

// usage is what a function used.
type usage struct{ share, load Estimate }

// function estimates a function's own and total usage.
func (s *sample) function(name string) (f struct{ self, total usage }) {
	f.self, f.total = s.used(s.cellsOf(name, selfOf)), s.used(s.cellsOf(name, totalOf))
	return f
}

// part is a function's share of all samples, with all that it calls.
func (s *sample) part(name string) float64 {
	whole := whole(s.cellsOf(name, totalOf))
	if whole == 0 || s.all.whole <= 0 {
		return 0
	}
	return whole / s.all.whole
}

// whole is what cells add up to.
func whole(cells []cell) (whole float64) {
	for _, c := range cells {
		whole += c.value
	}
	return whole
}

func (s *sample) used(cells []cell) usage {
	sum, share, load := s.sum(cells), s.share(cells), s.load(cells)
	return usage{s.ratio(cells, sum, share.of.sum, share.floor), s.ratio(cells, sum, load.of.sum, load.floor)}
}

func selfOf(sum *calls.Sum) calls.Amount  { return sum.Self }
func totalOf(sum *calls.Sum) calls.Amount { return sum.Total }

// cellsOf are the cells of what a function used.
func (s *sample) cellsOf(name string, of func(*calls.Sum) calls.Amount) (cells []cell) {
	for _, at := range s.functions[name] {
		p := &s.set.processes[at.process]
		a := of(&p.sums[at.at])
		if v := s.basis.value(p, a); v > 0 {
			cells = append(cells, cell{at.process, v, s.basis.counted(a)})
		}
	}
	return cells
}

// share is a share of all samples, which are random, too.
func (s *sample) share(cells []cell) fraction {
	rest := 0.0
	if s.all.whole > 0 {
		rest = max(0, 1-whole(cells)/s.all.whole)
	}
	return fraction{cells, s.all, math.Sqrt(rest) * counting(cells)}
}

// load is the samples per second of one process; what is in use at its end is no rate.
func (s *sample) load(cells []cell) fraction {
	f := fraction{cells, s.seconds, counting(cells)}
	if s.basis.Basis == Heap {
		f.of = s.count
	}
	return f
}

// cost is the CPU time of a process, or of a marker that it has. It was counted by the system and not
// sampled, or nearly all of it: samples come at steady distances of CPU time.
func (s *sample) cost(name string) fraction {
	f := fraction{of: s.count}
	if name != "" {
		f.of = s.parts(s.markerCells(name, countOf))
	}
	f.value = s.cells(func(p *process) cell {
		switch {
		case s.basis.exact:
			return cell{value: p.cpu}
		case s.basis.Basis == CPU:
			return cell{value: s.basis.value(p, p.all)}
		}
		return cell{}
	})
	return f
}

// counting is the relative error of counting that many samples.
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

// durationSample is how often something happened, and how long it took.
type durationSample struct{ count, rate, mean, p50, p99 Estimate }

// marker estimates the figures of a marker name.
func (s *sample) marker(name string) durationSample {
	count, took, all := s.markerCells(name, countOf), s.markerCells(name, timedOf), s.markerCells(name, timeOf)
	n, times := s.sum(count), s.quantiles(name, 0.5, 0.99)
	return durationSample{s.ratio(count, n, s.count.sum, 0), s.ratio(count, n, s.seconds.sum, 0), s.ratio(took, s.sum(all), s.sum(took), 0), times[0], times[1]}
}

// markerCells are the cells of markers of a name.
func (s *sample) markerCells(name string, of func(*markerSum) float64) (cells []cell) {
	for _, at := range s.markers[name] {
		cells = append(cells, cell{process: at.process, value: of(&s.set.processes[at.process].markers[at.at])})
	}
	return cells
}

func countOf(m *markerSum) float64 { return float64(m.Count) }
func timedOf(m *markerSum) float64 { return float64(m.Took.Count) }
func timeOf(m *markerSum) float64  { return float64(m.Took.All) / 1e9 }

// quantiles estimates quantiles of durations in seconds.
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
	for d := range draws {
		counts.draw(s, name, d)
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

// counts is the durations of a draw by bucket, from first on.
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

// draw counts those of draw d.
func (c *counts) draw(s *sample, name string, d int) {
	clear(c.weights)
	c.all = 0
	for _, at := range s.markers[name] {
		w := s.weights[at.process][d]
		if w == 0 {
			continue
		}
		for _, b := range s.set.processes[at.process].markers[at.at].Took.Buckets {
			c.weights[b.Number-c.first] += w * float64(b.Count)
			c.all += w * float64(b.Count)
		}
	}
}

// quantile is a duration in seconds, unless the draw has none.
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
