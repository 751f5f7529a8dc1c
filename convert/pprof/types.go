package pprof

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gprof/convert/internal/totals"
	"gprof/rawformat/profileproto"
	"gprof/stream"
)

// sampleType is a value that each sample has.
type sampleType struct{ name, unit string }

var (
	countTypes = []sampleType{{"samples", "count"}}
	cpuTypes   = []sampleType{{"cpu", "nanoseconds"}}
	waitTypes  = []sampleType{{"wall", "nanoseconds"}}
	heapTypes  = []sampleType{{"alloc_objects", "count"}, {"alloc_space", "bytes"}, {"inuse_objects", "count"}, {"inuse_space", "bytes"}}
)

// types are the values of samples: CPU, waits, heap, then measures by name and unit. Every sample
// has all of them, zeros for other kinds. A type without any value is left out.
type types struct {
	list                     []sampleType
	samples, cpu, wall, heap int   // where theirs begin; -1: there are none
	measures                 []int // by CounterID; -1: it is none
	values, arranged         []int64
	at                       []int // by type as built: its place in list, -1: it is left out
}

func (y *types) build(t *stream.Tables) {
	heap, waits, measured := t.Has(stream.Allocations), t.Has(stream.Waits), t.Has(stream.Measurements)
	samples, cpu := t.Has(stream.Samples), t.HasCPU()
	if !samples && !heap && !waits && !measured {
		samples, cpu = true, true // an empty profile is one of the CPU
	}
	*y = types{samples: -1, cpu: -1, wall: -1, heap: -1}
	for _, some := range []struct {
		there bool
		at    *int
		types []sampleType
	}{{samples, &y.samples, countTypes}, {cpu, &y.cpu, cpuTypes}, {waits, &y.wall, waitTypes}, {heap, &y.heap, heapTypes}} {
		if some.there {
			*some.at = len(y.list)
			y.list = append(y.list, some.types...)
		}
	}
	if measured {
		y.measure(t)
	}
	y.values = make([]int64, len(y.list))
}

// measure adds the measures of all processes: those of one name and unit are one type, which may
// exist.
func (y *types) measure(t *stream.Tables) {
	of := make([]sampleType, t.Counters.Len()+1)
	var all []sampleType
	for id := range of[1:] {
		if c := t.Counters.At(stream.CounterID(id + 1)); c.Measure {
			of[id+1] = sampleType{c.Name, unitOf(c)}
			all = append(all, of[id+1])
		}
	}
	slices.SortFunc(all, func(a, b sampleType) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.unit, b.unit)) })
	for _, typ := range slices.Compact(all) {
		if !slices.Contains(y.list, typ) {
			y.list = append(y.list, typ)
		}
	}
	y.measures = make([]int, len(of))
	for id, typ := range of {
		y.measures[id] = slices.Index(y.list, typ)
	}
}

// period is the type of the sampling period, as in runtime/pprof; for measures the first of them.
func (y *types) period() sampleType {
	switch {
	case y.samples >= 0:
		return cpuTypes[0]
	case y.heap >= 0:
		return sampleType{"space", "bytes"}
	}
	return y.list[0]
}

// first is the type shown first.
func (y *types) first() string {
	switch {
	case y.cpu >= 0:
		return cpuTypes[0].name
	case y.samples >= 0:
		return countTypes[0].name
	case y.wall >= 0:
		return waitTypes[0].name
	case y.heap >= 0:
		return "inuse_space"
	}
	return y.list[len(y.list)-1].name
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

// valuesOf are a sample's values, in a reused slice.
func (y *types) valuesOf(sum *totals.Total, measure stream.CounterID) []int64 {
	y.set(sum, measure)
	for i, at := range y.at {
		if at >= 0 {
			y.arranged[at] = y.values[i]
		}
	}
	return y.arranged
}

// set sets the values as the types were built.
func (y *types) set(sum *totals.Total, measure stream.CounterID) {
	clear(y.values)
	if measure != 0 {
		y.values[y.measures[measure]] = sum.Value
		return
	}
	if y.samples >= 0 {
		y.values[y.samples] = sum.Weight
	}
	if y.cpu >= 0 {
		y.values[y.cpu] = sum.CPU
	}
	if y.wall >= 0 {
		y.values[y.wall] = sum.Wall
	}
	if y.heap >= 0 {
		copy(y.values[y.heap:], heapValues(sum.Allocated, sum.Freed))
	}
}

// heapValues are those of heapTypes. Values in use are negative if more was freed than
// allocated, as in a part of a recording.
func heapValues(allocated, freed totals.Memory) []int64 {
	return []int64{allocated.Objects, allocated.Bytes, allocated.Objects - freed.Objects, allocated.Bytes - freed.Bytes}
}

// importedProfile is what profiles that are converted say of themselves: it goes out as it came.
type importedProfile struct {
	stream.Profile
	alone *stream.Process // the process of the only profile
}

// profileOf returns what all processes of the tables share as profiles with the same value types.
func profileOf(t *stream.Tables) (c importedProfile) {
	for i := range t.Processes {
		p := &t.Processes[i].Profile
		if len(p.Types) == 0 || i > 0 && (!slices.Equal(p.Types, c.Types) || p.PeriodType != c.PeriodType) {
			return importedProfile{}
		}
		if i == 0 {
			c.Profile = *p
		}
		c.Period = max(c.Period, p.Period)
	}
	if len(t.Processes) == 1 {
		c.alone = &t.Processes[0]
	}
	return c
}

// arrange restores the imported order of types. Imported types stay even if all values are 0, and a
// sample count derived from time is dropped.
func (y *types) arrange(c *importedProfile) {
	y.at = make([]int, len(y.list))
	list := make([]sampleType, 0, len(y.list))
	for _, typ := range c.Types {
		list = append(list, sampleType{typ.Name, typ.Unit})
	}
	for i, typ := range y.list {
		y.at[i] = slices.IndexFunc(list, func(s sampleType) bool { return s.name == typ.name })
		switch {
		case y.at[i] >= 0:
			list[y.at[i]] = typ // the unit may be another
		case len(c.Types) == 0 || i != y.samples || y.cpu < 0:
			y.at[i] = len(list)
			list = append(list, typ)
		}
	}
	y.list, y.arranged = list, make([]int64, len(list))
}

// writeAttributes writes the only profile's attributes.
func (s *Sink) writeAttributes() {
	for _, a := range s.imported.alone.Attrs {
		switch a.Key {
		case "drop_frames":
			s.buf = appendNumber(s.buf, profileproto.ProfileDrop, s.texts.number(a.Value))
		case "keep_frames":
			s.buf = appendNumber(s.buf, profileproto.ProfileKeep, s.texts.number(a.Value))
		case "doc_url":
			s.buf = appendNumber(s.buf, profileproto.ProfileDoc, s.texts.number(a.Value))
		case "comment":
			for line := range strings.SplitSeq(a.Value, "\n") {
				s.buf = appendNumber(s.buf, profileproto.ProfileComment, s.texts.number(line))
			}
		}
	}
}

// span is the profile's beginning and duration.
func (s *Sink) span() (start stream.Time, duration int64) {
	first, last := s.totals.Span()
	if d := int64(last - first); d >= 0 {
		return first, d
	}
	return first, math.MaxInt64 // clocks were very wrong
}
