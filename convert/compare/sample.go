package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// draws is how many times the processes of a set are drawn anew: the error of an
// error is then 3 %.
const draws = 500

// sample is the processes of a set, and with which weights they were drawn.
type sample struct {
	set     *Set
	basis   basis
	stratum []int       // by process
	sizes   []int       // of strata
	weights [][]float64 // by draw, by process

	seconds, all, count sum // of time, of samples, of processes

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

// cell is what one process adds to a figure.
type cell struct {
	process int
	value   float64
	counted float64 // samples that tell it, 0 if it is no matter of samples
}

// newSample draws the processes of a set.
func newSample(set *Set, basis basis, seed, stream uint64) *sample {
	s := &sample{set: set, basis: basis, functions: map[string][]place{}, markers: map[string][]place{}}
	s.stratify()
	s.draw(rand.New(rand.NewPCG(seed, stream)))
	s.all = s.sum(s.allCells())
	s.seconds = s.sum(s.cells(func(p *process) cell { return cell{value: p.seconds} }))
	s.count = s.sum(s.cells(func(*process) cell { return cell{value: 1} }))
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

// allCells is what counts of the samples of each process.
func (s *sample) allCells() []cell {
	return s.cells(func(p *process) cell {
		return cell{value: s.basis.value(p, p.all), counted: s.basis.counted(p.all)}
	})
}

func (s *sample) summary() Summary {
	out := Summary{Programs: []string{}, Processes: len(s.set.processes), Seconds: s.seconds.whole}
	for _, p := range s.set.processes {
		out.Samples += int64(s.basis.counted(p.all))
		out.CPU += float64(p.all.CPU) / 1e9
		out.Programs = append(out.Programs, strings.TrimSpace(p.program+" "+p.version))
	}
	slices.Sort(out.Programs)
	out.Programs = slices.Compact(out.Programs)
	return out
}

// stratify puts processes of one program into one stratum, those that are alone
// of their program together; if that is one again, with the largest stratum.
func (s *sample) stratify() {
	number := map[string]int{}
	for _, p := range s.set.processes {
		number[p.program]++
	}
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

// join puts the process of stratum alone into the largest one.
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

// draw makes the weights: of n processes of a stratum n-1 are drawn, each for
// n/(n-1) processes, so that the spread of what is drawn is that of the sets
// that might have been recorded.
func (s *sample) draw(random *rand.Rand) {
	members := make([][]int, len(s.sizes))
	for i, stratum := range s.stratum {
		members[stratum] = append(members[stratum], i)
	}
	s.weights = make([][]float64, draws)
	for d := range s.weights {
		w := make([]float64, len(s.stratum))
		for _, m := range members {
			for range len(m) - 1 {
				w[m[random.IntN(len(m))]] += float64(len(m)) / float64(len(m)-1)
			}
		}
		s.weights[d] = w
	}
}

// sum adds cells up, of all processes and of each draw.
func (s *sample) sum(cells []cell) sum {
	out := sum{drawn: make([]float64, draws)}
	for _, c := range cells {
		out.whole += c.value
	}
	for d, w := range s.weights {
		var drawn float64
		for _, c := range cells {
			drawn += w[c.process] * c.value
		}
		out.drawn[d] = drawn
	}
	return out
}

// Estimate is a figure of a set.
type Estimate struct {
	Value float64 `json:"value"`
	Error float64 `json:"error"` // standard error

	freedom float64
	none    bool // there is nothing of which it could be: Value is no figure
}

// ratio estimates sum/of. floor is the least relative error that it has.
func (s *sample) ratio(cells []cell, sum, of sum, floor float64) Estimate {
	e := Estimate{freedom: s.freedom(cells)}
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

// freedom is how many processes tell of the error of a figure: those of the
// strata in which it occurs, less one for each of these.
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

// spread is the standard deviation of what was drawn.
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
