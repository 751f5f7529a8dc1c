// Package cpuprofile reads the CPU profiles of V8, as Chrome's DevTools, node --cpu-prof and the
// protocol that both speak write them into .cpuprofile files.
//
// A file is one process with one thread: nothing in it says more. What becomes of its samples is said
// in package ingest/internal/v8. Beside that:
//
//   - Functions have their script, and the line and column where they begin. The line of a sample is
//     known only where all samples of a node have one; the ledger counts the others.
//   - Why a function lost its optimized code has no place; the ledger counts it.
//   - Times are those of the machine's monotonic clock, which tells no real time: a file begins where
//     the other inputs do.
//   - In the form of before Chrome 58, nodes lie in each other (head), and samples have timestamps.
//   - A profile that has no samples has the hits of its nodes, which all stand at its start.
//
// The file is read in place: its tree is held in memory, its samples are not.
package cpuprofile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"gprof/ingest/internal/damage"
	"gprof/ingest/internal/digest"
	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// ErrForeign is the error of a file that is no CPU profile.
var ErrForeign = errors.New("no CPU profile of V8")

// Sniff reports whether head begins a file: an object with a member that only such profiles have.
func Sniff(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	if !bytes.HasPrefix(head, []byte("{")) || bytes.Contains(head, []byte(`"traceEvents"`)) {
		return false
	}
	for _, key := range []string{`"callFrame"`, `"callUID"`, `"timeDeltas"`} {
		if bytes.Contains(head, []byte(key)) {
			return true
		}
	}
	return false
}

// File is a profile on disk. It holds where its parts are.
type File struct {
	r    io.ReaderAt
	size int64

	instance    uint64
	name        string
	start, end  int64 // ns
	count       int64 // samples that have a time
	nodes, head *jsonfile.Value
	samples     *jsonfile.Value
	times       *jsonfile.Value
	deltas      bool // times are differences
	damaged     bool
}

// Open scans a file of size bytes, which must stay open. The error wraps [ErrForeign], or is a
// [damage.Error]; if there is a File as well, it is what stands before the damage.
func Open(r io.ReaderAt, size int64) (*File, error) {
	first := digest.New(r)
	v, _, err := jsonfile.Index(first, size, func(string) bool { return false })
	f := &File{r: r, size: size, nodes: list(v, "nodes"), head: v.Get("head"), samples: list(v, "samples"), times: list(v, "timestamps"), damaged: err != nil}
	if f.nodes == nil && !f.head.Is(jsonfile.Object) {
		return nil, cmp.Or(err, fmt.Errorf("%w: it has neither nodes nor a head", ErrForeign))
	}
	if deltas := list(v, "timeDeltas"); deltas != nil {
		f.times, f.deltas = deltas, true
	}
	f.instance = max(1, first.Sum(size))
	unit := 3 // digits from µs to ns
	if f.nodes == nil {
		unit = 9 // the old form has seconds
	}
	f.start = number(v.Get("startTime"), unit)
	f.end = number(v.Get("endTime"), unit)
	f.survey()
	return f, err
}

// list is a member that is a list, nil if there is none.
func list(v *jsonfile.Value, key string) *jsonfile.Value {
	if v = v.Get(key); v.Is(jsonfile.Array) {
		return v
	}
	return nil
}

// number is a time in ns, of one with so many digits less; 0 if it is none.
func number(v *jsonfile.Value, digits int) int64 {
	if !v.Is(jsonfile.Number) {
		return 0
	}
	n, ok := jsonfile.Fixed(v.Raw, digits)
	if !ok || n < 0 || n > maxTime {
		return 0
	}
	return n
}

// maxTime bounds times, in ns, so that sums of two fit.
const maxTime = math.MaxInt64 / 4

// survey finds how many samples there are, until when, and whose profile it may be.
func (f *File) survey() {
	t := f.timeline()
	for {
		at, ok := t.next()
		if !ok {
			break
		}
		if f.start == 0 && f.count == 0 {
			f.start = at
		}
		f.count++
		f.end = max(f.end, at)
	}
	f.end = max(f.end, f.start)
	f.name = "JavaScript"
	if f.nodes != nil && strings.Contains(string(f.peek(f.nodes.Off)), `"node:internal/`) {
		f.name = "node"
	}
}

// peek is the beginning of a part.
func (f *File) peek(off int64) []byte {
	head := make([]byte, min(64<<10, max(0, f.size-off)))
	n, _ := f.r.ReadAt(head, off) // what can't be read is told where it is read
	return head[:n]
}

// timeline reads the times of samples.
type timeline struct {
	scan   *jsonfile.Scanner // nil: there are none
	deltas bool
	at     int64
	bad    int64 // that are no numbers, or impossible
}

func (f *File) timeline() *timeline {
	t := &timeline{deltas: f.deltas, at: f.start}
	if f.times != nil {
		t.scan = jsonfile.NewScanner(f.r, f.times.Off, f.size)
		t.scan.Array()
	}
	return t
}

// next is the time of the next sample, in ns.
func (t *timeline) next() (at int64, ok bool) {
	if t.scan == nil || !t.scan.More() {
		return 0, false
	}
	raw := t.scan.Raw()
	if t.scan.Err() != nil {
		return 0, false
	}
	n, ok := jsonfile.Fixed(raw, 3)
	switch {
	case !ok || n < -maxTime || n > maxTime || t.deltas && (t.at+n < 0 || t.at+n > maxTime):
		t.bad++
	case t.deltas:
		t.at += n
	default:
		t.at = n
	}
	return t.at, true
}

// Processes returns the profile's one process.
func (f *File) Processes() []stream.Process {
	p := stream.Process{
		Instance: f.instance, Name: f.name, Start: stream.Time(f.start), End: stream.Time(f.end),
		CPU: "V8", Clock: stream.Clock{Pieces: 1, Uncertainty: -1},
	}
	if f.count > 0 {
		p.Interval = (f.end - f.start) / f.count
	}
	return []stream.Process{p}
}

// Lacks names what such a file does not tell.
func (*File) Lacks() string {
	return "program, pid, thread, host and real time; native functions; lines of samples"
}

// Source returns the source of the process, empty if it has no id.
func (f *File) Source(t *stream.Tables, ids []stream.ProcessID, shift stream.Time) stream.Source {
	if len(ids) == 0 || ids[0] == 0 {
		return stream.Merge(t)
	}
	return &source{file: f, tables: t, id: ids[0], shift: shift}
}

// note tells what is wrong with a part of a file.
func note(l *stream.Ledger, process string, err error) {
	var at *damage.Error
	if !errors.As(err, &at) {
		return
	}
	reason := stream.ReasonMalformed
	if errors.Is(err, damage.ErrTorn) {
		reason = stream.ReasonTorn
	}
	l.Add(stream.Line{Process: process, Reason: reason, What: "JSON", Where: fmt.Sprintf("byte %d", at.Off), Count: 1})
}
