package gotrace

// routine is a goroutine.
type routine struct {
	id      int64
	state   state
	gone    bool
	number  uint64 // of the last event of it that has one
	regions []openRegion
	ranges  []openRange
}

// routineStates are the format's states of goroutines.
var routineStates = [...]state{unknownState, runnable, running, calling, waiting}

// forget forgets a goroutine, which other threads may name nevertheless.
func (o *order) forget(g *routine) {
	g.gone = true
	o.goroutines.remove(g.id)
}

// becomes makes ev a change of the state of a goroutine.
func (ev *event) becomes(id int64, old, new state) {
	ev.kind, ev.id, ev.old, ev.new = kindGoroutine, id, old, new
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
