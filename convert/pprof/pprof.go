// Package pprof writes the format of github.com/google/pprof, which go tool
// pprof and the Go compiler (go build -pgo) read.
//
// The output is one profile.proto message: the number of samples and their CPU
// time, by process, track and stack. It is written in one pass, as a stream of
// fields; only the sums of the track being written and the tables that samples
// refer to are held in memory; of all tracks where samples are sums over them. The tables stand behind the samples, which the
// format allows.
//
// The stream's terms become pprof's:
//
//   - Sample types are samples/count and cpu/nanoseconds, as in Go's own CPU
//     profiles, so that the two can be compared and merged. Types of which there is
//     nothing are left out: both without samples, the second without CPU time. The
//     default is the first of cpu, samples, wall, inuse_space that there is.
//
//   - Labels are process (its title), instance (its id; titles may be equal) and
//     track; goroutine (a number) and the labels that the program itself gives its
//     work, where they are known; on request also time, the moment at which a
//     bucket begins. The span of a trace that a sample is part of is trace_id and span_id, of
//     the first [maxSpans] spans.
//     Labels of the program that are called as one of
//     these have "label." before them. On request there are none but those of
//     the program, and samples are sums over all processes and tracks.
//
//   - Functions that were inlined are lines of the location that they were
//     inlined into. Frames that are no code, such as labels, are locations
//     without an address.
//
//   - Mappings have build ids. Those of profiles and of perf.data go out as they came,
//     the addresses of others are made up, see convert/internal/locations.
//
//   - A profile that is converted alone keeps what it says of itself: time, period, types of
//     values and their order, comments, samples that are zero, and no labels but its own. Names
//     for the linker and numeric labels go out as they came from any profile.
//
//   - Losses of the recording stand in the comments.
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
// Other rows than samples, waits, measurements and allocations have no place here;
// the ledger counts them.
package pprof

import (
	"encoding/binary"
	"strconv"
	"strings"
	"time"

	"gprof/convert/internal/locations"
	"gprof/convert/internal/pipeline"
	"gprof/convert/internal/totals"
	"gprof/rawformat/profileproto"
	"gprof/rawformat/protobuf"
	"gprof/stream"
)

// flushSize is how many bytes are buffered.
const flushSize = 64 << 10

// Sink writes one profile.
type Sink struct {
	pipe     *pipeline.Writer
	buf      []byte // not yet written
	tables   *stream.Tables
	known    []stream.Line // the ledger of the source
	totals   *totals.Totals
	imported totals.Came

	options   Options
	sums      sums
	texts     locations.Texts
	functions locations.Functions
	modules   locations.Modules
	locations locations.Table
	types     totals.Types
	process   stream.ProcessID // of the samples being written
	shared    int              // bytes of labels that all of its samples have
	named     spanTexts
	spansLost stream.Ledger

	body, values, labels, line []byte // scratch
	frames                     []stream.Frame
}

// Options are the options of a Sink.
type Options struct {
	Every stream.Time // above 0: length of buckets of time
	// Sum sums samples over all processes, tracks and goroutines, as pprof merges profiles, without
	// labels for these. Every is 0 then.
	Sum bool
}

// New returns a Sink that writes to w, and closes it at the end.
func New(w *pipeline.Writer, o Options) *Sink { return &Sink{pipe: w, options: o} }

