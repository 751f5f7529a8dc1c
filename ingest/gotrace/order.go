package gotrace

import (
	"errors"
	"slices"
)

// Events of the format, which golang.org/x/exp/trace describes in internal/tracev2.
const (
	evStacks     = 2
	evStack      = 3
	evStrings    = 4
	evString     = 5
	evCPUSamples = 6
	evCPUSample  = 7

	evProcsChange       = 9
	evProcStart         = 10
	evProcStop          = 11
	evProcSteal         = 12
	evProcStatus        = 13
	evGoCreate          = 14
	evGoCreateSyscall   = 15
	evGoStart           = 16
	evGoDestroy         = 17
	evGoDestroySyscall  = 18
	evGoStop            = 19
	evGoBlock           = 20
	evGoUnblock         = 21
	evSyscallBegin      = 22
	evSyscallEnd        = 23
	evSyscallEndBlocked = 24
	evGoStatus          = 25
	evSTWBegin          = 26
	evSTWEnd            = 27
	evGCActive          = 28
	evGCBegin           = 29
	evGCEnd             = 30
	evSweepActive       = 31
	evSweepBegin        = 32
	evSweepEnd          = 33
	evAssistActive      = 34
	evAssistBegin       = 35
	evAssistEnd         = 36
	evHeapAlloc         = 37
	evHeapGoal          = 38
	evGoLabel           = 39
	evTaskBegin         = 40
	evTaskEnd           = 41
	evRegionBegin       = 42
	evRegionEnd         = 43
	evUserLog           = 44
	evGoSwitch          = 45
	evGoSwitchDestroy   = 46
	evGoCreateBlocked   = 47
	evGoStatusStack     = 48

	evExperiments = 128 // of memory
)

// maxArguments of an event behind its time.
const maxArguments = 4

// arguments are those of an event.
type arguments [maxArguments]uint64

// needs are what a thread must have when an event happens.
type needs uint8

const (
	aThread needs = 1 << iota
	aProcessor
	aGoroutine
	noGoroutine

	onProcessor = aThread | aProcessor
	inGoroutine = aThread | aProcessor | aGoroutine
)

// rule is how an event of the format is read.
type rule struct {
	arguments int8
	needs     needs
	// take changes the program's state, and makes an event of it; not ok if another event comes first.
	take func(*order, *thread, *arguments, *event) (ok bool, err error)
}

// rules is the table of the format's events. Those without a function are none that happen on threads.
var rules = [256]rule{
	evProcsChange:       {2, inGoroutine, (*order).procsChange},
	evProcStart:         {2, 0, (*order).procStart},
	evProcStop:          {0, onProcessor, (*order).procStop},
	evProcSteal:         {3, 0, (*order).procSteal},
	evProcStatus:        {2, 0, (*order).procStatus},
	evGoCreate:          {3, onProcessor, (*order).goCreate},
	evGoCreateSyscall:   {1, aThread | noGoroutine, (*order).goCreateSyscall},
	evGoStart:           {2, 0, (*order).goStart},
	evGoDestroy:         {0, inGoroutine, (*order).goDestroy},
	evGoDestroySyscall:  {0, aThread | aGoroutine, (*order).goDestroySyscall},
	evGoStop:            {2, inGoroutine, (*order).goStop},
	evGoBlock:           {2, inGoroutine, (*order).goBlock},
	evGoUnblock:         {3, 0, (*order).goUnblock},
	evSyscallBegin:      {2, inGoroutine, (*order).syscallBegin},
	evSyscallEnd:        {0, inGoroutine, (*order).syscallEnd},
	evSyscallEndBlocked: {0, 0, (*order).syscallEndBlocked},
	evGoStatus:          {3, 0, (*order).goStatus},
	evSTWBegin:          {2, inGoroutine, (*order).stopBegin},
	evSTWEnd:            {0, inGoroutine, (*order).stopEnd},
	evGCActive:          {1, 0, (*order).markActive},
	evGCBegin:           {2, 0, (*order).markBegin},
	evGCEnd:             {1, 0, (*order).markEnd},
	evSweepActive:       {1, 0, (*order).sweepActive},
	evSweepBegin:        {1, onProcessor, (*order).sweepBegin},
	evSweepEnd:          {2, onProcessor, (*order).sweepEnd},
	evAssistActive:      {1, 0, (*order).assistActive},
	evAssistBegin:       {1, inGoroutine, (*order).assistBegin},
	evAssistEnd:         {0, inGoroutine, (*order).assistEnd},
	evHeapAlloc:         {1, onProcessor, (*order).heapAlloc},
	evHeapGoal:          {1, onProcessor, (*order).heapGoal},
	evGoLabel:           {1, inGoroutine, (*order).goLabel},
	evTaskBegin:         {4, inGoroutine, (*order).taskBegin},
	evTaskEnd:           {2, inGoroutine, (*order).taskEnd},
	evRegionBegin:       {3, inGoroutine, (*order).regionBegin},
	evRegionEnd:         {3, inGoroutine, (*order).regionEnd},
	evUserLog:           {4, inGoroutine, (*order).userLog},
	evGoSwitch:          {2, inGoroutine, (*order).goSwitch},
	evGoSwitchDestroy:   {2, inGoroutine, (*order).goSwitchDestroy},
	evGoCreateBlocked:   {3, onProcessor, (*order).goCreateBlocked},
	evGoStatusStack:     {4, 0, (*order).goStatusStack},

	kindSnapshot: {3, 0, (*order).misplaced},

	evExperiments:     {3, aThread, (*order).experiment},
	evExperiments + 1: {3, aThread, (*order).experiment},
	evExperiments + 2: {1, aThread, (*order).experiment},
	evExperiments + 3: {2, aThread, (*order).experiment},
	evExperiments + 4: {2, aThread, (*order).experiment},
	evExperiments + 5: {1, aThread, (*order).experiment},
	evExperiments + 6: {2, aThread, (*order).experiment},
	evExperiments + 7: {2, aThread, (*order).experiment},
	evExperiments + 8: {1, aThread, (*order).experiment},
}

