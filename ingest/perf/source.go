package perf

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

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
	raw     *records // as in the file
	records *records // being read: raw, then the compressed ones
	claim   stream.Claim

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
	skipped                              skipCounts
}

// Source returns the source of the processes that have an id.
func (f *File) Source(t *stream.Tables, ids []stream.ProcessID, shift stream.Time) stream.Source {
	t.Lock()
	defer t.Unlock()
	s := &source{file: f, output: newOutput(t, f.life.all, ids, f.rows, shift), code: newCode(t, f)}
	s.switches.threads, s.lost.skipped = map[thread]*offCPU{}, skipCounts{}
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
	s.setClaim(0)
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

// mappingBytes is the approximate memory of a mapping.
const mappingBytes = 64

// rewind opens the file at its records.
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
	mappings := 0
	for _, p := range s.file.life.all {
		mappings += cap(p.maps)
	}
	s.setClaim(int64(mappings) * mappingBytes)
	return nil
}

func (s *source) setClaim(bytes int64) {
	if bytes != s.claim.Bytes() {
		s.tables.Lock()
		defer s.tables.Unlock()
		s.claim.Set(s.tables, bytes)
	}
}

// expect tells the tables what the file will add, unless only some of it is wanted.
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

// turn continues after the last readable record: with the compressed ones, or at the end.
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

// tell writes to the ledger what is missing.
func (s *source) tell() {
	s.note(stream.Line{Reason: stream.ReasonDropped, What: "records", Where: "by the kernel", Count: s.lost.records})
	s.note(stream.Line{Reason: stream.ReasonDropped, What: "samples", Where: "the kernel throttled so many times", Count: s.lost.throttled})
	s.note(stream.Line{Reason: stream.ReasonMalformed, What: "samples", Count: s.lost.damaged})
	s.note(stream.Line{Reason: stream.ReasonUndefined, What: "samples", Where: "of no event that the file tells of", Count: s.lost.unknown})
	s.note(stream.Line{Reason: stream.ReasonUndefined, What: "stacks", Where: "of the user's code, of which perf copied the memory (--call-graph dwarf): the programs follow them (--symbols)", Count: s.lost.copied})
	s.code.follower.tell(s.note)
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
	stack := s.code.stack(p, m, a, rec.misc, cut)
	who := thread{p, m.Tid}
	if leavesCPU(a.name) {
		s.switches.stack(s, who, m.Time, stack)
	}
	s.lost.addDetails(a, m, s.code.follower != nil)
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

// addDetails counts what of a sample has no place here.
func (l *losses) addDetails(a *attr, m *perfevent.Sample, follows bool) {
	if m.Copied && !follows {
		l.copied++
	}
	if m.Branches {
		l.branches++
	}
	if a.kind == typeTracepoint && a.Sample&perfevent.SampleRaw != 0 {
		l.fields++
	}
}

// deliver makes rows for n of an event at the time of the sample, unless a group's counter has not
// moved.
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

// Contents of records that have no place here.
const (
	ofTracing  = "of hardware tracing"
	ofCounting = "of perf stat, which counts and samples nothing"
	ofValues   = "of counters at the ends of threads"
	ofDeferred = "of user stacks that came late"
)

// skipped is the records that are ignored, and what is lost with them, "" nothing. Missing kinds
// are of later versions.
var skipped = map[uint32]string{
	perfevent.KindMmap: "", perfevent.KindComm: "", perfevent.KindExit: "", perfevent.KindFork: "", perfevent.KindMmap2: "",
	6: "", 8: ofValues, // unthrottled, read
	perfevent.KindAux: ofTracing, 12: ofTracing, 21: ofTracing,
	16: "", 17: "", 18: "", 19: "", 20: "", // namespaces, symbols of what the kernel compiled, its programs, control groups, changes of its code
	22: ofDeferred,

	recordAttr: "", 65: "", recordTracingData: "", recordBuildID: "", 69: "", // and event types, the index of ids
	70: ofTracing, recordAuxtrace: ofTracing, 72: ofTracing,
	73: "", 74: "", 78: "", 79: "", recordFeature: "", recordCompressed: "", 82: "", recordCompressed2: "", 84: "", // and maps of threads and processors, updates, rates of clocks, ends of what perf itself adds
	75: ofCounting, 76: ofCounting, 77: ofCounting,
}

// maxKind stands for all higher kinds.
const maxKind = 255

// skipCounts counts ignored records by kind.
type skipCounts map[uint32]int64

func (k skipCounts) add(kind uint32) { k[min(kind, maxKind)]++ }

// tell writes what is lost to the ledger.
func (k skipCounts) tell(note func(stream.Line)) {
	lost := map[string]int64{}
	for _, kind := range slices.Sorted(maps.Keys(k)) {
		where, known := skipped[kind]
		switch {
		case !known:
			note(stream.Line{Reason: stream.ReasonUnknownKind, What: "records", Where: fmt.Sprintf("of kind %d", kind), Count: k[kind]})
		case where != "":
			lost[where] += k[kind]
		}
	}
	for _, where := range slices.Sorted(maps.Keys(lost)) {
		note(stream.Line{Reason: stream.ReasonUnsupported, What: "records", Where: where, Count: lost[where]})
	}
}

// counts are the last values of counters. Those of a group (perf record -e
// '{cycles,instructions}:S') come with each sample of its first event.
type counts map[counterID]uint64

// counterID is a counter of an event on a CPU or of a thread, which children may share.
type counterID struct {
	id  uint64
	tid int32
}

// maxCounters bounds the counters in memory: groups are of few events and one command's threads.
const maxCounters = 1 << 18

// since is by how much a counter has grown since its last value. It is not ok if there are too many
// counters.
func (c counts) since(a *attr, tid int32, v perfevent.Value) (n uint64, ok bool) {
	key := counterID{id: v.ID}
	if a.Flags&perfevent.FlagInherit != 0 {
		key.tid = tid
	}
	before, known := c[key]
	if !known && len(c) == maxCounters {
		return 0, false
	}
	c[key] = v.Value
	return v.Value - min(before, v.Value), true
}