// Begin makes tables ready.
func (s *Sink) Begin(t *stream.Tables) error {
	// For each stack: the index of its sums and its encoding. For each frame: its locations.
	if err := t.Reserve(stream.RowBytes{Stack: 3 * 4, Frame: 1 + 4}.In(t)); err != nil {
		return err
	}
	s.tables = t
	s.known = t.Ledger.Lines() // other sinks may add to it
	s.imported = totals.CameWith(t)
	s.types.Build(t, &s.imported)
	done := s.track
	if s.options.Sum {
		s.sums = newSums(t, len(s.types.List))
		done = s.addTrack
	}
	s.totals = totals.New(t, done)
	s.totals.Aside = s.pipe.Jobs() > 1
	s.totals.Every, s.totals.ByWho, s.totals.Spans = s.options.Every, true, !s.options.Sum
	s.totals.OwnClocks, s.totals.Parts = s.options.Sum, s.options.Sum
	s.totals.Heap, s.totals.Waits, s.totals.Measurements = t.Has(stream.Allocations), t.Has(stream.Waits), t.Has(stream.Measurements)
	s.modules.Build(t, s.options.Sum)
	s.locations.Build(t)
	for _, typ := range s.types.List {
		s.valueType(profileproto.ProfileSampleType, typ)
	}
	return nil
}

// Segment adds the rows of b.
func (s *Sink) Segment(b *stream.Batch) error {
	s.totals.Add(b)
	return s.pipe.Err()
}

// Close writes the rest, mostly the tables, and adds what was lost to the ledger of the tables.
func (s *Sink) Close() error {
	s.totals.Finish()
	s.writeSums()
	s.writeLocations() // which numbers functions,
	s.writeFunctions() // which number strings
	s.writeMappings()
	s.writeHeader()
	s.writeTexts()
	s.totals.Tell()
	for _, line := range s.spansLost.Lines() {
		s.tables.Ledger.Add(line)
	}
	if err := s.flush(0); err != nil {
		return err
	}
	return s.pipe.Close()
}