// order is the state of the program in a generation, which tells which event can come next. Threads' clocks
// disagree, so the runtime numbers the events that one thread does to what another one has: a goroutine that
// starts or is woken, a processor that starts or is stolen.
type order struct {
	tables     *tables
	goroutines lookup[routine]
	processors map[int64]*processor
	threads    map[int64]*thread
	tasks      map[uint64]openTask
	marking    marking
	cycle      uint64  // number of the last event of the collector
	more       []event // that come along with the last one
}

// marking is whether the collector marks.
type marking uint8

const (
	marksUnknown marking = iota
	marksNot
	marks
)

// routine is a goroutine.
type routine struct {
	id      int64
	state   state
	gone    bool
	number  uint64 // of the last event of it that has one
	regions []openRegion
	ranges  []openRange
}

// openRange is a range of the runtime that has begun, with an id of a string.
type openRange struct {
	event byte // that begins it
	name  uint64
}

type openRegion struct {
	task uint64
	name string
}

type openTask struct {
	name   string
	parent uint64
}

// processor is one of Go's processors.
type processor struct {
	id       int64
	state    procState
	number   uint64 // of the last event of it that has one
	sweeping bool
}

// procState is the state of a processor, as the format has it.
type procState uint8

const (
	procBad procState = iota
	procRunning
	procIdle
	procCalling
	procAbandoned // in a system call, and it is not known on which thread
	numProcStates
)

// routineStates are the format's states of goroutines.
var routineStates = [...]state{unknownState, runnable, running, calling, waiting}

// thread is a thread, and what it has.
type thread struct {
	id        int64
	seen      bool // something happened on it
	goroutine *routine
	processor *processor
}

func newOrder(t *tables) order {
	return order{tables: t, goroutines: newLookup[routine](), processors: map[int64]*processor{}, threads: map[int64]*thread{}, tasks: map[uint64]openTask{}}
}

// thread returns the thread of an id.
func (o *order) thread(id int64) *thread {
	m := o.threads[id]
	if m == nil {
		m = &thread{id: id}
		o.threads[id] = m
	}
	return m
}

// take takes an event of a thread at a time. If another one comes first, ok is false, and nothing has changed.
func (o *order) take(kind byte, m *thread, at int64, a *arguments, ev *event) (ok bool, err error) {
	m.seen = m.id != none
	r := &rules[kind]
	*ev = event{time: at, goroutine: m.goroutineID(), processor: m.processorID(), thread: m.id, id: none}
	if !m.has(r.needs) {
		return false, errOrder
	}
	ok, err = r.take(o, m, a, ev)
	if m.id == none {
		m.goroutine, m.processor = nil, nil
	}
	return ok, err
}

