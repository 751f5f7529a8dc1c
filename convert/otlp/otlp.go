// Package otlp writes OpenTelemetry's profiles, which its collector and what is behind that take: a
// ProfilesData message of opentelemetry.proto.profiles.v1development, as protobuf or as JSON. Package
// rawformat/otlpproto says which state of that it is.
//
// The stream's terms become OpenTelemetry's:
//
//   - A process is a resource, whose attributes are those of the semantic conventions: service, process,
//     host, os. Its profiles are one for each type of values, as in pprof's format: samples/count,
//     cpu/nanoseconds, wall/nanoseconds of waits, the four of the heap, and measures.
//
//   - Samples keep their times, one for each value. Those of one stack, track, goroutine and label set are
//     one sample, up to a number of rows. What adds up to a moment at the end has no times: the heap, and
//     the profiles of pprof's format that are converted.
//
//   - The track is the attribute thread.name, the goroutine goroutine. Labels of the
//     program are attributes; those called as one of these have "label." before them. The span that a
//     sample is part of, or that labels trace_id and span_id name in hexadecimal, is a link.
//
//   - Functions, locations and mappings are those of pprof's format: see convert/internal/locations. What
//     only pprof's has a field for is an attribute of the conventions, pprof.*; build ids are as well.
//
//   - What is missing from the recording stands in pprof.profile.comment.
//
// The message is written in one pass. A process' samples and the dictionary wait in temporary files, as
// their lengths stand before them. Rows of other kinds have no place here; the ledger counts them.
//
// For a collector, which takes requests of a limited size, the same is several messages, each with a
// dictionary of its own.
package otlp

import (
	"fmt"
	"hash/fnv"
	"slices"

	"gprof/convert/internal/pipeline"
	"gprof/convert/internal/totals"
	"gprof/rawformat/otlpproto"
	"gprof/rawformat/protobuf"
	"gprof/stream"
	"gprof/stream/spill"
)

// Options are the options of a Sink.
type Options struct {
	JSON     bool
	SpillDir string // for temporary files, "" for the system's place
}

// Sink writes one message.
type Sink struct {
	form     form
	end      func() error // takes the rest of the output
	requests *requests    // nil: there is one message
	tables   *stream.Tables
	known    []stream.Line // the ledger of the source
	totals   *totals.Totals
	came     totals.Came
	types    totals.Types
	moments  moments
	samples  *spill.File
	codeFile *spill.File

	process  stream.ProcessID // whose rows come
	profiles []profile        // of it, by type
	unknown  int64            // samples of it whose CPU time is unknown
	span     span
	*dictionary

	body, values, cpu, times, framed []byte // scratch
}

// profile is one that is being collected.
type profile struct {
	samples *spill.Buffer // fields of a profile
	size    int64
}

// span is from the first row of a process to the last.
type span struct{ first, last stream.Time }

func (s *span) add(at stream.Time) {
	if *s == (span{}) {
		*s = span{at, at}
	}
	s.first, s.last = min(s.first, at), max(s.last, at)
}

// New returns a Sink that writes to w, and closes it at the end.
func New(w *pipeline.Writer, o Options) *Sink {
	s := spilling(o.SpillDir)
	s.form, s.end = &protoForm{out: w}, w.Close
	if o.JSON {
		s.form = &jsonForm{out: w}
	}
	return s
}

// spilling is a Sink with its temporary files.
func spilling(spillDir string) *Sink {
	return &Sink{samples: spill.New(spillDir), codeFile: spill.New(spillDir)}
}

// Begin makes tables ready.
func (s *Sink) Begin(t *stream.Tables) error {
	// For each stack: the index of its sums, of its moments and of its encoding, and its number. For each
	// frame: its locations.
	if err := t.Reserve(stream.RowBytes{Stack: 4 * 4, Frame: 1 + 4}.In(t)); err != nil {
		return err
	}
	s.tables, s.known = t, t.Ledger.Lines()
	s.came = totals.CameWith(t)
	s.types.Build(t, &s.came)
	s.totals = totals.New(t, s.addTotals)
	s.totals.ByWho, s.totals.Spans, s.totals.Heap, s.totals.Waits, s.totals.Measurements = true, true, true, true, true
	s.moments = newMoments(t, s.addMoments)
	s.dictionary = newDictionary(t, s.codeFile)
	s.form.begin()
	return nil
}

