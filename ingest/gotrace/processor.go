package gotrace

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