// errOrder is an event that could not have happened.
var errOrder = errors.New("it contradicts the events before it")

func (m *thread) goroutineID() int64 {
	if m.goroutine == nil {
		return none
	}
	return m.goroutine.id
}

func (m *thread) processorID() int64 {
	if m.processor == nil {
		return none
	}
	return m.processor.id
}

func (m *thread) has(n needs) bool {
	switch {
	case n&aThread != 0 && m.id == none:
	case n&aProcessor != 0 && m.processor == nil:
	case n&aGoroutine != 0 && m.goroutine == nil:
	case n&noGoroutine != 0 && m.goroutine != nil:
	default:
		return true
	}
	return false
}

// current is the goroutine of a thread, if it is in a state.
func (o *order) current(m *thread, s state) (*routine, error) {
	g := o.known(m)
	if g == nil || g.state != s {
		return nil, errOrder
	}
	return g, nil
}

// known is the goroutine of a thread, nil if there is none: it may have ended on another thread, in a damaged file.
func (o *order) known(m *thread) *routine {
	g := m.goroutine
	if g != nil && g.gone {
		g = o.goroutines.at(g.id)
	}
	return g
}

func (m *thread) run(g *routine) {
	if m.goroutine = g; g.id == none {
		m.goroutine = nil
	}
}

func (m *thread) bind(p *processor) {
	if m.processor = p; p.id == none {
		m.processor = nil
	}
}

// becomes makes ev a change of the state of a goroutine.
func (ev *event) becomes(id int64, old, new state) {
	ev.kind, ev.id, ev.old, ev.new = kindGoroutine, id, old, new
}

// forget forgets a goroutine, which other threads may name nevertheless.
func (o *order) forget(g *routine) {
	g.gone = true
	o.goroutines.remove(g.id)
}

func (o *order) procsChange(m *thread, a *arguments, ev *event) (bool, error) {
	_, err := o.tables.stack(a[1])
	return ev.measures("/sched/gomaxprocs:threads", a[0], err)
}

func (o *order) heapAlloc(m *thread, a *arguments, ev *event) (bool, error) {
	return ev.measures("/memory/classes/heap/objects:bytes", a[0], nil)
}

func (o *order) heapGoal(m *thread, a *arguments, ev *event) (bool, error) {
	return ev.measures("/gc/heap/goal:bytes", a[0], nil)
}

func (ev *event) measures(name string, value uint64, err error) (bool, error) {
	ev.kind, ev.name, ev.values[0] = kindMetric, name, value
	return err == nil, err
}

func (o *order) procStatus(m *thread, a *arguments, ev *event) (bool, error) {
	s := procState(a[1])
	if s >= numProcStates {
		return false, errOrder
	}
	p := o.processors[int64(a[0])]
	if p == nil {
		p = &processor{id: int64(a[0]), state: s}
		o.processors[p.id] = p
	} else if s == procAbandoned && p.state == procCalling {
		// It is about to be stolen, and known where it is, which need not be the thread that says so.
		if err := o.onOwner(p, ev); err != nil {
			return false, err
		}
	} else if s != p.state {
		return false, errOrder
	}
	p.number = 0
	if s == procRunning || s == procCalling {
		m.bind(p)
	}
	return true, nil
}

// onOwner makes ev one of the thread that has a processor.
func (o *order) onOwner(p *processor, ev *event) error {
	found := false
	for _, m := range o.threads {
		if m.seen && m.processor == p && (!found || m.id < ev.thread) {
			found, ev.thread, ev.processor, ev.goroutine = true, m.id, p.id, m.goroutineID()
		}
	}
	if !found {
		return errOrder
	}
	return nil
}

func (o *order) procStart(m *thread, a *arguments, ev *event) (bool, error) {
	p := o.processors[int64(a[0])]
	if p == nil || p.state != procIdle || a[1] != p.number+1 || m.processor != nil {
		return false, nil
	}
	if m.id == none {
		return false, errOrder
	}
	p.state, p.number = procRunning, a[1]
	m.bind(p)
	return true, nil
}

