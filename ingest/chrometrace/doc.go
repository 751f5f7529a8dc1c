// Package chrometrace reads traces in the Trace Event Format: the JSON that Chrome, Node, clang, PyTorch,
// VizTracer and many others write for chrome://tracing and Perfetto's viewer.
//
// The events of a pid are a process, those of a tid a track of it. They become gprof's by their phase:
//
//   - X, B with E: markers that are intervals. A B without an end is the start of one.
//   - b with e, S with F: the same, for what may overlap. They are on the track where they began, and
//     what tells them apart is the field id. n, T and p are moments of it.
//   - i, I, R, N, O, D, v, V, c and others without a duration: markers that are moments.
//   - s, t, f: moments that a field of the kind flow connects. So do the flows of an X.
//   - C: counters, one for each member of args.
//   - M: names of processes and threads; other metadata are attributes of the process.
//   - Profile and ProfileChunk: CPU samples of V8, see package ingest/internal/v8. P with a stack, and the
//     list of samples, are CPU samples, too.
//
// An event is known by its category and name, and has the members of args as fields; those of args.data
// are fields, too. Events of one name with other members are another event. Texts may reveal anything, and
// count as secrets when a recording is redacted.
//
// These have no place, and are counted in the ledger: thread clocks (tts), sort orders, colors, stacks of
// the ends of intervals, and members that the format doesn't know.
//
// Times are those of some clock, mostly monotonic. They are real times if they can be nothing else, or the
// file says when its clock began (baseTimeNanoseconds, beginningOfTime, our own startTime); else a file begins where the other
// inputs do.
//
// # Reading
//
// A file is read twice, from its front: for its processes and tracks when it is opened, then for its events.
// Memory depends on how many intervals are open at a time, on names, and on the nodes of CPU profiles.
//
// A list of events may lack its end: the format says so, and programs that are killed leave such files. The
// ledger tells of it.
package chrometrace

import (
	"bytes"
	"errors"
	"math"
)

// ErrForeign is the error of a file that is no trace.
var ErrForeign = errors.New("no trace in the Trace Event Format")

// firstKeys are members that only such a file begins with, if it is an object.
var firstKeys = []string{"traceEvents", "displayTimeUnit", "otherData", "metadata", "stackFrames", "beginningOfTime", "systemTraceEvents", "schemaVersion", "deviceProperties", "baseTimeNanoseconds"}

// eventKeys are members of events; a list begins a file if its first element may be one.
var eventKeys = []string{`"ph"`, `"pid"`, `"cat"`, `"ts"`}

// Sniff reports whether head begins a trace.
func Sniff(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	if rest, ok := bytes.CutPrefix(head, []byte("[")); ok {
		rest = bytes.TrimLeft(rest, " \t\r\n")
		return bytes.HasPrefix(rest, []byte("{")) && containsAny(rest, eventKeys)
	}
	rest, ok := bytes.CutPrefix(head, []byte("{"))
	rest = bytes.TrimLeft(rest, " \t\r\n")
	for _, key := range firstKeys {
		if ok && bytes.HasPrefix(rest, []byte(`"`+key+`"`)) {
			return true
		}
	}
	return ok && bytes.Contains(rest, []byte(`"traceEvents"`))
}

func containsAny(text []byte, words []string) bool {
	for _, w := range words {
		if bytes.Contains(text, []byte(w)) {
			return true
		}
	}
	return false
}

// maxTime bounds times, in ns, so that sums of two fit.
const maxTime = math.MaxInt64 / 4
