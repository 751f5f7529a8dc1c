package gotrace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"
	"golang.org/x/exp/trace"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// tallied is what a trace holds, in numbers.
type tallied struct {
	Waits   map[string]waited // by reason
	Markers map[string]int64  // how many, by name; "!" behind it: an end or a beginning alone
	Lasted  map[string]int64  // ns of the intervals
	Samples int64
	Values  map[string]int64 // the sum of what a counter was, each time that it changed
	Created int64
}

// waited is a number of waits and their time.
type waited struct{ Count, NS int64 }

// judge tallies a trace by golang.org/x/exp/trace alone.
type judge struct {
	tallied
	sync   trace.Time // beginning of the trace
	last   trace.Time
	states map[trace.GoID]lasting
	ranges map[ranged]trace.Time
	active map[ranged]bool
	spans  map[string][]trace.Time
	open   map[string]waited // of Waits: those that never end, and those from before a goroutine first ran
	early  map[trace.GoID][]lasted
	ran    map[trace.GoID]bool
	values map[string]int64
}

type lasting struct {
	state trace.GoState
	why   string
	since trace.Time
}

// ranged is what has a beginning and an end, once at a time in its scope.
type ranged struct{ name, scope string }

// lasted is a wait that has ended.
type lasted struct {
	why string
	ns  int64
}

func judgeTrace(t *testing.T, data []byte) *judge {
	t.Helper()
	r, err := trace.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	j := &judge{
		tallied: tallied{Waits: map[string]waited{}, Markers: map[string]int64{}, Lasted: map[string]int64{}, Values: map[string]int64{}},
		states:  map[trace.GoID]lasting{}, ranges: map[ranged]trace.Time{}, active: map[ranged]bool{}, spans: map[string][]trace.Time{},
		open: map[string]waited{}, early: map[trace.GoID][]lasted{}, ran: map[trace.GoID]bool{}, values: map[string]int64{},
	}
	for {
		e, err := r.ReadEvent()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if j.last == 0 {
			j.sync = e.Time()
		}
		j.last = e.Time()
		j.event(&e)
	}
	j.end()
	return j
}

func (j *judge) event(e *trace.Event) {
	switch e.Kind() {
	case trace.EventStateTransition:
		j.transition(e)
	case trace.EventStackSample:
		j.Samples++
	case trace.EventLog:
		j.Markers["log"]++
	case trace.EventLabel:
		j.Markers["goroutine label"]++
	case trace.EventMetric:
		m := e.Metric()
		name, value := metricCounters[m.Name].Name, int64(m.Value.Uint64())
		if old, ok := j.values[name]; !ok || old != value {
			j.Values[name] += value
		}
		j.values[name] = value
	case trace.EventTaskBegin:
		j.begin("task", e.Time(), e.Task().ID)
	case trace.EventTaskEnd:
		j.finish("task", e.Time(), e.Task().ID)
	case trace.EventRegionBegin:
		j.begin("region", e.Time(), e.Goroutine())
	case trace.EventRegionEnd:
		j.finish("region", e.Time(), e.Goroutine())
	case trace.EventRangeBegin, trace.EventRangeActive:
		key := rangeOf(e)
		if _, ok := j.ranges[key]; !ok {
			j.ranges[key], j.active[key] = e.Time(), e.Kind() == trace.EventRangeActive
		}
	case trace.EventRangeEnd:
		key := rangeOf(e)
		since, ok := j.ranges[key]
		delete(j.ranges, key)
		if !ok || j.active[key] {
			j.Markers[key.name+"!"]++
		} else {
			j.Markers[key.name]++
			j.Lasted[key.name] += int64(e.Time() - since)
		}
	}
}

func rangeOf(e *trace.Event) ranged {
	name := e.Range().Name
	switch {
	case strings.HasPrefix(name, "stop-the-world"):
		name = "stop the world"
	case name == "GC concurrent mark phase":
		name = "gc mark"
	case name == "GC incremental sweep":
		name = "gc sweep"
	case name == "GC mark assist":
		name = "gc assist"
	}
	return ranged{name, e.Range().Scope.String()}
}

// begin and finish count what is nested: the last that began ends first.
func (j *judge) begin(what string, at trace.Time, id any) {
	key := what + fmt.Sprint(id)
	j.spans[key] = append(j.spans[key], at)
}

