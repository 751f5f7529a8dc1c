package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gprof/ingest"
	"gprof/stream"
	"gprof/stream/wording"
)

// ending is how far back a recording reaches and how its process ended.
type ending struct {
	Reach  time.Duration `json:"reach_ns"`
	State  string        `json:"state"` // recording, packed (while recording), stopped, exited, killed, found dead, panicked, unknown
	At     time.Time     `json:"at"`    // of the end or, if that was not recorded, of the last commit
	Record bool          `json:"exit_record"`
	Code   int64         `json:"code,omitempty"`   // exit status
	Signal int64         `json:"signal,omitempty"` // that killed it
	Memory *memoryUse    `json:"memory,omitempty"`
	Text   string        `json:"text"` // all of this in one line

	exit stream.Exit
	isGo bool
}

// memoryUse is the last known use of memory of a process.
type memoryUse struct {
	Counter string        `json:"counter"`
	Used    int64         `json:"used"`
	Limit   int64         `json:"limit"`
	Before  time.Duration `json:"before_end_ns"`
	Out     bool          `json:"probably_out"` // it probably ended for lack of memory
}

// The kernel kills a process when no page is left, within a few percent of the limit. The
// last reading, a moment earlier or by RSS alone, is a little less.
const (
	outNumerator   = 97
	outDenominator = 100
)

func newEnding(p *stream.Process, f *ingest.Process, counters map[string]span) *ending {
	e := &ending{State: p.Exit.Reason, At: Moment(p.End), Record: p.Exit.Known, Code: p.Exit.Code, exit: p.Exit, isGo: p.Go != ""}
	format, _ := f.Foreign()
	from := f.Since()
	if format != "" {
		from = p.Start // nothing was discarded
	}
	if from != 0 {
		e.Reach = max(0, time.Duration(p.End-from))
	}
	switch {
	case format != "" && !p.Exit.Known:
		e.State = unknownEnd
	case f.Alive && !p.Exit.Known: // Alive is also true while another process records its exit
		e.State = "recording"
	case f.Snapshot() && !p.Exit.Known:
		e.State = "packed"
	case !p.Exit.Known:
		e.State = wording.Unseen
	case e.State == "killed":
		e.Code, e.Signal = 0, p.Exit.Code
	}
	e.Memory = newMemoryUse(p, counters)
	if m := e.Memory; m != nil && (e.State == wording.Unseen || e.Signal == sigkill || p.Exit.EndedByRuntime()) {
		m.Out = m.Used/outNumerator >= m.Limit/outDenominator
	}
	e.Text = e.String()
	return e
}

// levelSink is a Sink that keeps the first and last values of the counters that a summary
// is about.
type levelSink struct {
	tables *stream.Tables
	spans  map[stream.ProcessID]map[string]span // by name of the counter
}

// span is the first and the last value of a counter.
type span struct{ first, last level }

type level struct {
	at    stream.Time
	value int64
}

var spanned = []string{stream.CounterGroupMemory, stream.CounterRSS, stream.CounterProcessCPU, stream.CounterRecorderCPU}

func (l *levelSink) Begin(t *stream.Tables) error {
	l.tables, l.spans = t, map[stream.ProcessID]map[string]span{}
	return nil
}

func (l *levelSink) Close() error { return nil }

func (l *levelSink) Segment(b *stream.Batch) error {
	if b.Series.Kind != stream.Counts || b.Len() == 0 {
		return nil
	}
	name := l.tables.Counters.At(b.Series.Counter).Name
	if !slices.Contains(spanned, name) {
		return nil
	}
	spans := l.spans[b.Series.Process]
	if spans == nil {
		spans = map[string]span{}
		l.spans[b.Series.Process] = spans
	}
	s, known := spans[name]
	if !known {
		s.first = level{b.Time[0], b.Value[0]}
	}
	n := b.Len() - 1
	s.last = level{b.Time[n], b.Value[n]}
	spans[name] = s
	return nil
}

// newMemoryUse is the last known use of memory of p, or nil.
func newMemoryUse(p *stream.Process, counters map[string]span) *memoryUse {
	if p.MemoryLimit == 0 {
		return nil
	}
	for _, name := range []string{stream.CounterGroupMemory, stream.CounterRSS} {
		if c, ok := counters[name]; ok {
			return &memoryUse{Counter: name, Used: c.last.value, Limit: p.MemoryLimit, Before: max(0, time.Duration(p.End-c.last.at))}
		}
	}
	return nil
}

// String is the first line about a process in info.
func (e *ending) String() string {
	parts := []string{fmt.Sprintf("reach %v", roundReach(e.Reach)), e.end()}
	if e.Memory != nil {
		parts = append(parts, e.Memory.String())
	}
	return strings.Join(parts, " · ")
}

func (e *ending) end() string {
	at := e.At.Format("15:04:05.000Z")
	switch {
	case e.State == "recording":
		return "recording"
	case e.State == "packed":
		return fmt.Sprintf("was recording when it was packed or sliced, %s", at)
	case e.State == unknownEnd:
		return fmt.Sprintf("until %s, the end of the process is not known", at)
	}
	word, how := wording.End(e.exit, e.isGo)
	return fmt.Sprintf("%s %s%s", word, at, how)
}

func (m *memoryUse) String() string {
	text := fmt.Sprintf("memory %.1f of %.1f MiB %.1f s earlier", float64(m.Used)/(1<<20), float64(m.Limit)/(1<<20), m.Before.Seconds())
	if m.Out {
		text += ": probably out of memory"
	}
	return text
}

// roundReach leaves three digits or so.
func roundReach(d time.Duration) time.Duration {
	switch {
	case d >= 10*time.Second:
		return d.Round(time.Second)
	case d >= 10*time.Millisecond:
		return d.Round(time.Millisecond)
	}
	return d.Round(time.Microsecond)
}

const sigkill = 9

// unknownEnd is the state of a process in a file of another tool.
const unknownEnd = "unknown"

// heapSummary is how far the heap samples of a process can be trusted at its end.
type heapSummary struct {
	Sampled   time.Time `json:"sampled"`   // the last rows
	Explained int64     `json:"explained"` // bytes in use, by all rows
	Counted   time.Time `json:"counted,omitzero"`
	InUse     int64     `json:"in_use,omitempty"` // bytes of the heap then, by its counter

	text string
}

// newHeapSummary is nil if there are no heap samples, or only a part was read.
func newHeapSummary(p *stream.Process) *heapSummary {
	h := &p.Heap
	if h.Sampled == 0 {
		return nil
	}
	s := &heapSummary{Sampled: Moment(h.Sampled), Explained: h.Explained, InUse: h.InUse, text: wording.Heap(h, p.End)}
	if h.Counted != 0 {
		s.Counted = Moment(h.Counted)
	}
	return s
}

// String is the text after the number of rows.
func (h *heapSummary) String() string {
	if h == nil {
		return ""
	}
	return "; in use " + h.text
}
