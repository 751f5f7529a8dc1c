package perf

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gprof/ingest/internal/damage"
	"gprof/stream"
)

// Script is the open output of perf script: what is known of it before its samples are read.
type Script struct {
	open    func() (io.ReadCloser, error)
	facts   facts
	life    *life
	pids    map[int32]int32  // by tid, as far as told
	unnamed map[string]int32 // stand-ins for pids, by name, if there is neither pid nor tid
	events  []string         // by first sample
	attrs   []attr           // of the events
	untold  int64            // samples without a pid
	untimed int64            // samples without a time
	golang  map[string]bool  // Go programs, by file
	lastGo  []byte           // the last of them, as in a line
	size    int64
	digest  uint64
	rows    []stream.Process
	strange int64
	missing scriptLosses
}

// OpenScript scans a text for its processes; open opens it, decompressed, and is called again when
// it is read. A text without a sample is a [damage.Error].
func OpenScript(open func() (io.ReadCloser, error)) (*Script, error) {
	r, err := open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	f := &Script{open: open, life: newLife(), pids: map[int32]int32{}, unnamed: map[string]int32{}, golang: map[string]bool{}}
	sum := sha256.New()
	in := f.text(io.TeeReader(r, &limitedWriter{sum, digested}))
	in.header, in.forked = f.fact, func(pid, tid int32) { f.pids[tid] = pid }
	in.frame = f.takeFrame
	var p sampleLine
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

// limitedWriter passes on the first n bytes.
type limitedWriter struct {
	w io.Writer
	n int
}

func (l *limitedWriter) Write(b []byte) (int, error) {
	n := min(l.n, len(b))
	l.n -= n
	_, err := l.w.Write(b[:n])
	return len(b), err
}

func (f *Script) text(r io.Reader) *script {
	return &script{lines: lines{in: bufio.NewReaderSize(r, bufferSize)}}
}

// pid is the sample's process. If unknown, each thread is a process; without threads each name is,
// with a negative number.
func (f *Script) pid(p *sampleLine) int32 {
	if p.pid >= 0 {
		return p.pid
	}
	if p.tid < 0 {
		pid, ok := f.unnamed[p.comm]
		if !ok {
			pid = -2 - int32(len(f.unnamed))
			f.unnamed[p.comm] = pid
		}
		return pid
	}
	if pid, ok := f.pids[p.tid]; ok {
		return pid
	}
	return p.tid
}

// take learns from a sample.
func (f *Script) take(p *sampleLine) {
	pid := f.pid(p)
	if p.pid < 0 && f.pids[p.tid] == 0 && p.tid != 0 {
		f.untold++
	}
	if len(f.life.byPid[pid]) == 0 {
		f.life.addProcess(pid, 0, nil)
	}
	process := f.life.latest(pid)
	if process.threads[p.tid] != p.comm {
		process.threads[p.tid] = p.comm
	}
	if p.tid == pid || process.comm == "" {
		process.comm = p.comm
	}
	if !p.timed {
		f.untimed++
	}
	f.life.see(pid, p.time)
	if !slices.Contains(f.events, p.event) && len(f.events) < maxAttrs {
		f.events = append(f.events, p.event)
		f.attrs = append(f.attrs, attr{name: p.event})
	}
}

// goRuntime begins functions that all Go programs have, and no others.
var goRuntime = []byte(" runtime.")

// takeFrame learns from a frame's line which files are Go programs.
func (f *Script) takeFrame(line []byte) bool {
	if len(f.lastGo) > 0 && bytes.HasSuffix(line, f.lastGo) || !bytes.Contains(line, goRuntime) {
		return true
	}
	at, ok := parseFrame(line)
	if ok && len(at.file) > 0 && bytes.HasPrefix(at.symbol, goRuntime[1:]) {
		f.golang[string(at.file)] = true
		f.lastGo = append(append(append(f.lastGo[:0], " ("...), at.file...), ')')
	}
	return true
}

// realTime matches perf's reading of two clocks.
var realTime = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\d+)\.(\d{6,9}) \(TOD\) = (\d+)\.(\d{9}) `) })

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
		if m := realTime().FindStringSubmatch(value); m != nil {
			f.facts.clock.wall, f.facts.clock.perf = nanoseconds(m[1], m[2]), nanoseconds(m[3], m[4])
		}
	}
}

func nanoseconds(seconds, fraction string) uint64 {
	s, _ := strconv.ParseUint(seconds, 10, 33)
	n, _ := strconv.ParseUint((fraction + "000")[:9], 10, 32)
	return s*1e9 + n
}

// Processes returns all that have a sample. The rows are read-only.
func (f *Script) Processes() []stream.Process { return f.rows }

func (f *Script) processes() []stream.Process {
	rows, sampled := make([]stream.Process, len(f.life.all)), "perf "+strings.Join(f.events, ", ")
	for i, p := range f.life.all {
		rows[i] = f.facts.row(p, f.digest, sampled)
		rows[i].Pid = max(rows[i].Pid, 0)
	}
	return rows
}

// Lacks names what such a text does not tell.
func (f *Script) Lacks() string {
	lacks := "goroutines, markers and counters; build ids"
	if f.untold > 0 {
		lacks += "; which threads are of one process (perf script -F +pid tells it)"
	}
	if slices.Contains(f.events, noEvent) {
		lacks += "; which event was sampled (perf script -F +event tells it)"
	}
	if f.untimed > 0 {
		lacks += "; when samples were taken (perf script -F +time tells it)"
	} else if f.facts.clock.wall == 0 {
		lacks += "; the real time (perf record -k CLOCK_MONOTONIC and perf script --header tell it)"
	}
	return lacks
}
