package gotrace

type openRegion struct {
	task uint64
	name string
}

type openTask struct {
	name   string
	parent uint64
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
