package perf

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gprof/ingest/internal/damage"
	"gprof/stream"
	"gprof/stream/gonames"
)

// Script is what perf script printed: what is known of it before its samples are
// read.
type Script struct {
	open    func() (io.ReadCloser, error)
	facts   facts
	life    *life
	pids    map[int32]int32 // by tid, where the text tells it apart
	events  []string        // in order of their first samples
	attrs   []attr          // of the events, for their use
	untold  int64           // samples whose process is not told
	golang  map[string]bool // by file: it is a Go program
	size    int64
	digest  uint64
	rows    []stream.Process
	strange int64
	missing missing
}

// OpenScript reads a text for the processes that it tells of; open opens it,
// unpacked, and is called again when it is read. A text without a sample is an
// [damage.Error].
func OpenScript(open func() (io.ReadCloser, error)) (*Script, error) {
	r, err := open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	f := &Script{open: open, life: newLife(), pids: map[int32]int32{}, golang: map[string]bool{}}
	sum := sha256.New()
	in := f.text(io.TeeReader(r, &limited{sum, digested}))
	in.header, in.forked = f.fact, func(pid, tid int32) { f.pids[tid] = pid }
	var p printed
	for err = in.next(&p); err == nil; err = in.next(&p) {
		f.take(&p)
	}
	if err == io.EOF {
		err = nil
	}
	if len(f.events) == 0 {
		return nil, &damage.Error{Off: in.at, Err: fmt.Errorf("%w: no sample", damage.ErrTorn)}
	}
	f.size, f.strange, f.missing = in.end, in.strange, in.missing
	f.digest = binary.LittleEndian.Uint64(sum.Sum(nil))
	chooseUses(f.attrs)
	f.life.settle()
	f.rows = f.processes()
	return f, err
}

// limited takes the first n bytes that are written to it.
type limited struct {
	w io.Writer
	n int
}

func (l *limited) Write(b []byte) (int, error) {
	n := min(l.n, len(b))
	l.n -= n
	_, err := l.w.Write(b[:n])
	return len(b), err
}

func (f *Script) text(r io.Reader) *script { return &script{in: bufio.NewReaderSize(r, bufferSize)} }

// pid is that of a sample's process; where nobody tells it, each thread is one.
func (f *Script) pid(p *printed) int32 {
	if p.pid >= 0 {
		return p.pid
	}
	if pid, ok := f.pids[p.tid]; ok {
		return pid
	}
	return p.tid
}

// take learns from a sample.
func (f *Script) take(p *printed) {
	pid := f.pid(p)
	if p.pid < 0 && f.pids[p.tid] == 0 && p.tid != 0 {
		f.untold++
	}
	if len(f.life.byPid[pid]) == 0 {
		f.life.bear(pid, 0, nil)
	}
	process := f.life.latest(pid)
	process.threads[p.tid] = p.comm
	if p.tid == pid || process.comm == "" {
		process.comm = p.comm
	}
	f.life.see(pid, p.time)
	for i := range p.frames {
		if p.frames[i].file != "" && strings.HasPrefix(p.frames[i].symbol, goRuntime) {
			f.golang[p.frames[i].file] = true
		}
	}
	if !slices.Contains(f.events, p.event) && len(f.events) < maxAttrs {
		f.events = append(f.events, p.event)
		f.attrs = append(f.attrs, attr{name: p.event})
	}
}

// goRuntime begins the names of functions that all Go programs have, and no
// others.
const goRuntime = "runtime."

// realTime is how perf prints a reading of two clocks.
var realTime = regexp.MustCompile(`(\d+)\.(\d{6,9}) \(TOD\) = (\d+)\.(\d{9}) `)

// fact takes a comment.
func (f *Script) fact(key, value string) {
	switch key {
	case "hostname":
		f.facts.host = value
	case "os release":
		f.facts.release = value
	case "perf version":
		f.facts.version = value
	case "arch":
		f.facts.arch = value
	case "cpudesc":
		f.facts.cpu = value
	case "cmdline":
		f.facts.command = value
	case "nrcpus online":
		f.facts.cpus, _ = strconv.Atoi(value)
	case "reference time":
		if m := realTime.FindStringSubmatch(value); m != nil {
			f.facts.clock.wall, f.facts.clock.perf = nanoseconds(m[1], m[2]), nanoseconds(m[3], m[4])
		}
	}
}

func nanoseconds(seconds, fraction string) uint64 {
	s, _ := strconv.ParseUint(seconds, 10, 33)
	n, _ := strconv.ParseUint((fraction + "000")[:9], 10, 32)
	return s*1e9 + n
}

// Processes returns all that have a sample. The rows are the caller's to read only.
func (f *Script) Processes() []stream.Process { return f.rows }

func (f *Script) processes() []stream.Process {
	rows, sampled := make([]stream.Process, len(f.life.all)), "perf "+strings.Join(f.events, ", ")
	for i, p := range f.life.all {
		rows[i] = f.facts.row(p, f.digest, sampled)
	}
	return rows
}

