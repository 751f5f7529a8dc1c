package perf

import (
	"bufio"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"

	"gprof/ingest/internal/damage"
	"gprof/rawformat/perfevent"
	"gprof/stream"
)

// source gives the events of some processes of a file.
type source struct {
	output
	file    *File
	closer  io.Closer
	zstd    *zstd.Decoder
	raw     *records // as they lie in the file
	records *records // that are read: raw, then what is in compressed ones
	held    int64

	code     *code
	switches switches
	sample   perfevent.Sample
	counts   counts
	lost     losses
}

// losses are what a file says is missing, and what could not be read.
type losses struct {
	records, throttled, damaged, unknown int64
	copied, branches, fields, cut        int64
	skipped                              skips
}

// Source returns the source of those of the processes that have an id.
func (f *File) Source(t *stream.Tables, ids []stream.ProcessID, shift stream.Time) stream.Source {
	t.Lock()
	defer t.Unlock()
	s := &source{file: f, output: newOutput(t, f.life.all, ids, f.rows, shift), code: newCode(t, f)}
	s.switches.threads, s.lost.skipped = map[thread]*offCPU{}, skips{}
	s.counts = counts{}
	return s
}

// Progress implements [stream.Progress].
func (s *source) Progress() (done, total int64) {
	switch {
	case s.ended:
		return s.file.size, s.file.size
	case s.raw == nil:
		return 0, s.file.size
	}
	return min(s.raw.at-int64(s.file.layout.data.at), s.file.size), s.file.size
}

// Next implements [stream.Source]. The error is one of opening the file.
func (s *source) Next(b *stream.Batch) error { return s.next(b, s.fill) }

// Close implements [io.Closer].
func (s *source) Close() error {
	s.ended = true
	s.rows.Drop()
	return s.release()
}

func (s *source) release() error {
	if s.held != 0 {
		s.tables.Lock()
		s.tables.Hold(-s.held)
		s.tables.Unlock()
		s.held = 0
	}
	if s.zstd != nil {
		s.zstd.Close()
		s.zstd = nil
	}
	if s.closer == nil {
		return nil
	}
	err := s.closer.Close()
	s.closer = nil
	return err
}

// mappingBytes is about what a mapping takes.
const mappingBytes = 64

// rewind opens the file where its records begin.
func (s *source) rewind() error {
	if err := s.release(); err != nil {
		return err
	}
	r, err := s.file.open()
	if err != nil {
		return err
	}
	s.closer = r
	in := bufio.NewReaderSize(r, bufferSize)
	if _, err := in.Discard(int(s.file.layout.data.at)); err != nil {
		return err
	}
	s.raw = s.file.rawRecords(in)
	s.records = s.raw
	for _, p := range s.file.life.all {
		s.held += int64(cap(p.maps)) * mappingBytes
	}
	s.tables.Lock()
	s.tables.Hold(s.held)
	s.tables.Unlock()
	return nil
}

// expect tells the tables what will come of the file, unless some of it is not wanted.
func (s *source) expect() {
	if len(s.ids) == len(s.file.life.all) {
		s.tables.Lock()
		defer s.tables.Unlock()
		s.tables.Expect(s.file.stacks, s.file.frames)
	}
}

// fill reads until there are rows to hand over, or no more records.
func (s *source) fill() error {
	if s.records == nil {
		if err := s.rewind(); err != nil {
			return err
		}
		if s.expect(); s.isFull() {
			return s.finish()
		}
	}
	var rec record
	for !s.rows.Full() {
		if err := s.records.next(&rec); err != nil {
			return s.turn(err)
		}
		s.take(&rec)
	}
	s.rows.Hand()
	if s.isFull() {
		return s.finish()
	}
	return nil
}

// turn goes on behind the last record that could be read: with what compressed ones
// hold, or to the end.
func (s *source) turn(err error) error {
	var at *damage.Error
	switch {
	case err == io.EOF || errors.As(err, &at) || s.records != s.raw:
		if err != io.EOF {
			s.note(stream.Line{Reason: reasonOf(err), What: "records", Where: err.Error(), Count: 1})
		}
	default:
		return err
	}
	if s.file.packed && s.zstd == nil {
		if err := s.rewind(); err != nil {
			return err
		}
		unpacked, z, err := unpack(s.raw)
		if err != nil {
			return err
		}
		s.records, s.zstd = unpacked, z
		return nil
	}
	return s.finish()
}

// reasonOf is why there are no more records.
func reasonOf(err error) stream.Reason {
	if errors.Is(err, damage.ErrTorn) {
		return stream.ReasonTorn
	}
	return stream.ReasonDamaged
}

// finish ends reading.
func (s *source) finish() error {
	s.switches.finish(s)
	s.rows.Hand()
	s.tell()
	s.code.forget()
	s.ended = true
	return s.release()
}