func (o *order) procStop(m *thread, a *arguments, ev *event) (bool, error) {
	p := m.processor
	if p.state != procRunning && p.state != procCalling {
		return false, errOrder
	}
	p.state, m.processor = procIdle, nil
	return true, nil
}

func (o *order) procSteal(m *thread, a *arguments, ev *event) (bool, error) {
	p := o.processors[int64(a[0])]
	if p == nil || p.state != procCalling && p.state != procAbandoned || a[1] != p.number+1 {
		return false, nil
	}
	if m.id == none {
		return false, errOrder
	}
	lost := p.state == procAbandoned
	p.state, p.number = procIdle, a[1]
	if lost { // its thread may do something else now
		return true, nil
	}
	from := o.threads[int64(a[2])]
	if from == nil || !from.seen || from.processorID() != p.id {
		return false, errOrder
	}
	from.processor = nil // so that it can go on
	return true, nil
}

func (o *order) goStatus(m *thread, a *arguments, ev *event) (bool, error) {
	id, s := int64(a[0]), uint8(a[2])
	if int(s) >= len(routineStates) {
		return false, errOrder
	}
	now := routineStates[s]
	g := o.goroutines.at(id)
	ev.becomes(id, now, now)
	if g == nil {
		g = &routine{id: id, state: now}
		o.goroutines.set(id, g)
		ev.old = unknownState
	} else if g.state != now {
		return false, errOrder
	}
	g.number = 0
	switch now {
	case running:
		m.run(g)
	case calling:
		return o.inCall(m, g, int64(a[1]), ev)
	}
	return true, nil
}

// inCall has a goroutine in a system call on a thread, perhaps another one than that which says so.
func (o *order) inCall(m *thread, g *routine, on int64, ev *event) (bool, error) {
	if on == none {
		return false, errOrder
	}
	if on == m.id {
		m.run(g)
		return true, nil
	}
	other := o.thread(on)
	switch {
	case !other.seen:
		other.seen = true
		other.run(g)
	case other.goroutineID() != g.id:
		return false, errOrder
	default:
		ev.goroutine = g.id
	}
	ev.thread = on
	return true, nil
}

func (o *order) goStatusStack(m *thread, a *arguments, ev *event) (ok bool, err error) {
	if ok, err = o.goStatus(m, a, ev); err == nil {
		ev.stack, err = o.tables.stack(a[3])
		ev.context = ev.stack
	}
	return ok, err
}

func (o *order) goCreate(m *thread, a *arguments, ev *event) (bool, error) {
	return o.create(m, a, runnable, ev)
}

func (o *order) goCreateBlocked(m *thread, a *arguments, ev *event) (bool, error) {
	return o.create(m, a, waiting, ev)
}

func (o *order) create(m *thread, a *arguments, s state, ev *event) (ok bool, err error) {
	if g := o.known(m); g != nil && g.state != running {
		return false, errOrder
	}
	if _, err = o.newRoutine(int64(a[0]), s, ev); err != nil {
		return false, err
	}
	if ev.stack, err = o.tables.stack(a[1]); err == nil {
		ev.context, err = o.tables.stack(a[2])
	}
	return err == nil, err
}

func (o *order) newRoutine(id int64, s state, ev *event) (*routine, error) {
	if o.goroutines.at(id) != nil {
		return nil, errOrder
	}
	g := &routine{id: id, state: s}
	o.goroutines.set(id, g)
	ev.becomes(id, notThere, s)
	return g, nil
}

func (o *order) goCreateSyscall(m *thread, a *arguments, ev *event) (bool, error) {
	g, err := o.newRoutine(int64(a[0]), calling, ev)
	if err == nil {
		m.run(g)
	}
	return err == nil, err
}

func (o *order) goStart(m *thread, a *arguments, ev *event) (bool, error) {
	g := o.goroutines.at(int64(a[0]))
	if g == nil || g.state != runnable || a[1] != g.number+1 {
		return false, nil
	}
	if !m.has(onProcessor | noGoroutine) {
		return false, errOrder
	}
	ev.becomes(g.id, runnable, running)
	g.state, g.number = running, a[1]
	m.run(g)
	return true, nil
}

