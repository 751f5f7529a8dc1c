// Package pprof writes the format of github.com/google/pprof, which go tool
// pprof and the Go compiler (go build -pgo) read.
//
// The output is one profile.proto message: the number of samples and their CPU
// time, by process, track and stack. It is written in one pass, as a stream of
// fields; only the sums of the track being written and the tables that samples
// refer to are held in memory; of all tracks where samples are sums over them. The tables stand behind the samples, which the
// format allows.
//
// What stands for what:
//
//   - Sample types are samples/count and cpu/nanoseconds, as in Go's own CPU
//     profiles, so that the two can be compared and merged. Types of which there is
//     nothing are left out: both without samples, the second without CPU time. The
//     default is the first of cpu, samples, wall, inuse_space that there is.
//
//   - Labels are process (its title), instance (its id; titles may be equal) and
//     track; goroutine (a number) and the labels that the program itself gives its
//     work, where they are known; on request also time, the moment at which a
//     bucket begins. Labels of the program that are called as one of
//     these have "label." before them. On request there are none but those of
//     the program, and samples are sums over all processes and tracks.
//
//   - Functions that were inlined are lines of the location that they were
//     inlined into. Frames that are no code, such as labels, are locations
//     without an address.
//
//   - Mappings have build ids. Those of profiles and of perf.data go out as they came,
//     the addresses of others are made up (modules.go).
//
//   - What the only profile that is converted says of itself goes out as it came: time,
//     period, types of values and their order, comments, and no labels but its own
//     (came.go).
//
//   - What is missing from the recording stands in the comments.
//
//   - Allocations add the sample types of Go's heap profiles: alloc_objects,
//     alloc_space, inuse_objects and inuse_space. One file has them beside those of
//     the CPU: pprof is told by -sample_index which to show, and merges it with
//     profiles that have some of them. Of a whole recording they are what
//     runtime/pprof would say at its end: allocated since the process began; of a
//     part of one, what was allocated and freed meanwhile.
//
//   - Measurements add a sample type for each measure, by its name and unit.
//
//   - Waits add the sample type wall/nanoseconds: time on the wall of goroutines
//     that wait. It is 0 for samples of the CPU, whose values are 0 for waits.
//
// What is no sample, wait, measurement or allocation has no place here, and is in the
// ledger.
package pprof

import (
	"gprof/convert/internal/pipeline"
	"gprof/convert/internal/totals"
	"gprof/rawformat/profileproto"
	"gprof/stream"
)

// flushSize is how many bytes are collected before they are written.
const flushSize = 64 << 10

// Sink writes one profile.
type Sink struct {
	pipe   *pipeline.Writer
	buf    []byte // not yet written
	tables *stream.Tables
	known  []stream.Line // the ledger of the source
	totals *totals.Totals
	came   came

	options   Options
	sums      sums
	texts     texts
	functions functions
	modules   modules
	locations locations
	types     types

	body, values, labels, line []byte // scratch
	frames                     []stream.Frame
}

// Options are the choices of a Sink.
type Options struct {
	Every stream.Time // above 0: samples are by bucket of time as well, each so long
	// Sum says that samples are of all processes, tracks and goroutines together, as
	// pprof itself merges profiles, and bear no labels that tell of which one. Every
	// is 0 then.
	Sum bool
}

// New returns a Sink that writes to w, and closes it at the end.
func New(w *pipeline.Writer, o Options) *Sink { return &Sink{pipe: w, options: o} }

// Begin makes tables ready.
func (s *Sink) Begin(t *stream.Tables) error {
	if err := t.ReserveStacks(3 * 4); err != nil { // where its sums are, and how it is encoded
		return err
	}
	s.tables = t
	s.known = t.Ledger.Lines() // other sinks may add to it
	s.came = profileOf(t)
	s.types.build(t)
	s.types.arrange(&s.came)
	done := s.track
	if s.options.Sum {
		s.sums = newSums(t, len(s.types.list))
		done = s.sumUp
	}
	s.totals = totals.New(t, done)
	s.totals.Every, s.totals.ByWho = s.options.Every, true
	s.totals.Heap, s.totals.Waits, s.totals.Measurements = t.Has(stream.Allocations), t.Has(stream.Waits), t.Has(stream.Measurements)
	s.modules.build(t)
	s.locations.build(t)
	for _, typ := range s.types.list {
		s.valueType(profileproto.ProfileSampleType, typ.name, typ.unit)
	}
	return nil
}

// Segment adds the rows of b.
func (s *Sink) Segment(b *stream.Batch) error {
	s.totals.Add(b)
	return s.flush(flushSize)
}

// Close writes what is left: the tables, mostly. It adds what was lost to the
// ledger of the tables.
func (s *Sink) Close() error {
	s.totals.Finish()
	s.writeSums()
	s.writeLocations() // which numbers functions,
	s.writeFunctions() // which number strings
	s.writeMappings()
	s.writeHeader()
	s.writeTexts()
	s.totals.Tell()
	if err := s.flush(0); err != nil {
		return err
	}
	return s.pipe.Close()
}

// message adds a field of the profile.
func (s *Sink) message(field int, body []byte) {
	s.buf = appendBytes(s.buf, field, body)
	s.body = body[:0]
	s.flush(flushSize) // the pipe keeps its error
}

// flush writes what was collected, if it is so much.
func (s *Sink) flush(size int) error {
	if len(s.buf) < size {
		return nil
	}
	_, err := s.pipe.Write(s.buf)
	s.buf = s.buf[:0]
	return err
}

func (s *Sink) valueType(field int, typ, unit string) {
	body := appendNumber(s.body[:0], profileproto.ValueType, s.texts.number(typ))
	s.message(field, appendNumber(body, profileproto.ValueUnit, s.texts.number(unit)))
}
