package gotrace

import (
	"fmt"
	"io"

	"golang.org/x/exp/trace"

	"gprof/ingest/internal/damage"
)

// This file alone knows golang.org/x/exp/trace. It returns plain values: the
// library panics on some damage, and only panics of its own code may be recovered
// from.

// kind is the kind of an event.
type kind uint8

const (
	kindNothing     kind = iota
	kindGeneration       // a generation begins, with an anchor if known
	kindOver             // a generation is over, and nothing of it is held any more
	kindSample           // stack
	kindGoroutine        // id goes from old to new, for the reason name; stack is its own
	kindProcessor        // id runs or not: new
	kindRangeBegin       // range name of scope id
	kindRangeActive      // the same: it had begun before
	kindRangeEnd         // the same, with values about itself
	kindTaskBegin        // task id of parent, named name
	kindTaskEnd          // the same
	kindRegionBegin      // region name of task id
	kindRegionEnd        // likewise
	kindLog              // name, text, of task id
	kindLabel            // name of goroutine id
	kindMetric           // name has values[0]
	kindExperiment       // unknown
)

// state is the state of a goroutine.
type state uint8

const (
	unknownState state = iota
	notThere
	runnable
	running
	waiting
	calling // in a system call
	numStates
)

// scope is what a range, or an id, belongs to.
type scope uint8

const (
	wholeProcess scope = iota
	ofGoroutine
	ofProcessor
	ofThread
)

// none is the id of a missing goroutine, processor or thread.
const none = -1

// noTask is the id of no task; taskless that of the background.
const (
	noTask   = uint64(trace.NoTask)
	taskless = uint64(trace.BackgroundTask)
)

// stackRef is a stack of one generation. It is comparable.
type stackRef = trace.Stack

// noStack is the missing stack.
var noStack = trace.NoStack

// event is an event of a trace.
type event struct {
	kind                         kind
	time                         int64 // ns of the trace's clock
	goroutine, processor, thread int64 // that it happened on; none
	context                      stackRef

	id       int64 // of its subject
	scope    scope
	old, new state
	stack    stackRef // of its subject
	name     string
	text     string
	task     uint64
	parent   uint64
	values   [2]uint64
	anchor   Anchor
}

// frame is a function call of a stack.
type frame struct {
	function, file string
	line           uint64
}

// library reads events by golang.org/x/exp/trace.
type library struct {
	r *trace.Reader
	e trace.Event // the last one
}

func newLibrary(r io.Reader) (l *library, err error) {
	defer guard(&err)
	reader, err := trace.NewReader(r)
	return &library{r: reader}, err
}

// guard turns a panic of the library into an error: it does not check everything that it reads.
func guard(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%w: golang.org/x/exp/trace: %v", damage.ErrDamaged, r)
	}
}

// next reads an event into ev, io.EOF after the last one.
func (l *library) next(ev *event) (err error) {
	defer guard(&err)
	if l.e, err = l.r.ReadEvent(); err == io.EOF {
		return err
	} else if err != nil {
		return fmt.Errorf("%w: %w", damage.ErrDamaged, err)
	}
	e := &l.e
	*ev = event{time: int64(e.Time()), goroutine: int64(e.Goroutine()), processor: int64(e.Proc()), thread: int64(e.Thread())}
	if ev.time < 0 || ev.time > maxTime {
		return fmt.Errorf("%w: an event at %d ns", damage.ErrDamaged, ev.time)
	}
	details[e.Kind()](ev, e)
	return nil
}

// details is the table of kinds: what is taken of an event.
var details = [...]func(*event, *trace.Event){
	trace.EventBad:             func(*event, *trace.Event) {},
	trace.EventSync:            (*event).sync,
	trace.EventMetric:          (*event).metric,
	trace.EventLabel:           (*event).label,
	trace.EventStackSample:     (*event).sample,
	trace.EventRangeBegin:      func(ev *event, e *trace.Event) { ev.span(kindRangeBegin, e) },
	trace.EventRangeActive:     func(ev *event, e *trace.Event) { ev.span(kindRangeActive, e) },
	trace.EventRangeEnd:        func(ev *event, e *trace.Event) { ev.span(kindRangeEnd, e) },
	trace.EventTaskBegin:       func(ev *event, e *trace.Event) { ev.ofTask(kindTaskBegin, e) },
	trace.EventTaskEnd:         func(ev *event, e *trace.Event) { ev.ofTask(kindTaskEnd, e) },
	trace.EventRegionBegin:     func(ev *event, e *trace.Event) { ev.region(kindRegionBegin, e) },
	trace.EventRegionEnd:       func(ev *event, e *trace.Event) { ev.region(kindRegionEnd, e) },
	trace.EventLog:             (*event).log,
	trace.EventStateTransition: (*event).transition,
	trace.EventExperimental:    func(ev *event, _ *trace.Event) { ev.kind = kindExperiment },
}