// stops ends the running of a thread's goroutine.
func (o *order) stops(m *thread, s state, ev *event) (*routine, error) {
	g, err := o.current(m, running)
	if err != nil {
		return nil, err
	}
	ev.becomes(g.id, running, s)
	g.state, m.goroutine = s, nil
	return g, nil
}

func (o *order) goDestroy(m *thread, a *arguments, ev *event) (bool, error) {
	g, err := o.stops(m, notThere, ev)
	if err == nil {
		o.forget(g)
	}
	return err == nil, err
}

func (o *order) goStop(m *thread, a *arguments, ev *event) (bool, error) {
	return o.yields(m, a, runnable, ev)
}

func (o *order) goBlock(m *thread, a *arguments, ev *event) (bool, error) {
	return o.yields(m, a, waiting, ev)
}

func (o *order) yields(m *thread, a *arguments, s state, ev *event) (ok bool, err error) {
	if _, err = o.stops(m, s, ev); err != nil {
		return false, err
	}
	if ev.name, err = o.tables.text(a[0]); err == nil {
		ev.stack, err = o.tables.stack(a[1])
	}
	ev.context = ev.stack
	return err == nil, err
}

func (o *order) goUnblock(m *thread, a *arguments, ev *event) (ok bool, err error) {
	g := o.goroutines.at(int64(a[0]))
	if g == nil || g.state != waiting || a[1] != g.number+1 {
		return false, nil
	}
	g.state, g.number = runnable, a[1]
	ev.becomes(g.id, waiting, runnable)
	ev.context, err = o.tables.stack(a[2])
	return err == nil, err
}

func (o *order) goSwitch(m *thread, a *arguments, ev *event) (bool, error) {
	return o.switches(m, a, waiting, ev)
}

func (o *order) goSwitchDestroy(m *thread, a *arguments, ev *event) (bool, error) {
	return o.switches(m, a, notThere, ev)
}

// switches is three events: a goroutine is woken, the current one stops, and the other one starts.
func (o *order) switches(m *thread, a *arguments, s state, ev *event) (bool, error) {
	g, err := o.current(m, running)
	if err != nil {
		return false, err
	}
	next := o.goroutines.at(int64(a[0]))
	if next == nil || next.state != waiting || a[1] != next.number+1 {
		return false, nil
	}
	stop, start := *ev, *ev
	ev.becomes(next.id, waiting, runnable)
	stop.becomes(g.id, running, s)
	if g.state = s; s == notThere {
		o.forget(g)
	}
	start.goroutine = none
	start.becomes(next.id, runnable, running)
	next.state, next.number = running, a[1]
	m.run(next)
	o.more = append(o.more, stop, start)
	return true, nil
}

func (o *order) syscallBegin(m *thread, a *arguments, ev *event) (ok bool, err error) {
	g, err := o.current(m, running)
	if err != nil {
		return false, err
	}
	p := m.processor
	if a[0] != p.number+1 {
		return false, errOrder
	}
	g.state, p.state, p.number = calling, procCalling, a[0]
	ev.becomes(g.id, running, calling)
	ev.stack, err = o.tables.stack(a[1])
	ev.context = ev.stack
	return err == nil, err
}

func (o *order) syscallEnd(m *thread, a *arguments, ev *event) (bool, error) {
	g, err := o.current(m, calling)
	if err != nil || m.processor.state != procCalling {
		return false, errOrder
	}
	g.state, m.processor.state = running, procRunning
	ev.becomes(g.id, calling, running)
	return true, nil
}

// syscallEndBlocked is the end of a system call in which the thread lost its processor: that comes first.
func (o *order) syscallEndBlocked(m *thread, a *arguments, ev *event) (bool, error) {
	if m.processor != nil && m.processor.state == procCalling {
		return false, nil
	}
	g, err := o.current(m, calling)
	if err != nil || m.id == none {
		return false, errOrder
	}
	g.state, m.goroutine = runnable, nil
	ev.becomes(g.id, calling, runnable)
	return true, nil
}

