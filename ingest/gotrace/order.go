package gotrace

import "errors"

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