func (j *judge) finish(what string, at trace.Time, id any) {
	key := what + fmt.Sprint(id)
	n := len(j.spans[key])
	if n == 0 {
		j.Markers[what+"!"]++
		return
	}
	j.Markers[what]++
	j.Lasted[what] += int64(at - j.spans[key][n-1])
	j.spans[key] = j.spans[key][:n-1]
}

func (j *judge) transition(e *trace.Event) {
	st := e.StateTransition()
	if st.Resource.Kind != trace.ResourceGoroutine {
		return
	}
	id := st.Resource.Goroutine()
	old, to := st.Goroutine()
	was, known := j.states[id]
	switch {
	case old == trace.GoNotExist:
		j.Created++
	case !known:
		was = lasting{to, why(to, st.Reason), j.sync}
		j.states[id] = was
		j.ran[id] = to == trace.GoRunning
		if to == trace.GoSyscall {
			j.Markers["system call!"]++ // its end will come, or its beginning be missing
		}
	}
	if was.state == to {
		return
	}
	j.wait(was, e.Time())
	j.first(id, was, lasting{to, "", e.Time()})
	j.call(was, e.Time(), known)
	j.states[id] = lasting{to, why(to, st.Reason), e.Time()}
	if to == trace.GoNotExist {
		delete(j.states, id)
	}
}

// first keeps the waits of a goroutine that has not run in the trace yet. Go's
// tool gives a goroutine's time from there on, and all of it if it never runs.
func (j *judge) first(id trace.GoID, was, now lasting) {
	if j.ran[id] {
		return
	}
	j.early[id] = append(j.early[id], lasted{was.why, int64(now.since - was.since)})
	if now.state != trace.GoRunning {
		return
	}
	j.ran[id] = true
	for _, l := range j.early[id] {
		w := j.open[l.why]
		j.open[l.why] = waited{w.Count + 1, w.NS + l.ns}
	}
}

func (j *judge) call(was lasting, at trace.Time, known bool) {
	if was.state == trace.GoSyscall && was.since != j.sync {
		j.Markers["system call"]++
		j.Lasted["system call"] += int64(at - was.since)
	}
}

func why(s trace.GoState, reason string) string {
	switch {
	case s == trace.GoRunnable:
		return "runnable"
	case s == trace.GoSyscall:
		return "system call"
	case reason == "":
		return "unknown reason"
	}
	return strings.Replace(reason, "chan ", "channel ", 1)
}

func (j *judge) wait(was lasting, at trace.Time) {
	switch was.state {
	case trace.GoRunnable, trace.GoSyscall, trace.GoWaiting:
		w := j.Waits[was.why]
		j.Waits[was.why] = waited{w.Count + 1, w.NS + int64(at-was.since)}
	}
}

func (j *judge) end() {
	for _, was := range j.states {
		j.wait(was, j.last)
		if was.state == trace.GoSyscall || was.state == trace.GoRunnable || was.state == trace.GoWaiting {
			w := j.open[was.why]
			j.open[was.why] = waited{w.Count + 1, w.NS + int64(j.last-was.since)}
		}
		if was.state == trace.GoSyscall && was.since != j.sync {
			j.Markers["system call!"]++
		} else if was.state == trace.GoSyscall {
			j.Markers["system call!"]-- // it neither began nor ended
		}
	}
	for key, all := range j.spans {
		j.Markers[strings.TrimRight(key, "0123456789-")+"!"] += int64(len(all))
	}
	for key := range j.ranges {
		if !j.active[key] {
			j.Markers[key.name+"!"]++
		}
	}
	maps.DeleteFunc(j.Markers, func(_ string, n int64) bool { return n == 0 })
}

// tallySink tallies what a source gives.
type tallySink struct {
	tallied
	t       *stream.Tables
	private []string // counters that redaction would hide, and that why would not look at
}

func (s *tallySink) Begin(t *stream.Tables) error {
	s.t = t
	s.tallied = tallied{Waits: map[string]waited{}, Markers: map[string]int64{}, Lasted: map[string]int64{}, Values: map[string]int64{}}
	return nil
}

func (s *tallySink) Close() error { return nil }