func (ev *event) sync(e *trace.Event) {
	ev.kind = kindGeneration
	if c := e.Sync().ClockSnapshot; c != nil {
		ev.anchor = Anchor{Trace: int64(c.Trace), Mono: c.Mono, Wall: c.Wall.UnixNano()}
	}
}

func (ev *event) metric(e *trace.Event) {
	m := e.Metric()
	ev.kind, ev.name = kindMetric, m.Name
	if m.Value.Kind() == trace.ValueUint64 {
		ev.values[0] = m.Value.Uint64()
	}
}

func (ev *event) label(e *trace.Event) {
	l := e.Label()
	ev.kind, ev.name = kindLabel, l.Label
	ev.scope, ev.id = resource(l.Resource)
}

func (ev *event) sample(e *trace.Event) { ev.kind, ev.context = kindSample, e.Stack() }

func (ev *event) span(k kind, e *trace.Event) {
	r := e.Range()
	ev.kind, ev.name, ev.context = k, r.Name, e.Stack()
	ev.scope, ev.id = resource(r.Scope)
	if k != kindRangeEnd {
		return
	}
	for i, a := range e.RangeAttributes() {
		if i < len(ev.values) && a.Value.Kind() == trace.ValueUint64 {
			ev.values[i] = a.Value.Uint64()
		}
	}
}

func (ev *event) ofTask(k kind, e *trace.Event) {
	t := e.Task()
	ev.kind, ev.name, ev.task, ev.parent, ev.context = k, t.Type, uint64(t.ID), uint64(t.Parent), e.Stack()
}

func (ev *event) region(k kind, e *trace.Event) {
	r := e.Region()
	ev.kind, ev.name, ev.task, ev.context = k, r.Type, uint64(r.Task), e.Stack()
}

func (ev *event) log(e *trace.Event) {
	l := e.Log()
	ev.kind, ev.name, ev.text, ev.task, ev.context = kindLog, l.Category, l.Message, uint64(l.Task), e.Stack()
}

func (ev *event) transition(e *trace.Event) {
	t := e.StateTransition()
	ev.scope, ev.id = resource(t.Resource)
	switch ev.scope {
	case ofGoroutine:
		from, to := t.Goroutine()
		ev.kind, ev.old, ev.new = kindGoroutine, goroutineState(from), goroutineState(to)
		ev.name, ev.stack, ev.context = t.Reason, t.Stack, e.Stack()
	case ofProcessor:
		if _, to := t.Proc(); to == trace.ProcRunning {
			ev.new = running
		}
		ev.kind = kindProcessor
	}
}

func resource(r trace.ResourceID) (scope, int64) {
	switch r.Kind {
	case trace.ResourceGoroutine:
		return ofGoroutine, int64(r.Goroutine())
	case trace.ResourceProc:
		return ofProcessor, int64(r.Proc())
	case trace.ResourceThread:
		return ofThread, int64(r.Thread())
	}
	return wholeProcess, none
}

func goroutineState(s trace.GoState) state {
	switch s {
	case trace.GoNotExist:
		return notThere
	case trace.GoRunnable:
		return runnable
	case trace.GoRunning:
		return running
	case trace.GoWaiting:
		return waiting
	case trace.GoSyscall:
		return calling
	}
	return unknownState
}

// appendFrames appends the calls of a stack, the innermost first.
func appendFrames(frames []frame, s stackRef) (out []frame, err error) {
	defer guard(&err)
	out = frames
	for f := range s.Frames() {
		out = append(out, frame{f.Func, f.File, f.Line})
	}
	return out, nil
}