// Lacks says what such a text does not tell.
func (f *Script) Lacks() string {
	lacks := "goroutines, markers and counters; build ids"
	if f.untold > 0 {
		lacks += "; which threads are of one process (perf script -F +pid tells it)"
	}
	if slices.Contains(f.events, untoldEvent) {
		lacks += "; which event was sampled (perf script -F +event tells it)"
	}
	if f.facts.clock.wall == 0 {
		lacks += "; the real time (perf record -k CLOCK_MONOTONIC and perf script --header tell it)"
	}
	return lacks
}

// Source returns the source of those of the processes that have an id.
func (f *Script) Source(t *stream.Tables, ids []stream.ProcessID, shift stream.Time) stream.Source {
	t.Lock()
	defer t.Unlock()
	return &scriptSource{file: f, output: newOutput(t, f.life.all, ids, f.rows, shift)}
}

// scriptSource gives the events of some processes of a text.
type scriptSource struct {
	output
	file   *Script
	closer io.Closer
	in     *script
	sample printed
}

// Progress implements [stream.Progress].
func (s *scriptSource) Progress() (done, total int64) {
	switch {
	case s.ended:
		return s.file.size, s.file.size
	case s.in == nil:
		return 0, s.file.size
	}
	return min(s.in.end, s.file.size), s.file.size
}

// Next implements [stream.Source].
func (s *scriptSource) Next(b *stream.Batch) error { return s.next(b, s.fill) }

// Close implements [io.Closer].
func (s *scriptSource) Close() error {
	s.ended = true
	s.rows.Drop()
	return s.release()
}

func (s *scriptSource) release() error {
	if s.closer == nil {
		return nil
	}
	err := s.closer.Close()
	s.closer = nil
	return err
}

// fill reads until there are rows to hand over, or no more samples.
func (s *scriptSource) fill() error {
	if s.in == nil {
		r, err := s.file.open()
		if err != nil {
			return err
		}
		s.closer, s.in = r, s.file.text(io.LimitReader(r, s.file.size))
	}
	for !s.rows.Full() {
		if err := s.in.next(&s.sample); err == io.EOF {
			return s.finish()
		} else if err != nil {
			return err
		}
		s.take(&s.sample)
	}
	s.rows.Hand()
	if s.isFull() {
		return s.finish()
	}
	return nil
}

func (s *scriptSource) finish() error {
	s.rows.Hand()
	s.note(stream.Line{Reason: stream.ReasonMalformed, What: "lines", Count: s.file.strange})
	s.note(stream.Line{Reason: stream.ReasonUnsupported, What: "switches", Where: "of threads, in text: the perf.data has them, too", Count: s.file.missing.switches})
	s.note(stream.Line{Reason: stream.ReasonDropped, What: "records", Where: "by the kernel", Count: s.file.missing.lost})
	s.ended = true
	return s.release()
}

// take makes rows of a sample.
func (s *scriptSource) take(p *printed) {
	process := s.file.life.latest(s.file.pid(p))
	if s.ids[process] == 0 {
		return
	}
	who, at, stack := thread{process, p.tid}, s.file.facts.moment(p.time), s.stack(p)
	use := asMeasurements
	if i := slices.Index(s.file.events, p.event); i >= 0 {
		use = s.file.attrs[i].use
	}
	if use != asMeasurements {
		cpu := int64(-1)
		if use == asClock {
			cpu = p.period
		}
		s.addSample(who, at, stack, cpu)
	}
	if use != asClock {
		s.addMeasurement(who, at, stack, p.event, max(1, p.period))
	}
}

// stack interns that of a sample.
func (s *scriptSource) stack(p *printed) (id stream.StackID) {
	s.tables.Lock()
	defer s.tables.Unlock()
	depth := int32(0)
	for i, f := range slices.Backward(p.frames) {
		if i < len(p.frames)-1 && (!f.known || f.address == p.frames[i+1].address) {
			depth++ // inlined where the frame around it is
			f.address = p.frames[i+1].address
			p.frames[i].address, p.frames[i].file = f.address, p.frames[i+1].file
			f.file = p.frames[i].file
		} else {
			depth = 0
		}
		id = s.tables.Stacks.Intern(id, s.frame(f, depth))
	}
	return id
}

func (s *scriptSource) frame(f printedFrame, depth int32) stream.FrameID {
	category := userCategory
	switch {
	case f.kernel:
		category = kernelCategory
	case s.file.golang[f.file] && strings.Contains(f.symbol, "."):
		category = gonames.Category(f.symbol)
	}
	row := stream.Frame{Offset: f.address, Depth: depth, Function: s.tables.Strings.Intern(f.symbol), Category: s.tables.Categories.Intern(category)}
	if f.file != "" {
		row.Module = s.tables.Modules.Intern(moduleOf(f.file, ""))
	}
	return s.tables.Frames.Intern(row)
}
