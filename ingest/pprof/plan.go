package pprof

import "gprof/stream"

// plan says what becomes of the values of a sample.
type plan struct {
	measures []measure // by the number of the value
	rest     []int     // values that are always measurements

	count, cpu int   // numbers of the values of samples of the CPU; -1: not there
	period     int64 // ns of CPU time for each, where they are not counted

	heap [4]int // numbers of heapValues; those of heap[0] is -1 if they are not there
}

// heapValues are those of allocations.
var heapValues = [4]valueName{{"alloc_objects", "count"}, {"alloc_space", "bytes"}, {"inuse_objects", "count"}, {"inuse_space", "bytes"}}

func planOf(h *header) *plan {
	p := &plan{count: -1, cpu: -1, heap: [4]int{-1, -1, -1, -1}}
	for i, t := range h.types {
		m := measureOf(t)
		p.measures = append(p.measures, m)
		switch {
		case t == valueName{"samples", "count"} && p.count < 0:
			p.count = i
		case t.name == "cpu" && m.counter.Unit == stream.FormatNanoseconds && p.cpu < 0:
			p.cpu = i
		default:
			p.takeHeap(i, t)
		}
	}
	if factor, ok := timeUnits[h.periodType.unit]; ok && h.period > 0 {
		p.period, _ = times(h.period, factor)
	}
	if p.count < 0 && p.period == 0 {
		p.cpu = -1 // nobody knows how many samples that were
	}
	for _, n := range p.heap {
		if n < 0 {
			p.heap[0] = -1
		}
	}
	for i := range p.measures {
		if !p.special(i) {
			p.rest = append(p.rest, i)
		}
	}
	return p
}

func (p *plan) takeHeap(i int, t valueName) {
	for k, v := range heapValues {
		if v == t && p.heap[k] < 0 {
			p.heap[k] = i
		}
	}
}

// special says whether a value is one of samples or of allocations.
func (p *plan) special(i int) bool {
	if i == p.count || i == p.cpu {
		return true
	}
	for _, n := range p.heap {
		if n == i && p.heap[0] >= 0 {
			return true
		}
	}
	return false
}

// sample returns the weight and the CPU time of a sample, -1 if that is unknown. It
// is not ok if its values are none of samples.
func (p *plan) sample(values []int64) (weight, cpu int64, ok bool) {
	cpu = -1
	if p.cpu >= 0 {
		cpu = values[p.cpu]
		if cpu < 0 {
			return 0, 0, false
		}
	}
	if p.count >= 0 {
		return values[p.count], cpu, values[p.count] >= 0
	}
	if cpu > 0 {
		weight = max(1, (cpu+p.period/2)/p.period)
	}
	return weight, cpu, true
}

// memory is objects of the heap.
type memory struct{ objects, bytes int64 }

// allocation returns what was allocated and what was freed of that. It is not ok
// if the values can't mean that.
func (p *plan) allocation(values []int64) (allocated, freed memory, ok bool) {
	allocated = memory{values[p.heap[0]], values[p.heap[1]]}
	inUse := memory{values[p.heap[2]], values[p.heap[3]]}
	if min(allocated.objects, allocated.bytes, inUse.objects, inUse.bytes) < 0 {
		return allocated, freed, false
	}
	freed = memory{allocated.objects - inUse.objects, allocated.bytes - inUse.bytes}
	// Bytes tell a row of what was freed from one of what was allocated.
	ok = freed.objects >= 0 && freed.bytes >= 0 && (freed.bytes > 0 || freed.objects == 0)
	return allocated, freed, ok
}
