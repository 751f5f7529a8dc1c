package streamtest

import (
	"math"

	"gprof/stream"
)

// check checks one segment.
func (v *validator) check(b *stream.Batch) error {
	if err := b.Check(); err != nil {
		return invalid("%v", err)
	}
	if n := b.Len(); n == 0 || n > maxSegment {
		return invalid("segment of %v has %d rows, want 1 to %d", b.Series.Kind, n, maxSegment)
	}
	if err := checkSeries(v.tables, b); err != nil {
		return err
	}
	if err := v.checkOrder(b); err != nil {
		return err
	}
	for i := range b.Len() {
		if err := checkRow(v.tables, b, i); err != nil {
			return err
		}
	}
	return nil
}

// checkSeries checks what the series of a batch refers to.
func checkSeries(t *stream.Tables, b *stream.Batch) error {
	s := b.Series
	ids := []struct {
		name string
		id   int32
		n    int
	}{
		{"process", int32(s.Process), len(t.Processes)},
		{"track", int32(s.Track), t.Tracks.Len()},
		{"event", int32(s.Event), len(t.Events)},
		{"counter", int32(s.Counter), t.Counters.Len()},
	}
	for _, i := range ids {
		if i.id < 0 || int(i.id) > i.n {
			return invalid("%v of %s %d, of %d", s.Kind, i.name, i.id, i.n)
		}
	}
	if s.Track != 0 && t.Tracks.At(s.Track).Process != s.Process {
		return invalid("%v of process %d on track %d of process %d", s.Kind, s.Process, s.Track, t.Tracks.At(s.Track).Process)
	}
	if s.Counter != 0 && t.Counters.At(s.Counter).Process != s.Process {
		return invalid("process %d counts with counter %d of process %d", s.Process, s.Counter, t.Counters.At(s.Counter).Process)
	}
	if s.Counter != 0 && t.Counters.At(s.Counter).Measure != (s.Kind == stream.Measurements) {
		return invalid("%v of counter %d, whose being a measure is %v", s.Kind, s.Counter, s.Kind != stream.Measurements)
	}
	if want := t.Args(s); len(b.Args) != want {
		return invalid("%v of event %d have %d arguments, want %d", s.Kind, s.Event, len(b.Args), want)
	}
	return nil
}

// checkOrder checks that the series does not precede the last one, and that no row
// precedes the one before it.
func (v *validator) checkOrder(b *stream.Batch) error {
	if v.any && b.Series.Compare(v.series) < 0 {
		return invalid("series %+v comes after %+v", b.Series, v.series)
	}
	first := !v.any || b.Series != v.series
	for i := range b.Len() {
		at, index := b.Time[i], b.Index[i]
		if !first && (at < v.time || at == v.time && index <= v.index) {
			return invalid("%v at %d, index %d, come after %d, index %d", b.Series.Kind, at, index, v.time, v.index)
		}
		first, v.time, v.index = false, at, index
	}
	v.any, v.series = true, b.Series
	return nil
}

// checkRow checks the values of row i.
func checkRow(t *stream.Tables, b *stream.Batch, i int) error {
	uses := b.Series.Kind.Columns()
	if uses&stream.UsesStack != 0 && (b.Stack[i] < 0 || int(b.Stack[i]) > t.Stacks.Len()) {
		return invalid("stack %d of %d", b.Stack[i], t.Stacks.Len())
	}
	if w := b.Owner(i); w.Thread < 0 || w.Goroutine < 0 || w.Labels < 0 || int(w.Labels) > t.Labels.Len() {
		return invalid("thread %d, goroutine %d, labels %d of %d", w.Thread, w.Goroutine, w.Labels, t.Labels.Len())
	}
	if uses&stream.UsesWeight != 0 && (b.Weight[i] < 0 || b.CPU[i] < -1) {
		return invalid("weight %d, cpu %d; want at least 0 and -1", b.Weight[i], b.CPU[i])
	}
	if uses&stream.UsesPhase != 0 {
		if err := checkPhase(b, i); err != nil {
			return err
		}
	}
	if uses&stream.UsesValue != 0 {
		if err := checkValue(b.Series.Kind, b.Value[i]); err != nil {
			return err
		}
	}
	for k := range b.Args {
		if typ := b.Args[k].TypeAt(i); typ > stream.JSON {
			return invalid("argument %d has type %d", k, typ)
		}
	}
	return nil
}

// checkPhase checks phase and duration. The end of an interval must be a Time, too.
func checkPhase(b *stream.Batch, i int) error {
	at, phase, duration := b.Time[i], b.Phase[i], b.Duration[i]
	if phase > stream.PhaseEnd {
		return invalid("phase %d is unknown", phase)
	}
	if b.Series.Kind == stream.Allocations && phase != stream.Instant && phase != stream.PhaseStart {
		return invalid("%v have phase %d, want instant or start", b.Series.Kind, phase)
	}
	if !b.Series.Kind.Tracked() && phase != stream.PhaseStart && phase != stream.PhaseEnd {
		return invalid("%v have phase %d, want start or end", b.Series.Kind, phase)
	}
	if phase != stream.Interval && duration != 0 {
		return invalid("phase %d has a duration of %d", phase, duration)
	}
	if duration < 0 || int64(at) > math.MaxInt64-duration {
		return invalid("interval at %d has a duration of %d", at, duration)
	}
	return nil
}

func checkValue(k stream.Kind, value int64) error {
	if k == stream.Pauses && (value < stream.PausedAll || value > stream.PausedCollecting) {
		return invalid("reason of a pause is %d", value)
	}
	if k == stream.Logs && (value < stream.LogInfo || value > stream.LogError) {
		return invalid("level of a log is %d", value)
	}
	return nil
}