// message adds a field of the profile.
func (s *Sink) message(field int, body []byte) {
	s.buf = protobuf.AppendBytes(s.buf, field, body)
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

func (s *Sink) valueType(field int, typ stream.ValueType) {
	body := protobuf.AppendNumber(s.body[:0], profileproto.ValueType, s.texts.Number(typ.Name))
	s.message(field, protobuf.AppendNumber(body, profileproto.ValueUnit, s.texts.Number(typ.Unit)))
}

// The keys of labels of our own.
const (
	labelProcess   = "process"
	labelInstance  = "instance"
	labelTrack     = "track"
	labelGoroutine = "goroutine"
	labelTime      = "time"
	labelTrace     = stream.LabelTrace
	labelSpan      = stream.LabelSpan
)

// track writes the samples of a track, or of one of its buckets.
func (s *Sink) track(all *totals.Part) {
	s.label(all)
	for some := range all.Chunks(locations.Together) {
		var stacks [locations.Together]stream.StackID
		for i := range some {
			stacks[i] = some[i].Stack
		}
		s.locations.Approach(stacks[:len(some)])
		for i := range some {
			if total := &some[i]; !total.Zero() || s.imported.Alone != nil {
				s.sample(total.Stack, total.Owner, s.types.ValuesOf(total, all.Measure))
			}
		}
	}
}

func (s *Sink) sample(stack stream.StackID, who stream.Owner, values []int64) {
	inner, outer := s.locations.Encode(stack)
	size, body := len(inner)+len(outer), s.body[:0]
	if size > 0 {
		body = protobuf.AppendLength(body, profileproto.SampleLocations, size)
	}
	before := len(body) // what stands before the locations, which are copied once
	s.values = s.values[:0]
	for _, v := range values {
		s.values = binary.AppendUvarint(s.values, uint64(v))
	}
	body = protobuf.AppendBytes(body, profileproto.SampleValues, s.values)
	body = s.appendWho(append(body, s.labels...), who)
	s.buf = protobuf.AppendLength(s.buf, profileproto.ProfileSample, size+len(body))
	s.buf = append(append(append(append(s.buf, body[:before]...), inner...), outer...), body[before:]...)
	s.body = body[:0]
	s.flush(flushSize)
}

// label makes the labels of a track's samples.
func (s *Sink) label(of *totals.Part) {
	if of.Process != s.process {
		s.process = of.Process
		s.labelShared(s.tables.Process(of.Process))
	}
	s.labels = s.labels[:s.shared]
	if s.imported.Alone == nil {
		s.appendLabel(labelTrack, s.tables.Tracks.At(of.Track).Name)
	}
	if s.options.Every > 0 {
		s.appendLabel(labelTime, s.moment(of.At))
	}
}

// labelShared makes the labels that all samples of a process have.
func (s *Sink) labelShared(p *stream.Process) {
	s.labels = s.labels[:0]
	if s.imported.Alone == nil { // else its labels are those that came
		s.appendLabel(labelProcess, p.Title())
		s.appendLabel(labelInstance, p.InstanceName())
	}
	s.shared = len(s.labels)
}

// appendWho appends the labels of a sample's goroutine and its work.
func (s *Sink) appendWho(body []byte, who stream.Owner) []byte {
	if who.Goroutine != 0 {
		s.line = protobuf.AppendNumber(s.line[:0], profileproto.LabelKey, s.texts.Number(labelGoroutine))
		s.line = protobuf.AppendNumber(s.line, profileproto.LabelNumber, uint64(who.Goroutine))
		body = protobuf.AppendBytes(body, profileproto.SampleLabel, s.line)
	}
	body = s.appendSpan(body, who.Span)
	if who.Labels == 0 {
		return body
	}
	for key, value := range s.tables.Labels.At(who.Labels).All() {
		numeric := s.tables.NumericLabel(key)
		if key = s.programKey(key); who.Span != (stream.Span{}) && (key == labelTrace || key == labelSpan) {
			key = "label." + key
		}
		if numeric {
			if with, ok := s.appendNumbers(body, key, value); ok {
				body = with
				continue
			}
		}
		s.line = s.textLabel(s.line[:0], key, value)
		body = protobuf.AppendBytes(body, profileproto.SampleLabel, s.line)
	}
	return body
}

// appendNumbers appends the labels of a key whose values are numbers, perhaps with units, separated
// by commas. It is not ok if they are not, as when they were redacted.
func (s *Sink) appendNumbers(body []byte, key, values string) (with []byte, ok bool) {
	for value := range strings.SplitSeq(values, ", ") {
		digits, unit, _ := strings.Cut(value, " ")
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return body, false
		}
		s.line = protobuf.AppendNumber(s.line[:0], profileproto.LabelKey, s.texts.Number(key))
		s.line = protobuf.AppendNumber(s.line, profileproto.LabelNumber, uint64(n))
		s.line = protobuf.AppendNumber(s.line, profileproto.LabelUnit, s.texts.Number(unit))
		body = protobuf.AppendBytes(body, profileproto.SampleLabel, s.line)
	}
	return body, true
}

// programKey is the key of a label of the program.
func (s *Sink) programKey(key string) string {
	if s.imported.Alone != nil && (key != labelTime || s.options.Every == 0) {
		return key
	}
	switch key {
	case labelProcess, labelInstance, labelTrack, labelGoroutine, labelTime:
		return "label." + key
	}
	return key
}

// moment is a time as text, in UTC: texts sort by it.
func (s *Sink) moment(at stream.Time) string {
	format := "2006-01-02T15:04:05Z"
	if s.options.Every%stream.Time(time.Second) != 0 {
		format = "2006-01-02T15:04:05.000000000Z"
	}
	return time.Unix(0, int64(at)).UTC().Format(format)
}

// appendLabel appends a label unless it is empty.
func (s *Sink) appendLabel(key, value string) {
	if value == "" {
		return
	}
	s.line = s.textLabel(s.line[:0], key, value)
	s.labels = protobuf.AppendBytes(s.labels, profileproto.SampleLabel, s.line)
}

// textLabel appends the fields of a text label.
func (s *Sink) textLabel(dst []byte, key, value string) []byte {
	dst = protobuf.AppendNumber(dst, profileproto.LabelKey, s.texts.Number(key))
	return protobuf.AppendNumber(dst, profileproto.LabelText, s.texts.Number(value))
}