// Segment adds the rows of b.
func (s *Sink) Segment(b *stream.Batch) error {
	if b.Series.Process != s.process {
		s.reach(b.Series.Process)
	}
	if s.timed(b.Series.Kind) {
		s.moments.add(b)
	} else {
		s.moments.finish()
		s.totals.Add(b)
	}
	if s.requests != nil && s.requests.err != nil {
		return s.requests.err
	}
	return s.samples.Err()
}

// timed reports whether rows of a kind have times in the output. Those of a profile have none of their own.
func (s *Sink) timed(k stream.Kind) bool {
	return (k == stream.Samples || k == stream.Waits || k == stream.Measurements) && len(s.tables.Process(s.process).Profile.Types) == 0
}

// reach ends the process before another one, and writes those between them, of which there are no rows.
func (s *Sink) reach(next stream.ProcessID) {
	for s.process < next {
		if s.process != 0 {
			s.endProcess()
		}
		s.process++
		s.profiles = make([]profile, len(s.types.List))
		s.span, s.unknown = span{}, 0
	}
}

// endProcess takes what was added up, and writes the process.
func (s *Sink) endProcess() {
	s.moments.finish()
	s.totals.Finish()
	s.writeProcess()
}

// Close writes the rest, mostly the dictionary, and adds what has no place to the ledger of the tables.
func (s *Sink) Close() error {
	s.reach(stream.ProcessID(len(s.tables.Processes)))
	if s.process != 0 {
		s.endProcess()
	}
	s.form.dictionary(s.dictionary.finish())
	s.totals.Tell()
	if err := s.samples.Close(); err != nil {
		return err
	}
	if err := s.codeFile.Close(); err != nil {
		return err
	}
	return s.end()
}

// writeProcess writes the profiles of a process as far as they have come.
func (s *Sink) writeProcess() {
	p := s.tables.Process(s.process)
	var all []head
	for i := range s.profiles {
		if at := &s.profiles[i]; at.size > 0 || slices.Contains(p.Profile.Types, s.types.List[i]) {
			all = append(all, head{s.header(p, i, len(all) == 0), *at})
		}
	}
	s.form.process(resourceOf(p), all)
	s.profiles = make([]profile, len(s.types.List))
	s.samples.Reset()
}

// header is the fields of a profile but for its samples.
func (s *Sink) header(p *stream.Process, i int, first bool) []byte {
	start, end := p.Start, p.End
	if s.span != (span{}) {
		start, end = min(start, s.span.first), max(end, s.span.last+1)
	}
	typ := s.types.List[i]
	body := protobuf.AppendBytes(nil, otlpproto.ProfileType, s.valueType(typ))
	body = protobuf.AppendBytes(body, otlpproto.ProfileID, s.profileID(p, typ))
	body = protobuf.AppendFixed64(body, otlpproto.ProfileTime, uint64(start))
	body = protobuf.AppendNumber(body, otlpproto.ProfileDuration, uint64(max(0, end-start)))
	if period, n := periodOf(p, typ); n > 0 {
		body = protobuf.AppendBytes(body, otlpproto.ProfilePeriodType, s.valueType(period))
		body = protobuf.AppendNumber(body, otlpproto.ProfilePeriod, uint64(n))
	}
	if of := s.profileAttributes(p, first); len(of) > 0 {
		body = protobuf.AppendBytes(body, otlpproto.ProfileAttributes, of)
	}
	return body
}

// profileID is the same whenever the same is converted.
func (s *Sink) profileID(p *stream.Process, typ stream.ValueType) []byte {
	h := fnv.New128a()
	fmt.Fprintf(h, "%s %s %s", p.InstanceName(), typ.Name, typ.Unit)
	if s.requests != nil && s.requests.sent > 0 {
		fmt.Fprintf(h, " %d", s.requests.sent)
	}
	return h.Sum(nil)
}

// periodOf is how far samples of a type lie apart, 0 if that is unknown.
func periodOf(p *stream.Process, typ stream.ValueType) (stream.ValueType, int64) {
	if len(p.Profile.Types) > 0 {
		return p.Profile.PeriodType, p.Profile.Period
	}
	if typ == totals.CountTypes[0] || typ == totals.CPUTypes[0] {
		return totals.CPUTypes[0], p.Interval
	}
	return stream.ValueType{}, 0
}

func (s *Sink) valueType(typ stream.ValueType) []byte {
	body := protobuf.AppendNumber(nil, otlpproto.TypeName, s.texts.Number(typ.Name))
	return protobuf.AppendNumber(body, otlpproto.TypeUnit, s.texts.Number(typ.Unit))
}