func (s *tallySink) Segment(b *stream.Batch) error {
	for i := range b.Len() {
		switch b.Series.Kind {
		case stream.Samples:
			s.Samples += b.Weight[i]
		case stream.Waits:
			_, frame := s.t.Stacks.At(b.Stack[i])
			reason := strings.TrimPrefix(s.t.Strings.At(s.t.Frames.At(frame).Function), "waiting: ")
			w := s.Waits[reason]
			s.Waits[reason] = waited{w.Count + b.Number[i], w.NS + b.Value[i]}
		case stream.Counts:
			c := s.t.Counters.At(b.Series.Counter)
			s.Values[c.Name] += b.Value[i]
			if !c.Own && !slices.Contains(s.private, c.Name) {
				s.private = append(s.private, c.Name)
			}
		case stream.Markers:
			s.marker(b, i)
		}
	}
	return nil
}

func (s *tallySink) marker(b *stream.Batch, i int) {
	name := s.t.Event(b.Series.Event).Name
	switch {
	case name == "goroutines":
		s.Created += int64(b.Args[0].BitsAt(i))
	case b.Phase[i] == stream.PhaseStart || b.Phase[i] == stream.PhaseEnd:
		s.Markers[name+"!"]++
	default:
		s.Markers[name]++
		if b.Phase[i] == stream.Interval {
			s.Lasted[name] += b.Duration[i]
		}
	}
}

func tallyOurs(t *testing.T, data []byte, o Options) *tallySink {
	t.Helper()
	src, err := sourceOf(data, o)
	if err != nil {
		t.Fatal(err)
	}
	var sink tallySink
	if err := stream.Copy(streamtest.Validate(&sink), src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, line := range sink.t.Ledger.Lines() {
		if line.Reason != stream.ReasonUnproven {
			t.Errorf("the ledger of a whole trace has %+v", line)
		}
	}
	return &sink
}

// A trace's counters are Go's, as those of a recording: redaction keeps their names, and why looks at them.
func TestCountersAreOwn(t *testing.T) {
	s := tallyOurs(t, record(t), Options{})
	if len(s.Values) == 0 || len(s.private) > 0 {
		t.Errorf("%d counters, of which these count as the program's: %q", len(s.Values), s.private)
	}
}

// TestTally compares what comes out with what the reader of Go's own tools says
// of the same trace.
func TestTally(t *testing.T) {
	data := record(t)
	want := judgeTrace(t, data).tallied
	for _, must := range []string{"task", "region", "log", "system call", "gc mark", "gc sweep", "gc assist", "stop the world"} {
		if want.Markers[must] == 0 && must != "gc assist" {
			t.Errorf("the trace has no %s", must)
		}
	}
	for name, by := range map[string]Grouping{"root": ByRoot, "thread": ByThread, "processor": ByProcessor} {
		got := tallyOurs(t, data, Options{Tracks: by}).tallied
		for counter := range got.Values {
			if _, ok := want.Values[counter]; !ok {
				delete(got.Values, counter) // it counts what the trace does not tell
			}
		}
		if by != ByRoot {
			if got.Markers["running"] == 0 {
				t.Errorf("%s: nothing ran", name)
			}
			delete(got.Markers, "running")
			delete(got.Lasted, "running")
			got.Created = want.Created // no marker tells
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("by %s: the reader's tally and ours (-want +got):\n%s", name, d)
		}
	}
}

// TestGoTool compares times with the totals of `go tool trace -pprof`. It leaves
// out what never ended, and what was before a goroutine first ran.
func TestGoTool(t *testing.T) {
	data := record(t)
	file := filepath.Join(t.TempDir(), "trace.out")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	ours, j := tallyOurs(t, data, Options{}), judgeTrace(t, data)
	for kind, reasons := range map[string]func(string) bool{
		"net": func(r string) bool { return r == "network" },
		"sync": func(r string) bool {
			return strings.Contains(r, "chan") || strings.Contains(r, "sync") || r == "select"
		},
		"syscall": func(r string) bool { return r == "system call" },
	} {
		var want waited
		for _, r := range slices.Sorted(maps.Keys(ours.Waits)) {
			if reasons(r) {
				w := ours.Waits[r]
				want.Count += w.Count - j.open[r].Count
				want.NS += w.NS - j.open[r].NS
			}
		}
		if got := goTool(t, kind, file); got != want || got.Count == 0 {
			t.Errorf("go tool trace -pprof=%s has %d waits of %d ns, ours are %d of %d ns", kind, got.Count, got.NS, want.Count, want.NS)
		}
	}
}

func goTool(t *testing.T, kind, file string) (w waited) {
	t.Helper()
	out, err := exec.Command("go", "tool", "trace", "-pprof="+kind, file).Output()
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.ParseData(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range p.Sample {
		w.Count += s.Value[0]
		w.NS += s.Value[1]
	}
	return w
}
