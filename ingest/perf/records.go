package perf

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"gprof/ingest/internal/damage"
	"gprof/rawformat/perfevent"
)

// Kinds of records that perf adds to the kernel's.
const (
	recordAttr        = 64
	recordTracingData = 66
	recordBuildID     = 67
	recordRound       = 68
	recordAuxtrace    = 71
	recordFeature     = 80
	recordCompressed  = 81
	recordCompressed2 = 83
)

// miscIDSize says that a build id has a size.
const miscIDSize = 1 << 15

// record is one of a file. Its body is valid until the next is read.
type record struct {
	at   int64
	kind uint32
	misc uint16
	body []byte
}

// records reads records one after the other.
type records struct {
	r    *bufio.Reader // with room for any record, of 64 KiB at most
	at   int64
	end  int64 // offset; -1: the end of the input
	pipe bool  // perf wrote to a pipe: tracing data is between the records
}

// recordHead is the size of a record's header.
const recordHead = 8

// next reads a record. The error is io.EOF, a [*damage.Error], or that of reading.
func (r *records) next(rec *record) error {
	rec.at = r.at
	if r.end >= 0 && r.at >= r.end {
		return io.EOF
	}
	head, err := r.r.Peek(recordHead)
	if len(head) == 0 && err == io.EOF && r.end < 0 {
		return io.EOF
	} else if err != nil {
		return r.torn(err)
	}
	c := cursor{rest: head}
	rec.kind, rec.misc = c.u32(), c.u16()
	size := int(c.u16())
	if size < recordHead || r.end >= 0 && int64(size) > r.end-r.at {
		return &damage.Error{Off: r.at, Err: fmt.Errorf("%w: a record of %d bytes", damage.ErrDamaged, size)}
	}
	whole, err := r.r.Peek(size)
	if err != nil {
		return r.torn(err)
	}
	r.r.Discard(size) // the bytes stay until more are read
	r.at += int64(size)
	rec.body = whole[recordHead:]
	return r.skipData(rec)
}

// skipData skips data that follows a record.
func (r *records) skipData(rec *record) error {
	c := cursor{rest: rec.body}
	var size uint64
	switch {
	case rec.kind == recordAuxtrace:
		size = c.u64()
	case rec.kind == recordTracingData && r.pipe:
		size = (uint64(c.u32()) + 7) &^ 7
	}
	if size == 0 {
		return nil
	}
	if size > 1<<40 {
		return &damage.Error{Off: rec.at, Err: fmt.Errorf("%w: data of %d bytes", damage.ErrDamaged, size)}
	}
	rec.body = bytes.Clone(rec.body)
	n, err := io.CopyN(io.Discard, r.r, int64(size))
	r.at += n
	if err != nil {
		return r.torn(err)
	}
	return nil
}

// torn is the error of a file that ends too early.
func (r *records) torn(err error) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return &damage.Error{Off: r.at, Err: damage.ErrTorn}
	}
	return err
}

// compressed returns the record's part of the compressed stream.
func (rec *record) compressed() []byte {
	switch rec.kind {
	case recordCompressed:
		return rec.body
	case recordCompressed2:
		c := cursor{rest: rec.body}
		return c.take(c.u64())
	}
	return nil
}

// payload reads the stream of compressed records.
type payload struct {
	records *records
	rest    []byte
}

