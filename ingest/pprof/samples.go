package pprof

import "gprof/stream"

// maxRows is how many rows a batch has at most.
const maxRows = 4096

// sampler turns the samples of a file into rows.
type sampler struct {
	header *header
	plan   *plan
	code   *code
	labels labels
	rows   *rows
	shift  stream.Time

	number uint64 // of the sample that is read, from 0

	locations, numbers []uint64 // scratch
	values             []int64

	malformed int64 // samples
	inexact   int64 // values too large for their unit
	unlabeled int64 // allocations whose labels have no place
}

// read reads the message of a sample and adds its rows.
func (s *sampler) read(body []byte) {
	at := s.at()
	s.number++
	if !s.parse(body) {
		s.malformed++
		return
	}
	stack, who := s.code.stack(s.locations), s.labels.who()
	place := place{at, stack, who}
	s.cpu(&place)
	s.allocation(&place)
	for _, i := range s.plan.rest {
		s.measure(i, &place)
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

// parse reads a sample. It is not ok if it is damaged, or has not the values that
// the profile says it has.
func (s *sampler) parse(body []byte) (ok bool) {
	s.locations, s.numbers = s.locations[:0], s.numbers[:0]
	s.labels.begin()
	ok = true
	m := message{rest: body}
	for v, more := m.read(); more; v, more = m.read() {
		switch v.number {
		case sampleLocations:
			s.locations, _ = v.numbers(s.locations, maxStack+1)
		case sampleValues:
			var whole bool
			s.numbers, whole = v.numbers(s.numbers, len(s.plan.measures))
			ok = ok && whole
		case sampleLabel:
			s.labels.add(v.bytes)
		}
	}
	s.scale()
	return ok && !m.bad && len(s.values) == len(s.plan.measures)
}

// scale brings the values to our units.
func (s *sampler) scale() {
	s.values = s.values[:0]
	for i, n := range s.numbers {
		v, exact := times(int64(n), s.plan.measures[i].factor)
		if !exact {
			s.inexact++
		}
		s.values = append(s.values, v)
	}
}

// cpu adds a row of samples.
func (s *sampler) cpu(p *place) {
	if s.plan.count < 0 && s.plan.cpu < 0 {
		return
	}
	weight, cpu, ok := s.plan.sample(s.values)
	if !ok {
		s.measure(s.plan.count, p)
		s.measure(s.plan.cpu, p)
		return
	}
	b := s.rows.samples()
	s.rows.row(b, p)
	b.Weight, b.CPU = append(b.Weight, weight), append(b.CPU, cpu)
	b.AppendWho(p.who)
}

// allocation adds rows of allocations.
func (s *sampler) allocation(p *place) {
	if s.plan.heap[0] < 0 {
		return
	}
	allocated, freed, ok := s.plan.allocation(s.values)
	if !ok {
		for _, i := range s.plan.heap {
			s.measure(i, p)
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
func (s *sampler) measure(i int, p *place) {
	if i < 0 || s.values[i] == 0 {
		return
	}
	b := s.rows.measurements(i, s.plan.measures[i].counter)
	s.rows.row(b, p)
	b.Value, b.Number = append(b.Value, s.values[i]), append(b.Number, 0)
	b.AppendWho(p.who)
}