// goDestroySyscall is the end of a goroutine of C code. The thread loses its processor by that, if it has one.
func (o *order) goDestroySyscall(m *thread, a *arguments, ev *event) (bool, error) {
	g, err := o.current(m, calling)
	if err != nil {
		return false, err
	}
	end := *ev
	end.becomes(g.id, calling, notThere)
	o.forget(g)
	m.goroutine = nil
	p := m.processor
	if p == nil {
		*ev = end
		return true, nil
	}
	if p.state != procCalling {
		return false, errOrder
	}
	p.state, m.processor = procAbandoned, nil
	o.more = append(o.more, end)
	return true, nil
}

func (o *order) taskBegin(m *thread, a *arguments, ev *event) (ok bool, err error) {
	if _, ok := o.tasks[a[0]]; ok {
		return false, errOrder
	}
	parent := a[1]
	if parent == taskless {
		parent = noTask
	}
	if ev.name, err = o.tables.text(a[2]); err != nil {
		return false, err
	}
	o.tasks[a[0]] = openTask{ev.name, parent}
	ev.kind, ev.task, ev.parent = kindTaskBegin, a[0], parent
	ev.context, err = o.tables.stack(a[3])
	return err == nil, err
}

func (o *order) taskEnd(m *thread, a *arguments, ev *event) (ok bool, err error) {
	t, ok := o.tasks[a[0]]
	if !ok {
		t.parent = noTask
	}
	delete(o.tasks, a[0])
	ev.kind, ev.task, ev.name, ev.parent = kindTaskEnd, a[0], t.name, t.parent
	ev.context, err = o.tables.stack(a[1])
	return err == nil, err
}

func (o *order) regionBegin(m *thread, a *arguments, ev *event) (ok bool, err error) {
	g, err := o.region(m, a, kindRegionBegin, ev)
	if err == nil {
		g.regions = append(g.regions, openRegion{ev.task, ev.name})
	}
	return err == nil, err
}

func (o *order) regionEnd(m *thread, a *arguments, ev *event) (ok bool, err error) {
	g, err := o.region(m, a, kindRegionEnd, ev)
	if err != nil || len(g.regions) == 0 { // it may have begun before the generation
		return err == nil, err
	}
	n := len(g.regions) - 1
	if g.regions[n] != (openRegion{ev.task, ev.name}) {
		return false, errOrder
	}
	g.regions = g.regions[:n]
	return true, nil
}

// region is what a beginning and an end of a region have in common.
func (o *order) region(m *thread, a *arguments, k kind, ev *event) (g *routine, err error) {
	if g = o.known(m); g == nil {
		return nil, errOrder
	}
	ev.kind, ev.task = k, a[0]
	if ev.name, err = o.tables.text(a[1]); err == nil {
		ev.context, err = o.tables.stack(a[2])
	}
	return g, err
}

func (o *order) userLog(m *thread, a *arguments, ev *event) (ok bool, err error) {
	ev.kind, ev.task = kindLog, a[0]
	if ev.name, err = o.tables.text(a[1]); err == nil {
		ev.text, err = o.tables.text(a[2])
	}
	if err == nil {
		ev.context, err = o.tables.stack(a[3])
	}
	return err == nil, err
}

func (o *order) goLabel(m *thread, a *arguments, ev *event) (ok bool, err error) {
	ev.kind = kindLabel
	ev.name, err = o.tables.text(a[0])
	return err == nil, err
}

// ranges makes ev a range of a goroutine, a processor or the whole process.
func (ev *event) ranges(k kind, name string, s scope, id int64) {
	ev.kind, ev.name, ev.scope, ev.id = k, name, s, id
}

func (o *order) markActive(m *thread, a *arguments, ev *event) (bool, error) {
	if o.marking != marksUnknown {
		return false, errOrder
	}
	o.marking, o.cycle = marks, a[0]
	ev.ranges(kindRangeActive, markRange, wholeProcess, none)
	return true, nil
}

func (o *order) markBegin(m *thread, a *arguments, ev *event) (ok bool, err error) {
	if o.marking != marksUnknown {
		if a[0] != o.cycle+1 {
			return false, nil
		}
		if o.marking == marks || !m.has(inGoroutine) {
			return false, errOrder
		}
	}
	o.marking, o.cycle = marks, a[0]
	ev.ranges(kindRangeBegin, markRange, wholeProcess, none)
	ev.context, err = o.tables.stack(a[1])
	return err == nil, err
}

