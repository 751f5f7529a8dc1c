// Package pgo writes profiles for the Go compiler alone (go build -pgo): how often each call was seen, instead of
// whole stacks.
//
// The compiler reads the format of github.com/google/pprof. Of a stack it takes the innermost two addresses alone, with
// what was inlined there, and of these how much each call weighs: which function calls which, and at which line of
// the caller, counted from where that begins (cmd/internal/pgo and internal/profile, NewGraph, of Go 1.26). Each
// build of each package reads that, so the profile of a fleet makes builds take many times as long. The one that is
// written here has a sample of two frames for each call, of which the compiler, or go tool preprofile, makes the same
// weights. Those that weigh most come first, up to [MaxBytes]; what the rest weighs is in the ledger.
//
// A frame that is no code, such as a label, is left out, so its caller calls what it calls. A call by a function of
// which is unknown where it begins is of no use.
//
// Calls weigh what CPU time their samples took, or, if that is not known of all, how many there were. With
// Options.Weights that is changed so that services count as is asked for.
package pgo

import (
	"cmp"
	"fmt"
	"slices"

	"gprof/convert/internal/locations"
	"gprof/convert/internal/pipeline"
	"gprof/convert/internal/totals"
	"gprof/rawformat/profileproto"
	"gprof/rawformat/protobuf"
	"gprof/stream"
)

// MaxBytes bounds a profile before it is compressed. A large service has some 20,000 calls of any weight, which
// fit.
const MaxBytes = 2 << 20

// Sink writes one profile.
type Sink struct {
	pipe   *pipeline.Writer
	tables *stream.Tables
	totals *totals.Totals
	shares *shares // nil: samples count as they are
	sums   []sum   // by StackID

	out      []byte
	strings  locations.Texts
	written  int // bytes of strings that are numbered
	function map[stream.StringID]uint64
	places   map[place]uint64 // numbers of locations
}

// sum is what the samples of a stack are.
type sum struct{ samples, cpu int64 }

// Options are the options of [New].
type Options struct {
	// Weights, if there are any, have each service count the same, however much was recorded of it, times its
	// weight: that of the first one which it fits, else 1.
	Weights []Weight
}

// New returns a Sink that writes to w, and closes it at the end.
func New(w *pipeline.Writer, o Options) *Sink {
	s := &Sink{pipe: w, function: map[stream.StringID]uint64{}, places: map[place]uint64{}}
	if len(o.Weights) > 0 {
		s.shares = &shares{weights: o.Weights}
	}
	return s
}

// Begin makes room for the sums.
func (s *Sink) Begin(t *stream.Tables) error {
	s.tables = t
	if s.shares != nil {
		s.totals = totals.New(t, s.shares.add)
		return s.shares.begin(t)
	}
	if err := t.Reserve(stream.RowBytes{Stack: 4 + 16 + 8}.In(t)); err != nil {
		return err
	}
	s.sums = make([]sum, t.Stacks.Len()+1)
	s.totals = totals.New(t, func(all *totals.Part) {
		for total := range all.All() {
			s.sums[total.Stack].add(total)
		}
	})
	s.totals.Parts = true
	return nil
}

func (s *sum) add(of *totals.Total) {
	s.samples, s.cpu = totals.Plus(s.samples, of.Weight), totals.Plus(s.cpu, of.CPU)
}

// weight is what the samples weigh: if all are timed, their time.
func (s *sum) weight(timed bool) int64 {
	if timed {
		return s.cpu
	}
	return s.samples
}

// Segment adds the rows of b.
func (s *Sink) Segment(b *stream.Batch) error {
	s.totals.Add(b)
	if s.shares != nil {
		return s.shares.err
	}
	return nil
}

// Close writes the profile, and adds what it lacks to the ledger of the tables.
func (s *Sink) Close() error {
	s.totals.Finish()
	timed := s.totals.Unknown == 0
	calls, lost := callsOf(s.tables, s.weights(timed))
	s.header(timed)
	kept, left := s.write(calls)
	s.tell(kept, left, lost)
	if _, err := s.pipe.Write(s.out); err != nil {
		return err
	}
	return s.pipe.Close()
}