func (p *payload) Read(b []byte) (int, error) {
	for len(p.rest) == 0 {
		var rec record
		if err := p.records.next(&rec); err != nil {
			return 0, io.EOF // it has been told already
		}
		p.rest = rec.compressed()
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// maxWindow bounds the window of the compressed stream: perf's is far smaller.
const maxWindow = 64 << 20

// unpack returns the records of the compressed stream.
func unpack(from *records) (*records, *zstd.Decoder, error) {
	z, err := zstd.NewReader(&payload{records: from}, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, nil, err
	}
	return &records{r: bufio.NewReaderSize(unendedReader{z}, bufferSize), end: -1}, z, nil
}

// unendedReader ends a stream that perf did not end properly when it stopped.
type unendedReader struct{ io.Reader }

func (e unendedReader) Read(b []byte) (int, error) {
	n, err := e.Reader.Read(b)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

// Errors of a file, besides those of package damage.
var (
	ErrMagic   = errors.New("not a perf.data file")
	ErrVersion = errors.New("perf.data of a kind that can't be read")
	ErrEmpty   = errors.New("perf.data without a sample")
)

// cursor reads fields. Past the end it is short and returns zeros.
type cursor struct {
	rest  []byte
	short bool
}

// take returns the next n bytes, read-only.
func (c *cursor) take(n uint64) []byte {
	if n > uint64(len(c.rest)) {
		c.short, c.rest = true, nil
		return nil
	}
	b := c.rest[:n]
	c.rest = c.rest[n:]
	return b
}

func (c *cursor) u64() uint64 {
	if b := c.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if b := c.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) u16() uint16 {
	if b := c.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

// text is the rest, up to the first NUL.
func (c *cursor) text() string {
	text, _, _ := bytes.Cut(c.rest, []byte{0})
	c.rest = nil
	return string(text)
}

// str reads a string, prefixed by the size of its field.
func (c *cursor) str() string {
	field := cursor{rest: c.take(uint64(c.u32()))}
	return field.text()
}

// Types of events.
const (
	typeHardware   = 0
	typeSoftware   = 1
	typeTracepoint = 2
)

// attr is an event that was asked for: what perf_event_open(2) was given.
type attr struct {
	perfevent.Layout
	kind   uint32
	config uint64
	name   string
	use    use

	deepest int // maximal length of a call chain
}

// use is what becomes of an event's samples.
type use uint8

const (
	asMeasurements use = iota // of the period
	asCycles                  // samples, and measurements of the period
	asClock                   // samples, whose period is CPU time
)

// attrSize is the size of the first version of an attr; later ones are larger.
const attrSize = 64

func parseAttr(b []byte) attr {
	u64 := func(at int) uint64 {
		if at+8 > len(b) {
			return 0
		}
		return binary.LittleEndian.Uint64(b[at:])
	}
	a := attr{kind: uint32(u64(0)), config: u64(8), Layout: perfevent.Layout{Period: u64(16), Sample: u64(24), Read: u64(32), Flags: u64(40),
		Branches: u64(72), UserRegs: u64(80)}}
	a.name, a.deepest = a.defaultName(), perfevent.DefaultDepth
	if len(b) > offDepth+1 {
		a.deepest = cmp.Or(int(binary.LittleEndian.Uint16(b[offDepth:])), a.deepest)
	}
	return a
}

// offDepth is the offset of the maximal chain length in newer attrs.
const offDepth = 108

// perf's names of events, by config.
var (
	hardware = []string{"cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses", "bus-cycles", "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"}
	software = []string{"cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations", "minor-faults", "major-faults", "alignment-faults", "emulation-faults", "dummy", "bpf-output", "cgroup-switches"}
)

func (a *attr) defaultName() string {
	switch {
	case a.kind == typeHardware && a.config < uint64(len(hardware)):
		return hardware[a.config]
	case a.kind == typeSoftware && a.config < uint64(len(software)):
		return software[a.config]
	}
	return fmt.Sprintf("event %d:%#x", a.kind, a.config)
}

// plainEvent is the name without PMU and modifiers: "cycles" of "cycles:Pu" and of
// "cpu_core/cycles/".
func plainEvent(name string) string {
	if pmu, event, ok := strings.Cut(name, "/"); ok && strings.HasPrefix(pmu, "cpu") {
		name, _, _ = strings.Cut(event, "/")
	}
	if base, modifiers, ok := strings.Cut(name, ":"); ok && strings.Trim(modifiers, "ukhGHpPSDWeb") == "" {
		name = base
	}
	return name
}

// useOf is the best use of an event's samples.
func useOf(name string) use {
	switch plainEvent(name) {
	case "cpu-clock", "task-clock":
		return asClock
	case "cycles", "cpu-cycles", "ref-cycles", noEvent:
		return asCycles
	}
	return asMeasurements
}

// chooseUses decides what becomes of each event: only one of them is the samples.
func chooseUses(attrs []attr) {
	best := asMeasurements
	for i := range attrs {
		best = max(best, useOf(attrs[i].name))
	}
	first := ""
	for i := range attrs {
		a := &attrs[i]
		if use := useOf(a.name); use == best && use != asMeasurements && (first == "" || first == plainEvent(a.name)) {
			a.use, first = use, plainEvent(a.name)
		}
	}
}

// leavesCPU reports whether samples of the event tell where threads leave the CPU.
func leavesCPU(name string) bool {
	name = plainEvent(name)
	return name == "context-switches" || name == "cs" || name == "sched:sched_switch"
}

// interval is the ns between samples, 0 unknown.
func (a *attr) interval() int64 {
	switch {
	case a.Flags&perfevent.FlagFreq != 0 && a.Period > 0:
		return int64(1e9 / float64(a.Period))
	case a.use == asClock:
		return int64(min(a.Period, 1e12))
	}
	return 0
}