func (o *order) markEnd(m *thread, a *arguments, ev *event) (bool, error) {
	if a[0] != o.cycle+1 {
		return false, nil
	}
	if o.marking != marks || !m.has(inGoroutine) {
		return false, errOrder
	}
	o.marking, o.cycle = marksNot, a[0]
	ev.ranges(kindRangeEnd, markRange, wholeProcess, none)
	return true, nil
}

func (o *order) sweepActive(m *thread, a *arguments, ev *event) (bool, error) {
	return o.sweeps(o.processors[int64(a[0])], kindRangeActive, ev)
}

func (o *order) sweepBegin(m *thread, a *arguments, ev *event) (ok bool, err error) {
	if ok, err = o.sweeps(m.processor, kindRangeBegin, ev); err == nil {
		ev.context, err = o.tables.stack(a[0])
	}
	return ok, err
}

func (o *order) sweepEnd(m *thread, a *arguments, ev *event) (bool, error) {
	ev.values = [2]uint64{a[0], a[1]}
	return o.sweeps(m.processor, kindRangeEnd, ev)
}

func (o *order) sweeps(p *processor, k kind, ev *event) (bool, error) {
	begins := k != kindRangeEnd
	if p == nil || p.sweeping == begins {
		return false, errOrder
	}
	p.sweeping = begins
	ev.ranges(k, sweepRange, ofProcessor, p.id)
	return true, nil
}

func (o *order) assistActive(m *thread, a *arguments, ev *event) (bool, error) {
	g := o.goroutines.at(int64(a[0]))
	if g == nil {
		return false, errOrder
	}
	ev.ranges(kindRangeActive, assistRange, ofGoroutine, g.id)
	return g.begin(openRange{event: evAssistBegin})
}

func (o *order) assistBegin(m *thread, a *arguments, ev *event) (ok bool, err error) {
	ev.ranges(kindRangeBegin, assistRange, ofGoroutine, ev.goroutine)
	if ok, err = o.known(m).begin(openRange{event: evAssistBegin}); err == nil {
		ev.context, err = o.tables.stack(a[0])
	}
	return ok, err
}

func (o *order) assistEnd(m *thread, a *arguments, ev *event) (bool, error) {
	ev.ranges(kindRangeEnd, assistRange, ofGoroutine, ev.goroutine)
	_, err := o.known(m).end(evAssistBegin)
	return err == nil, err
}

func (o *order) stopBegin(m *thread, a *arguments, ev *event) (ok bool, err error) {
	if ok, err = o.known(m).begin(openRange{evSTWBegin, a[0]}); err == nil {
		err = o.stopped(kindRangeBegin, a[0], ev)
	}
	if err == nil {
		ev.context, err = o.tables.stack(a[1])
	}
	return ok, err
}

func (o *order) stopEnd(m *thread, a *arguments, ev *event) (bool, error) {
	name, err := o.known(m).end(evSTWBegin)
	if err == nil {
		err = o.stopped(kindRangeEnd, name, ev)
	}
	return err == nil, err
}

// stopped makes ev a stop of the world.
func (o *order) stopped(k kind, name uint64, ev *event) error {
	why, err := o.tables.text(name)
	ev.ranges(k, stopRange+why+")", ofGoroutine, ev.goroutine)
	return err
}

// begin begins a range of a goroutine, which may be nil.
func (g *routine) begin(r openRange) (bool, error) {
	if g == nil || slices.Contains(g.ranges, r) {
		return false, errOrder
	}
	g.ranges = append(g.ranges, r)
	return true, nil
}

// end ends a range of a goroutine, which may be nil, and returns its name.
func (g *routine) end(event byte) (name uint64, err error) {
	if g == nil {
		return 0, errOrder
	}
	at := slices.IndexFunc(g.ranges, func(r openRange) bool { return r.event == event })
	if at < 0 {
		return 0, errOrder
	}
	name = g.ranges[at].name
	last := len(g.ranges) - 1
	g.ranges[at] = g.ranges[last]
	g.ranges = g.ranges[:last]
	return name, nil
}

func (o *order) experiment(m *thread, a *arguments, ev *event) (bool, error) {
	ev.kind = kindExperiment
	return true, nil
}

// misplaced is an event that has a time, and its place in a table.
func (o *order) misplaced(*thread, *arguments, *event) (bool, error) { return false, errOrder }
