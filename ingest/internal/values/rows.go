package values

import (
	"slices"

	"gprof/ingest/internal/batches"
	"gprof/stream"
)

// Rows are the rows of a process that are not handed over yet.
type Rows struct {
	batches.Batches
	plan    *Plan
	tables  *stream.Tables
	process stream.ProcessID
	main    stream.TrackID
	series  []stream.Series // by measure; of no process until it is used
}

// NewRows returns the rows of a process in t, which is locked.
func NewRows(t *stream.Tables, process stream.ProcessID, plan *Plan) Rows {
	r := Rows{Batches: batches.Batches{Index: 1}, tables: t}
	r.Turn(process, plan)
	return r
}

// Turn turns to another process, in the same tables, which are locked.
func (r *Rows) Turn(process stream.ProcessID, plan *Plan) {
	name := r.tables.Process(process).Name
	r.process, r.main = process, r.tables.Tracks.Intern(stream.Track{Process: process, Name: name, Main: true})
	r.Use(plan)
}

// Use makes another plan that of the samples that follow.
func (r *Rows) Use(plan *Plan) {
	r.plan, r.series = plan, make([]stream.Series, plan.Len())
}

// Place is what the rows of one sample have in common.
type Place struct {
	At    stream.Time
	Track stream.TrackID // 0: the main one, or that of the measure
	Stack stream.StackID
	Owner stream.Owner
}

// Add adds the rows of a sample with these values, which are scaled. The tables are locked.
func (r *Rows) Add(values []int64, p *Place) {
	if allZero(values) && r.tables.WantsZeros() {
		r.zero(p)
		return
	}
	r.cpu(values, p)
	r.allocation(values, p)
	for _, i := range r.plan.rest {
		r.measure(i, values, p)
	}
}

func allZero(values []int64) bool {
	return !slices.ContainsFunc(values, func(v int64) bool { return v != 0 })
}

// zero adds a row for a sample all of whose values are 0.
func (r *Rows) zero(p *Place) {
	switch {
	case r.plan.count >= 0 || r.plan.cpu >= 0:
		b := r.sample(stream.Samples, p)
		b.Weight, b.CPU = append(b.Weight, 0), append(b.CPU, 0)
		b.AppendOwner(p.Owner)
	case r.plan.heap[0] >= 0:
		r.memory(p, memory{})
	default:
		r.value(r.plan.rest[0], 0, p)
	}
}

// cpu adds a row of samples.
func (r *Rows) cpu(values []int64, p *Place) {
	if r.plan.count < 0 && r.plan.cpu < 0 {
		return
	}
	weight, cpu, ok := r.plan.sample(values)
	if !ok {
		r.measure(r.plan.count, values, p)
		r.measure(r.plan.cpu, values, p)
		return
	}
	b := r.sample(stream.Samples, p)
	b.Weight, b.CPU = append(b.Weight, weight), append(b.CPU, cpu)
	b.AppendOwner(p.Owner)
}

// allocation adds rows of allocations.
func (r *Rows) allocation(values []int64, p *Place) {
	if r.plan.heap[0] < 0 {
		return
	}
	allocated, freed, ok := r.plan.allocation(values)
	if !ok {
		for _, i := range r.plan.heap {
			r.measure(i, values, p)
		}
		return
	}
	r.heap(p, allocated)
	r.heap(p, memory{-freed.objects, -freed.bytes})
}

// heap adds a row of allocations, unless it is empty; below 0 they are freed.
func (r *Rows) heap(p *Place, m memory) {
	if m != (memory{}) {
		r.memory(p, m)
	}
}

func (r *Rows) memory(p *Place, m memory) {
	b := r.sample(stream.Allocations, p)
	b.Phase, b.Duration = append(b.Phase, stream.Instant), append(b.Duration, 0)
	b.Value, b.Number = append(b.Value, m.bytes), append(b.Number, max(m.objects, -m.objects))
	b.AppendOwner(p.Owner)
}

// measure adds a measurement, unless the value is 0 or missing.
func (r *Rows) measure(i int, values []int64, p *Place) {
	if i >= 0 && values[i] != 0 {
		r.value(i, values[i], p)
	}
}

func (r *Rows) value(i int, value int64, p *Place) {
	b := r.measurement(i, p)
	b.Value, b.Number = append(b.Value, value), append(b.Number, 0)
	b.AppendOwner(p.Owner)
}

// sample begins a row of samples or allocations.
func (r *Rows) sample(k stream.Kind, p *Place) *stream.Batch {
	track := p.Track
	if track == 0 {
		track = r.main
	}
	return r.row(stream.Series{Process: r.process, Track: track, Kind: k}, p)
}

// measurement begins a row of a measure, each of which has a track for samples without one.
func (r *Rows) measurement(i int, p *Place) *stream.Batch {
	if r.series[i].Process == 0 {
		c := r.plan.measures[i].counter
		c.Process = r.process
		track := r.tables.Tracks.Intern(stream.Track{Process: r.process, Name: c.Name, Root: true})
		r.series[i] = stream.Series{Process: r.process, Track: track, Kind: stream.Measurements, Counter: r.tables.Counters.Intern(c)}
	}
	s := r.series[i]
	if p.Track != 0 {
		s.Track = p.Track
	}
	return r.row(s, p)
}

func (r *Rows) row(s stream.Series, p *Place) *stream.Batch {
	b := r.Row(s, 0, p.At)
	b.Stack = append(b.Stack, p.Stack)
	return b
}