// tell tells the ledger what is missing.
func (s *source) tell() {
	s.note(stream.Line{Reason: stream.ReasonDropped, What: "records", Where: "by the kernel", Count: s.lost.records})
	s.note(stream.Line{Reason: stream.ReasonDropped, What: "samples", Where: "the kernel throttled so many times", Count: s.lost.throttled})
	s.note(stream.Line{Reason: stream.ReasonMalformed, What: "samples", Count: s.lost.damaged})
	s.note(stream.Line{Reason: stream.ReasonUndefined, What: "samples", Where: "of no event that the file tells of", Count: s.lost.unknown})
	s.note(stream.Line{Reason: stream.ReasonUnsupported, What: "stacks", Where: "of the user's code, of which perf copied the memory (--call-graph dwarf): perf script follows them", Count: s.lost.copied})
	s.note(stream.Line{Reason: stream.ReasonUnsupported, What: "stacks", Where: "of branches that the processor noted (-b, --call-graph lbr)", Count: s.lost.branches})
	s.note(stream.Line{Reason: stream.ReasonDeep, What: "deep stacks", Count: s.lost.cut})
	s.note(stream.Line{Reason: stream.ReasonUnsupported, What: "fields", Where: "of tracepoints", Count: s.lost.fields})
	s.lost.skipped.tell(s.note)
	s.note(stream.Line{Reason: stream.ReasonUndefined, What: "code", Where: "nothing is mapped there", Count: int64(len(s.code.unmapped))})
	s.note(stream.Line{Reason: stream.ReasonUnpaired, What: "switches", Count: s.switches.unpaired})
	if s.file.layout.data.size == 0 && !s.file.layout.pipe {
		s.note(stream.Line{Reason: stream.ReasonTorn, What: "files", Where: "perf did not end its recording: what it notes at the end is missing", Count: 1})
	}
}

// take takes a record.
func (s *source) take(rec *record) {
	switch rec.kind {
	case perfevent.KindSample:
		s.takeSample(rec)
	case perfevent.KindSwitch, perfevent.KindSwitchCPUWide:
		s.takeSwitch(rec)
	case recordRound:
		s.switches.round(s)
	case perfevent.KindLost, perfevent.KindLostSamples:
		lost, _ := perfevent.ParseLost(perfevent.Head{Kind: rec.kind}, rec.body)
		s.lost.records += int64(min(lost, 1<<40))
	case perfevent.KindThrottle:
		s.lost.throttled++
	default:
		s.lost.skipped.add(rec.kind)
	}
}

// takeSample makes rows of a sample.
func (s *source) takeSample(rec *record) {
	a := s.file.attrOf(rec.body)
	if a == nil {
		s.lost.unknown++
		return
	}
	if !a.ParseSample(rec.body, &s.sample) {
		s.lost.damaged++
		return
	}
	m := &s.sample
	if m.Tid < 0 {
		m.Tid = m.Pid // the thread has ended but for its last steps
	}
	if m.Tid < 0 { // the process, too: nobody tells which it was
		s.lost.damaged++
		return
	}
	p := s.file.life.at(m.Pid, m.Time)
	if s.ids[p] == 0 {
		return
	}
	cut := perfevent.IsCut(m.Chain, a.deepest)
	if cut {
		s.lost.cut++
	}
	stack := s.code.stack(p, m, rec.misc, cut)
	who := thread{p, m.Tid}
	if leavesCPU(a.name) {
		s.switches.stack(s, who, m.Time, stack)
	}
	s.lost.addDetails(a, m)
	if a.Sample&perfevent.SampleRead == 0 {
		s.deliver(a, who, stack, m.Period)
		return
	}
	for _, v := range m.Values {
		a := s.file.attrWith(v.ID, a)
		if a == nil {
			s.lost.unknown++
			continue
		}
		if n, ok := s.counts.since(a, m.Tid, v); ok {
			s.deliver(a, who, stack, n)
		} else {
			s.lost.damaged++
		}
	}
}

// addDetails counts what a sample tells that has no place here.
func (l *losses) addDetails(a *attr, m *perfevent.Sample) {
	if m.Copied {
		l.copied++
	}
	if m.Branches {
		l.branches++
	}
	if a.kind == typeTracepoint && a.Sample&perfevent.SampleRaw != 0 {
		l.fields++
	}
}

// deliver makes rows of an event at the moment of the sample, unless it has not occurred.
func (s *source) deliver(a *attr, who thread, stack stream.StackID, n uint64) {
	if n == 0 && a.Sample&perfevent.SampleRead != 0 {
		return
	}
	at, period := s.file.facts.moment(s.sample.Time), int64(min(n, 1<<62))
	if a.use != asMeasurements {
		cpu := int64(-1)
		if a.use == asClock {
			cpu = period
		}
		s.addSample(who, at, stack, cpu)
	}
	if a.use != asClock {
		s.addMeasurement(who, at, stack, a.name, period)
	}
}
