package gotrace

import "slices"

// marking is whether the collector marks.
type marking uint8

const (
	marksUnknown marking = iota
	marksNot
	marks
)

// openRange is a range of the runtime that has begun, with an id of a string.
type openRange struct {
	event byte // that begins it
	name  uint64
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
