package main

import (
	"fmt"
	"io"

	"github.com/google/pprof/profile"

	"gprof/stream"
)

// builder is a Sink that builds a profile.Profile of the samples: sums by track,
// goroutine and stack, with the labels that our pprof output has.
type builder struct {
	out     io.Writer
	tables  *stream.Tables
	profile *profile.Profile
	sums    map[sumKey]*profile.Sample
}

type sumKey struct {
	track     stream.TrackID
	stack     stream.StackID
	goroutine int64
}

func (b *builder) Begin(t *stream.Tables) error {
	b.tables, b.sums = t, map[sumKey]*profile.Sample{}
	b.profile = &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1_000_000,
	}
	const first, size = 1 << 40, 1 << 32
	for id := 1; id <= t.Modules.Len(); id++ {
		m := t.Modules.At(stream.ModuleID(id))
		start := uint64(first + id*size)
		b.profile.Mapping = append(b.profile.Mapping, &profile.Mapping{ID: uint64(id), Start: start, Limit: start + size, File: m.Name, BuildID: m.Build, HasFunctions: true})
	}
	functions := map[stream.StringID]*profile.Function{}
	for id := 1; id <= t.Frames.Len(); id++ {
		f := t.Frames.At(stream.FrameID(id))
		fn := functions[f.Function]
		if fn == nil {
			name := t.Strings.At(f.Function)
			fn = &profile.Function{ID: uint64(len(functions) + 1), Name: name, SystemName: name, Filename: t.Strings.At(f.File)}
			functions[f.Function] = fn
			b.profile.Function = append(b.profile.Function, fn)
		}
		mapping := b.profile.Mapping[f.Module-1]
		b.profile.Location = append(b.profile.Location, &profile.Location{ID: uint64(id), Mapping: mapping, Address: mapping.Start + f.Offset,
			Line: []profile.Line{{Function: fn, Line: int64(f.Line)}}})
	}
	return nil
}

func (b *builder) Segment(batch *stream.Batch) error {
	if batch.Series.Kind != stream.Samples {
		return nil
	}
	for i, stack := range batch.Stack {
		key := sumKey{batch.Series.Track, stack, batch.Owner(i).Goroutine}
		s := b.sums[key]
		if s == nil {
			s = b.sample(batch.Series, stack)
			if key.goroutine != 0 {
				s.NumLabel = map[string][]int64{"goroutine": {key.goroutine}}
			}
			b.sums[key] = s
		}
		s.Value[0] += batch.Weight[i]
		s.Value[1] += batch.CPU[i]
	}
	return nil
}

func (b *builder) sample(of stream.Series, stack stream.StackID) *profile.Sample {
	p := b.tables.Process(of.Process)
	s := &profile.Sample{Value: make([]int64, 2), Label: map[string][]string{
		"process": {p.Title()}, "instance": {fmt.Sprintf("%016x", p.Instance)}, "track": {b.tables.Tracks.At(of.Track).Name}}}
	for stack != 0 {
		caller, frame := b.tables.Stacks.At(stack)
		s.Location = append(s.Location, b.profile.Location[frame-1])
		stack = caller
	}
	b.profile.Sample = append(b.profile.Sample, s)
	return s
}

func (b *builder) Close() error { return b.profile.Write(b.out) }

// buildProfile writes a session's samples by google/pprof.
func buildProfile(session string) (said, error) {
	var c counter
	err := copyTo(&builder{out: &c}, session)
	return said{Bytes: c.bytes}, err
}
