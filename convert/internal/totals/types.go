package totals

import (
	"cmp"
	"slices"

	"gprof/stream"
)

// The types of values that recordings have, as Go's own profiles call them.
var (
	CountTypes = []stream.ValueType{{Name: "samples", Unit: "count"}}
	CPUTypes   = []stream.ValueType{{Name: "cpu", Unit: "nanoseconds"}}
	WaitTypes  = []stream.ValueType{{Name: "wall", Unit: "nanoseconds"}}
	HeapTypes  = []stream.ValueType{{Name: "alloc_objects", Unit: "count"}, {Name: "alloc_space", Unit: "bytes"}, {Name: "inuse_objects", Unit: "count"}, {Name: "inuse_space", Unit: "bytes"}}
)

// Types are the values of samples: CPU, waits, heap, then measures by name and unit. Every sample
// has all of them, zeros for other kinds. A type without any value is left out.
type Types struct {
	List                     []stream.ValueType
	samples, CPU, wall, heap int   // where theirs begin; -1: there are none
	measures                 []int // by CounterID; -1: it is none
	values, arranged         []int64
	at                       []int // by type as built: its place in list, -1: it is left out
}

// Build finds the types of values that there are in t, in the order that the profile has which they came with.
func (y *Types) Build(t *stream.Tables, came *Came) {
	heap, waits, measured := t.Has(stream.Allocations), t.Has(stream.Waits), t.Has(stream.Measurements)
	samples, cpu := t.Has(stream.Samples), t.HasCPU()
	if !samples && !heap && !waits && !measured {
		samples, cpu = true, true // an empty profile is one of the CPU
	}
	*y = Types{samples: -1, CPU: -1, wall: -1, heap: -1}
	for _, some := range []struct {
		there bool
		at    *int
		types []stream.ValueType
	}{{samples, &y.samples, CountTypes}, {cpu, &y.CPU, CPUTypes}, {waits, &y.wall, WaitTypes}, {heap, &y.heap, HeapTypes}} {
		if some.there {
			*some.at = len(y.List)
			y.List = append(y.List, some.types...)
		}
	}
	if measured {
		y.measure(t)
	}
	y.values = make([]int64, len(y.List))
	y.arrange(came)
}

// measure adds the measures of all processes: those of one name and unit are one type, which may
// exist.
func (y *Types) measure(t *stream.Tables) {
	of := make([]stream.ValueType, t.Counters.Len()+1)
	var all []stream.ValueType
	for id := range of[1:] {
		if c := t.Counters.At(stream.CounterID(id + 1)); c.Measure {
			of[id+1] = stream.ValueType{Name: c.Name, Unit: unitOf(c)}
			all = append(all, of[id+1])
		}
	}
	slices.SortFunc(all, func(a, b stream.ValueType) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Unit, b.Unit))
	})
	for _, typ := range slices.Compact(all) {
		if !slices.Contains(y.List, typ) {
			y.List = append(y.List, typ)
		}
	}
	y.measures = make([]int, len(of))
	for id, typ := range of {
		y.measures[id] = slices.Index(y.List, typ)
	}
}

// Period is the type of the sampling period, as in runtime/pprof; for measures the first of them.
func (y *Types) Period() stream.ValueType {
	switch {
	case y.samples >= 0:
		return CPUTypes[0]
	case y.heap >= 0:
		return stream.ValueType{Name: "space", Unit: "bytes"}
	}
	return y.List[0]
}

// First is the type shown first.
func (y *Types) First() string {
	switch {
	case y.CPU >= 0:
		return CPUTypes[0].Name
	case y.samples >= 0:
		return CountTypes[0].Name
	case y.wall >= 0:
		return WaitTypes[0].Name
	case y.heap >= 0:
		return "inuse_space"
	}
	return y.List[len(y.List)-1].Name
}

// unitOf is the unit of a measure. An unknown one is in its description.
func unitOf(c stream.Counter) string {
	switch c.Unit {
	case stream.FormatNanoseconds:
		return "nanoseconds"
	case stream.FormatBytes:
		return "bytes"
	}
	return cmp.Or(c.Description, "count")
}

// ValuesOf are a sample's values, in a reused slice.
func (y *Types) ValuesOf(sum *Total, measure stream.CounterID) []int64 {
	y.set(sum, measure)
	for i, at := range y.at {
		if at >= 0 {
			y.arranged[at] = y.values[i]
		}
	}
	return y.arranged
}

// set sets the values as the types were built.
func (y *Types) set(sum *Total, measure stream.CounterID) {
	clear(y.values)
	if measure != 0 {
		y.values[y.measures[measure]] = sum.Value
		return
	}
	if y.samples >= 0 {
		y.values[y.samples] = sum.Weight
	}
	if y.CPU >= 0 {
		y.values[y.CPU] = sum.CPU
	}
	if y.wall >= 0 {
		y.values[y.wall] = sum.Wall
	}
	if y.heap >= 0 {
		copy(y.values[y.heap:], heapValues(sum.Allocated, sum.Freed))
	}
}

// heapValues are those of HeapTypes. Values in use are negative if more was freed than
// allocated, as in a part of a recording.
func heapValues(allocated, freed Memory) []int64 {
	return []int64{allocated.Objects, allocated.Bytes, allocated.Objects - freed.Objects, allocated.Bytes - freed.Bytes}
}

// Came is what profiles that are converted say of themselves: it goes out as it came.
type Came struct {
	stream.Profile
	Alone *stream.Process // the process of the only profile
}

// CameWith returns what all processes of the tables share as profiles with the same value types.
func CameWith(t *stream.Tables) (c Came) {
	for i := range t.Processes {
		p := &t.Processes[i].Profile
		if len(p.Types) == 0 || i > 0 && (!slices.Equal(p.Types, c.Types) || p.PeriodType != c.PeriodType) {
			return Came{}
		}
		if i == 0 {
			c.Profile = *p
		}
		c.Period = max(c.Period, p.Period)
	}
	if len(t.Processes) == 1 && t.Processes[0].Profile.Files == 0 {
		c.Alone = &t.Processes[0]
	}
	return c
}

// arrange restores the imported order of types. Imported types stay even if all values are 0, and a
// sample count derived from time is dropped.
func (y *Types) arrange(c *Came) {
	y.at = make([]int, len(y.List))
	list := make([]stream.ValueType, 0, len(y.List))
	list = append(list, c.Types...)
	for i, typ := range y.List {
		y.at[i] = slices.IndexFunc(list, func(s stream.ValueType) bool { return s.Name == typ.Name })
		switch {
		case y.at[i] >= 0:
			list[y.at[i]] = typ // the unit may be another
		case len(c.Types) == 0 || i != y.samples || y.CPU < 0:
			y.at[i] = len(list)
			list = append(list, typ)
		}
	}
	y.List, y.arranged = list, make([]int64, len(list))
}

// Of are the places in List of the types that rows of a kind have values of, of one measure if they are
// measurements.
func (y *Types) Of(kind stream.Kind, measure stream.CounterID) (all []int) {
	add := func(first, n int) {
		for i := first; first >= 0 && i < first+n; i++ {
			if y.at[i] >= 0 && !slices.Contains(all, y.at[i]) {
				all = append(all, y.at[i])
			}
		}
	}
	switch kind {
	case stream.Samples:
		add(y.samples, len(CountTypes))
		add(y.CPU, len(CPUTypes))
	case stream.Waits:
		add(y.wall, len(WaitTypes))
	case stream.Allocations:
		add(y.heap, len(HeapTypes))
	case stream.Measurements:
		add(y.measures[measure], 1)
	}
	slices.Sort(all)
	return all
}
