package gecko

import (
	"math"

	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// cpuUnits are how many ns a unit of CPU time has. What is counted in cycles of
// a clock that nobody knows is no time.
var cpuUnits = map[string]int64{"ns": 1, "µs": 1000}

// sample is a row of samples, as far as those of one time and stack are alike.
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

// samples reads the samples of a thread: as samples, or, if their weights are
// times or bytes, as waits or allocations.
func (r *reader) samples(c *code, thread *thread, s stream.Series, who stream.Who) {
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

// takes reports whether a row is the same sample as s once more.
func (s *sample) takes(row sample) bool {
	return s.at == row.at && s.stack == row.stack && s.weight > 0 && row.weight > 0 && (row.cpu == 0 && s.cpu >= 0 || row.cpu < 0 && s.cpu < 0)
}

// sampledAt is the time of a row, which is told itself or by how long it is
// after the last one.
func sampledAt(t *table, last stream.Time) (stream.Time, bool) {
	if ns, ok := t.nanos(sampleTime); ok {
		return stream.Time(ns), true
	}
	return t.after(last, sampleDelta)
}

// after is the time that a cell tells by how long it is after another.
func (t *table) after(last stream.Time, i int) (stream.Time, bool) {
	ns, ok := t.nanos(i)
	at := last + stream.Time(ns)
	if ok && ((at < last) != (ns < 0) || int64(at) > math.MaxInt64-t.f.zero) {
		t.bad(stream.ReasonImpossible, i)
		return last, false
	}
	return at, ok
}

// cpu is the CPU time of a row.
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

// weight is how many samples a row stands for.
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

func (r *reader) sample(s stream.Series, row sample, who stream.Who) {
	s.Kind = stream.Samples
	b := r.out.row(s, row.at, row.at)
	b.Stack, b.Weight, b.CPU = append(b.Stack, row.stack), append(b.Weight, row.weight), append(b.CPU, row.cpu)
	b.AppendWho(who)
}

// weighed is a row whose weight is a time or a size.
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
	b := r.out.row(s, row.at, row.at)
	b.Stack, b.Value, b.Number = append(b.Stack, row.stack), append(b.Value, value), append(b.Number, 0)
	if kind == stream.Allocations {
		b.Phase, b.Duration = append(b.Phase, stream.Instant), append(b.Duration, 0)
	}
}

// delay is how long the event loop of a thread had waited at a sample.
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
	b := r.out.row(s, at, at)
	b.Value, b.Number = append(b.Value, ns), append(b.Number, 0)
}
