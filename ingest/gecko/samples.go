package gecko

import (
	"math"

	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// cpuUnits are the units of CPU time in ns. Cycles of an unknown clock are no time.
var cpuUnits = map[string]int64{"ns": 1, "µs": 1000}

// sample is a row of samples, except what may differ between rows of one sample.
type sample struct {
	at     stream.Time
	stack  stream.StackID
	weight int64
	cpu    int64 // ns, -1 unknown
}

// Columns of samples.
const (
	sampleStack = iota
	sampleTime
	sampleDelta
	sampleCPU
	sampleWeight
	sampleDelay
	sampleResponsiveness
	sampleArguments
)

// samples reads the samples of a thread: as samples, or as waits or allocations if their weights
// are times or bytes.
func (r *reader) samples(c *code, thread *thread, s stream.Series, who stream.Owner) {
	samples := thread.object("samples")
	t := samples.columns("stack", "time", "timeDeltas", "threadCPUDelta", "weight", "eventDelay", "responsiveness", "argumentValues")
	unit := samples.text("weightType")
	switch unit {
	case "", "samples", "tracing-ms", "bytes":
	default:
		samples.at("weightType").note(stream.ReasonImpossible)
	}
	if r.cutShort() && unit == "" {
		r.lose(stream.ReasonTorn, "threads whose samples don't say of what they are", 1)
		return
	}
	var last sample
	any, at := false, stream.Time(0)
	for t.next() && !r.full() {
		var ok bool
		if at, ok = sampledAt(t, at); !ok {
			r.lose(stream.ReasonMalformed, "samples without a time", 1)
			continue
		}
		row := sample{at: r.zero + at, stack: c.stack(t, sampleStack), cpu: r.cpu(t)}
		r.delay(t, s, row.at)
		r.unplaced(t, sampleArguments, "arguments of functions")
		if unit == "tracing-ms" || unit == "bytes" {
			r.weighed(t, s, row, unit)
			continue
		}
		if row.weight, ok = r.weight(t); !ok {
			continue
		}
		if any && !r.processed() && last.takes(row) {
			last.weight += row.weight
			continue
		}
		if any {
			r.sample(s, last, who)
		}
		last, any = row, true
	}
	if any {
		r.sample(s, last, who)
	}
	r.ended(t, "samples")
}

// takes reports whether row repeats the sample s.
func (s *sample) takes(row sample) bool {
	return s.at == row.at && s.stack == row.stack && s.weight > 0 && row.weight > 0 && (row.cpu == 0 && s.cpu >= 0 || row.cpu < 0 && s.cpu < 0)
}

// sampledAt is the time of a row, absolute or relative to the last one.
func sampledAt(t *table, last stream.Time) (stream.Time, bool) {
	if ns, ok := t.nanos(sampleTime); ok {
		return stream.Time(ns), true
	}
	return t.after(last, sampleDelta)
}

// after is the time in a cell that is relative to the last one.
func (t *table) after(last stream.Time, i int) (stream.Time, bool) {
	ns, ok := t.nanos(i)
	at := last + stream.Time(ns)
	if ok && ((at < last) != (ns < 0) || int64(at) > math.MaxInt64-t.f.zero) {
		t.bad(stream.ReasonImpossible, i)
		return last, false
	}
	return at, ok
}

// cpu is the CPU time of a row, -1 unknown.
func (r *reader) cpu(t *table) int64 {
	if t.null(sampleCPU) {
		return -1
	}
	n, ok := jsonfile.Fixed(t.cells[sampleCPU], 0)
	if r.cpuUnit == 0 || !ok || n < 0 || n > 1<<50 {
		r.lose(stream.ReasonUnsupported, "CPU times in units that are no time", 1)
		return -1
	}
	return n * r.cpuUnit
}

// weight is the number of samples that a row stands for.
func (r *reader) weight(t *table) (int64, bool) {
	if t.null(sampleWeight) {
		return 1, true
	}
	n, ok := jsonfile.Int(t.cells[sampleWeight])
	if !ok || n < 0 { // of a comparison, or of an importer
		r.lose(stream.ReasonUnsupported, "samples whose weight is no count", 1)
		return 0, false
	}
	return n, true
}

func (r *reader) sample(s stream.Series, row sample, who stream.Owner) {
	s.Kind = stream.Samples
	b := r.row(s, row.at, row.at)
	b.Stack, b.Weight, b.CPU = append(b.Stack, row.stack), append(b.Weight, row.weight), append(b.CPU, row.cpu)
	b.AppendOwner(who)
}

// weighed adds a row whose weight is a time or a size.
func (r *reader) weighed(t *table, s stream.Series, row sample, unit string) {
	digits, kind := 0, stream.Allocations
	if unit == "tracing-ms" {
		digits, kind = 6, stream.Waits
	}
	value, ok := jsonfile.Fixed(t.cells[sampleWeight], digits)
	if !ok || kind == stream.Waits && value < 0 {
		r.lose(stream.ReasonUnsupported, "samples without a weight", 1)
		return
	}
	s.Kind = kind
	b := r.row(s, row.at, row.at)
	b.Stack, b.Value, b.Number = append(b.Stack, row.stack), append(b.Value, value), append(b.Number, 0)
	if kind == stream.Allocations {
		b.Phase, b.Duration = append(b.Phase, stream.Instant), append(b.Duration, 0)
	}
}

// delay adds how long the thread's event loop had been blocked at a sample.
func (r *reader) delay(t *table, s stream.Series, at stream.Time) {
	ns, ok := t.nanos(sampleDelay)
	if !ok {
		ns, ok = t.nanos(sampleResponsiveness)
	}
	if !ok {
		return
	}
	r.delayed = true
	s.Kind = stream.Delays
	b := r.row(s, at, at)
	b.Value, b.Number = append(b.Value, ns), append(b.Number, 0)
}

// allocations reads the table of native allocations of a processed profile.
func (r *reader) allocations(c *code, thread *thread, s stream.Series) {
	t := thread.table("nativeAllocations", "time", "weight", "stack", "memoryAddress", "threadId")
	for t.next() && !r.full() {
		at, ok := t.nanos(0)
		bytes, sized := jsonfile.Fixed(t.cells[1], 0)
		if !ok || !sized {
			r.lose(stream.ReasonMalformed, "allocations", 1)
			continue
		}
		r.allocation(s, r.zero+stream.Time(at), bytes, c.stack(t, 2), t.cells[3], t.cells[4])
	}
	r.ended(t, "allocations")
}

// allocation adds a row; address and thread are JSON, and may be missing.
func (r *reader) allocation(s stream.Series, at stream.Time, bytes int64, stack stream.StackID, address, thread []byte) {
	s.Kind = stream.Allocations
	b := r.row(s, at, at)
	b.Stack, b.Value, b.Number = append(b.Stack, stack), append(b.Value, bytes), append(b.Number, 0)
	b.Phase, b.Duration = append(b.Phase, stream.Instant), append(b.Duration, 0)
	b.AppendAddress(r.detail(address, math.MinInt64, "addresses of allocations"))
	b.AppendOwner(stream.Owner{Thread: r.detail(thread, 0, "threads of allocations")})
}

// detail is a number that may be missing, 0 if it is no integer, or too low.
func (r *reader) detail(raw []byte, lowest int64, what string) int64 {
	n, ok := jsonfile.Int(raw)
	if ok && n >= lowest {
		return n
	}
	if !isNull(raw) {
		r.lose(stream.ReasonUnsupported, what, 1)
	}
	return 0
}

// typeScriptAllocation is the name and type of markers for objects that scripts allocate. The
// viewer turns them into a table; its rows become such markers again.
const typeScriptAllocation = "JS allocation"

// scriptAllocationKeys are the members of their payload, in the column order of
// scriptAllocationTable from firstScriptAllocation on.
var scriptAllocationKeys = []string{"size", "className", "typeName", "coarseType", "inNursery"}

const firstScriptAllocation = 2

func (r *reader) scriptAllocationTable(thread *thread) *table {
	return thread.table("jsAllocations", "time", "stack", "weight", "className", "typeName", "coarseType", "inNursery")
}

func (r *reader) scriptAllocation() *event {
	return r.event(typeScriptAllocation, typeScriptAllocation, -1)
}

// lookAtAllocations surveys the fields of script allocations of a thread.
func (r *reader) lookAtAllocations(thread *thread) {
	for t := r.scriptAllocationTable(thread); t.next() && !r.full(); {
		e := r.scriptAllocation()
		for i, key := range scriptAllocationKeys {
			if !e.has([]byte(key)) {
				r.other(e, []byte(key), t.cells[firstScriptAllocation+i])
			}
		}
	}
}

// scriptAllocations reads the script allocations of a thread as markers.
func (r *reader) scriptAllocations(c *code, thread *thread, s stream.Series, who stream.Owner) {
	t := r.scriptAllocationTable(thread)
	m := &markerTable{table: t, r: r, texts: c.texts}
	for t.next() && !r.full() {
		ns, ok := t.nanos(0)
		e := r.scriptAllocation()
		if !ok || e.id == 0 {
			r.lose(stream.ReasonMalformed, "allocations", 1)
			continue
		}
		at := r.zero + stream.Time(ns)
		s.Kind, s.Event = stream.Markers, e.id
		b := r.row(s, at, at)
		row := len(b.Phase)
		for i, key := range scriptAllocationKeys {
			k := e.columns[key]
			r.value(&b.Args[k], &e.fields[k], t.cells[firstScriptAllocation+i], m)
		}
		for k := range b.Args { // fields of such markers of other threads
			if b.Args[k].Len() == row {
				b.Args[k].AppendNull()
			}
		}
		b.Stack, b.Phase, b.Duration = append(b.Stack, c.stack(t, 1)), append(b.Phase, stream.Instant), append(b.Duration, 0)
		b.AppendOwner(who)
	}
	r.ended(t, "allocations")
}
