package stream

import (
	"math"
	"slices"
)

// Summer is a Sink to which only sums of some rows matter. They take less time than the rows, which
// would have to be sorted.
type Summer interface {
	Sink
	// Needs is asked before Begin, and before anything is read, when t has the processes that are
	// known by then. It says in what form rows of a kind are needed. They may come as rows all the same.
	Needs(k Kind, t *Tables) Need
	// Sums is called between Begin and the first Segment, if any kind is not needed as rows. It may
	// have more than was asked for.
	Sums(s *Sums) error
}

// summer is a Sink that takes sums. Not ok: it needs rows.
func summer(s Sink) (of Summer, ok bool) {
	if c, ok := s.(*Count); ok {
		return counting{c}, true
	}
	of, ok = s.(Summer)
	return of, ok
}

// Need is how much of rows is needed. What others need of the same rows is the least Need.
type Need uint8

const (
	NeedsRows   Need = iota
	NeedsStacks      // of Samples: what those of each stack add up to, of all processes and tracks
	NeedsTally       // how many there are
)

// Sums is what a [Summer] gets instead of rows.
type Sums struct {
	Series []SeriesTally // of all rows, also of those that come as rows, in the order of Sink.Segment
	Stacks []StackSum    // of samples that don't come as rows; each stack once, in no order
}

// StackSum is what samples of a stack add up to, saturated.
type StackSum struct {
	Stack   StackID
	Samples int64 // by weight
	Timed   int64 // of Samples, those with a known CPU time
	CPU     int64 // ns, of Timed
}

// sumsShare is how much memory sums of stacks take at most, as a multiple of what rows may take that
// wait to be sorted.
const sumsShare = 2

// sumBytes is what a stack takes that has samples.
const sumBytes = 32

// maxSummed is the weight from which on a sample is not summed up here, but comes as a row. So do
// those of no weight, or less: what they mean is the Sink's to say.
const maxSummed = 1 << 31

// summing sums up rows for a Summer. The zero summing leaves all rows as they are.
type summing struct {
	of     Summer // nil: all rows are needed
	needs  [numKinds]Need
	memory int64
	at     []int32 // by provisional StackID: 1 and where it is in sums
	sums   []StackSum
	places []int32 // scratch: of the stacks of a batch

	tallies []Tally // of series, by number; at last by their place in the output
}

// summingFor sums up what dst needs no better.
func summingFor(dst Sink, t *Tables, memory int64) (s summing) {
	of, ok := summer(dst)
	if !ok {
		return s
	}
	for k := range s.needs {
		if s.needs[k] = of.Needs(Kind(k), t); s.needs[k] != NeedsRows {
			s.of = of
		}
	}
	s.memory = memory
	return s
}

// count counts the rows of b, of the series with that number.
func (s *summing) count(series int32, b *Batch) {
	if n := int(series) + 1 - len(s.tallies); n > 0 {
		s.tallies = append(s.tallies, make([]Tally, n)...)
	}
	s.tallies[series].add(tally(b))
}

// join adds up what of several series became one. Places are where in the output they are, by number.
func (s *summing) join(places []int32) {
	if s.of == nil {
		return
	}
	counted := s.tallies
	s.tallies = make([]Tally, len(places))
	for number, place := range places {
		s.tallies[place].add(counted[number])
	}
}

// take sums up the rows of b. It returns false if they are needed as rows. Their stacks were checked.
func (s *summing) take(b *Batch) bool {
	switch s.needs[b.Series.Kind] {
	case NeedsTally:
		return true
	case NeedsStacks:
		return b.Series.Kind == Samples && b.Series.Part == 0 && s.takeSamples(b)
	}
	return false
}

func (s *summing) takeSamples(b *Batch) bool {
	if int64(len(s.sums)+b.Len())*sumBytes+4*int64(len(s.at)) > s.memory {
		return false
	}
	for _, weight := range b.Weight {
		if uint64(weight-1) >= maxSummed {
			return false
		}
	}
	s.place(b.Stack)
	for i, at := range s.places {
		sum, weight := &s.sums[at], b.Weight[i]
		sum.Samples = Plus(sum.Samples, weight)
		if cpu := b.CPU[i]; cpu >= 0 {
			sum.Timed, sum.CPU = Plus(sum.Timed, weight), Plus(sum.CPU, cpu)
		}
	}
	return true
}

// place finds out where the sums of stacks are. For all at once, so that the processor waits for
// several at a time.
func (s *summing) place(stacks []StackID) {
	s.places = slices.Grow(s.places[:0], len(stacks))[:len(stacks)]
	at := s.at
	for i, id := range stacks {
		if int(id) >= len(at) {
			at = append(at, make([]int32, int(id)+1-len(at))...)
			s.at = at
		}
		if at[id] == 0 {
			s.sums = append(s.sums, StackSum{Stack: id})
			at[id] = int32(len(s.sums))
		}
		s.places[i] = at[id] - 1
	}
}

// Plus adds two non-negative numbers, saturated.
func Plus(a, b int64) int64 {
	if b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}

// settle gives the sums their final ids.
func (s *summing) settle(outputs []*seriesRuns, ids *renumbering) *Sums {
	all := &Sums{Stacks: s.sums}
	for i := range s.sums {
		s.sums[i].Stack = ids.stacks[s.sums[i].Stack]
	}
	for i := range outputs {
		all.Series = append(all.Series, SeriesTally{outputs[i].series, s.tallies[i]})
	}
	s.at, s.sums, s.places, s.tallies = nil, nil, nil, nil
	return all
}
