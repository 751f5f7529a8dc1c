package pprof

import "gprof/stream"

// maxRows is how many rows a batch has at most.
const maxRows = 4096

// sampler turns the samples of a file into rows.
type sampler struct {
	header *header
	plan   *plan
	code   *code
	rows   *rows
	shift  stream.Time

	number    uint64 // of the next sample, from 0
	unlabeled int64  // allocations whose labels have no place
}

// add adds the rows of a sample.
func (s *sampler) add(m *sample) {
	at := s.at()
	s.number++
	if len(m.values) == 0 {
		return
	}
	place := place{at, s.code.stackOf(m), s.code.who(m)}
	s.cpu(m.values, &place)
	s.allocation(m.values, &place)
	for _, i := range s.plan.rest {
		s.measure(i, m.values, &place)
	}
}

// place is what the rows of one sample have in common.
type place struct {
	at    stream.Time
	stack stream.StackID
	who   stream.Who
}

// at is where the sample stands: in the middle of one of as many parts of the time
// of the profile as there are samples.
func (s *sampler) at() stream.Time {
	n := uint64(max(1, s.header.samples))
	i := min(s.number, n-1)
	return s.header.end() - stream.Time(s.header.duration) + stream.Time(share(s.header.duration, 2*i+1, 2*n)) + s.shift
}

// cpu adds a row of samples.
func (s *sampler) cpu(values []int64, p *place) {
	if s.plan.count < 0 && s.plan.cpu < 0 {
		return
	}
	weight, cpu, ok := s.plan.sample(values)
	if !ok {
		s.measure(s.plan.count, values, p)
		s.measure(s.plan.cpu, values, p)
		return
	}
	b := s.rows.samples()
	s.rows.row(b, p)
	b.Weight, b.CPU = append(b.Weight, weight), append(b.CPU, cpu)
	b.AppendWho(p.who)
}

// allocation adds rows of allocations.
func (s *sampler) allocation(values []int64, p *place) {
	if s.plan.heap[0] < 0 {
		return
	}
	allocated, freed, ok := s.plan.allocation(values)
	if !ok {
		for _, i := range s.plan.heap {
			s.measure(i, values, p)
		}
		return
	}
	if p.who.Labels != 0 {
		s.unlabeled++
	}
	s.heap(p, allocated)
	s.heap(p, memory{-freed.objects, -freed.bytes})
}

// heap adds a row of allocations, unless it is of nothing; below 0 they are freed.
func (s *sampler) heap(p *place, m memory) {
	if m == (memory{}) {
		return
	}
	b := s.rows.allocations()
	s.rows.row(b, p)
	b.Phase, b.Duration = append(b.Phase, stream.Instant), append(b.Duration, 0)
	b.Value, b.Number = append(b.Value, m.bytes), append(b.Number, max(m.objects, -m.objects))
}

// measure adds a row of measurements for a value, unless it is 0 or not there.
func (s *sampler) measure(i int, values []int64, p *place) {
	if i < 0 || values[i] == 0 {
		return
	}
	b := s.rows.measurements(i, s.plan.measures[i].counter)
	s.rows.row(b, p)
	b.Value, b.Number = append(b.Value, values[i]), append(b.Number, 0)
	b.AppendWho(p.who)
}