// weights are what stacks weigh, by StackID.
func (s *Sink) weights(timed bool) []int64 {
	if s.shares != nil {
		return s.shares.weigh(timed)
	}
	weights := make([]int64, len(s.sums))
	for i := range s.sums {
		weights[i] = s.sums[i].weight(timed)
	}
	s.sums = nil
	return weights
}

// header says what the values are.
func (s *Sink) header(timed bool) {
	name, unit := "samples", "count"
	if timed {
		name, unit = "cpu", "nanoseconds"
	}
	body := protobuf.AppendNumber(nil, profileproto.ValueType, s.text(name))
	s.out = protobuf.AppendBytes(s.out, profileproto.ProfileSampleType, protobuf.AppendNumber(body, profileproto.ValueUnit, s.text(unit)))
}

// text numbers a string.
func (s *Sink) text(of string) uint64 {
	n := s.strings.Number(of)
	if int(n) == len(s.strings.All())-1 {
		s.written += len(of) + 6
	}
	return n
}

// write writes the calls that weigh most, and the strings.
func (s *Sink) write(calls []call) (kept, left tally) {
	slices.SortFunc(calls, func(a, b call) int {
		text := func(id stream.StringID) string { return s.tables.Strings.At(id) }
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(text(a.caller.function), text(b.caller.function)),
			cmp.Compare(a.caller.line, b.caller.line), cmp.Compare(text(a.callee), text(b.callee)))
	})
	for _, c := range calls {
		if len(s.out)+s.written >= MaxBytes {
			left.add(c.weight)
			continue
		}
		kept.add(c.weight)
		callee := s.location(place{function: c.callee})
		caller := s.location(c.caller)
		body := protobuf.AppendNumber(protobuf.AppendNumber(nil, profileproto.SampleLocations, callee), profileproto.SampleLocations, caller)
		s.out = protobuf.AppendBytes(s.out, profileproto.ProfileSample, protobuf.AppendNumber(body, profileproto.SampleValues, uint64(c.weight)))
	}
	for _, text := range s.strings.All() {
		s.out = protobuf.AppendBytes(s.out, profileproto.ProfileString, text)
	}
	return kept, left
}

// base is the line at which functions begin in the profile: places have lines from there. It must not be 0, and a
// place may lie before it, as where lines are those of another file.
const base = 1 << 20

// location numbers and writes a place.
func (s *Sink) location(p place) uint64 {
	if n, ok := s.places[p]; ok {
		return n
	}
	function, ok := s.function[p.function]
	if !ok {
		function = uint64(len(s.function) + 1)
		s.function[p.function] = function
		body := protobuf.AppendNumber(nil, profileproto.FunctionID, function)
		body = protobuf.AppendNumber(body, profileproto.FunctionName, s.text(s.tables.Strings.At(p.function)))
		s.out = protobuf.AppendBytes(s.out, profileproto.ProfileFunction, protobuf.AppendNumber(body, profileproto.FunctionStart, base))
	}
	n := uint64(len(s.places) + 1)
	s.places[p] = n
	line := protobuf.AppendNumber(nil, profileproto.LineFunction, function)
	line = protobuf.AppendNumber(line, profileproto.LineNumber, uint64(base+int64(p.line)))
	body := protobuf.AppendBytes(protobuf.AppendNumber(nil, profileproto.LocationID, n), profileproto.LocationLine, line)
	s.out = protobuf.AppendBytes(s.out, profileproto.ProfileLocation, body)
	return n
}

// tally is some calls.
type tally struct{ calls, weight int64 }

func (t *tally) add(weight int64) { t.calls, t.weight = t.calls+1, totals.Plus(t.weight, weight) }

// tell says what the profile lacks.
func (s *Sink) tell(kept, left, lost tally) {
	s.totals.Tell()
	if left.calls > 0 {
		share := 100 * float64(left.weight) / (float64(left.weight) + float64(kept.weight))
		s.tables.Ledger.Add(stream.Line{Reason: stream.ReasonCut, What: "calls", Count: left.calls,
			Where: fmt.Sprintf("that weigh least, together %.2g %% of all: a profile for the compiler has %d MiB at most", share, MaxBytes>>20)})
	}
	if lost.calls > 0 {
		s.tables.Ledger.Add(stream.Line{Reason: stream.ReasonUnsupported, What: "calls", Count: lost.calls,
			Where: "by functions of which is unknown where they begin: the compiler can't find the place"})
	}
}
