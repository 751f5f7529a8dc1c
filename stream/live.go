package stream

// liveIDs says which rows of the tables are in use, by id. Row 0 stands for
// none and may always be referred to.
type liveIDs struct {
	processes, tracks, counters, events          []bool
	categories, modules, strings, frames, stacks []bool
	labels                                       []bool

	err error // the first id that is out of range
}

// mark finds what the series and stacks refer to. Every id that it passes is in
// range after it returned nil. It keeps stacks and marks their callers too.
func (l *liveIDs) mark(t *Tables, series []Series, stacks, labels []bool) error {
	l.allocate(t)
	l.markSeries(series)
	l.markOwners(t)
	missing := t.Stacks.Len() + 1 - len(stacks)
	if missing < 0 {
		return undefined("stack", int32(len(stacks)-1), t.Stacks.Len())
	}
	l.stacks = append(stacks, make([]bool, missing)...)
	if missing = t.Labels.Len() + 1 - len(labels); missing < 0 {
		return undefined("labels", int32(len(labels)-1), t.Labels.Len())
	}
	l.labels = append(labels, make([]bool, missing)...)
	l.markStacks(t)
	l.markFrames(t)
	for i := range t.Events {
		if l.events[i+1] {
			use(l, l.categories, "category of event", t.Events[i].Category)
		}
	}
	return l.err
}

func (l *liveIDs) allocate(t *Tables) {
	l.processes = make([]bool, len(t.Processes)+1)
	l.tracks = make([]bool, t.Tracks.Len()+1)
	l.counters = make([]bool, t.Counters.Len()+1)
	l.events = make([]bool, len(t.Events)+1)
	l.categories = make([]bool, t.Categories.Len()+1)
	l.modules = make([]bool, t.Modules.Len()+1)
	l.strings = make([]bool, t.Strings.Len()+1)
	l.frames = make([]bool, t.Frames.Len()+1)
}

func (l *liveIDs) markSeries(series []Series) {
	for _, s := range series {
		use(l, l.processes, "process", s.Process)
		use(l, l.tracks, "track", s.Track)
		use(l, l.events, "event", s.Event)
		use(l, l.counters, "counter", s.Counter)
	}
}

// markOwners passes the processes that processes, tracks and counters name.
func (l *liveIDs) markOwners(t *Tables) {
	for i := range t.Processes {
		use(l, l.processes, "parent process", t.Processes[i].Parent)
	}
	for id := TrackID(1); int(id) <= t.Tracks.Len(); id++ {
		use(l, l.processes, "process of track", t.Tracks.At(id).Process)
	}
	for id := CounterID(1); int(id) <= t.Counters.Len(); id++ {
		use(l, l.processes, "process of counter", t.Counters.At(id).Process)
	}
}

// markStacks goes down from the highest id, because a parent's is lower than
// its children's.
func (l *liveIDs) markStacks(t *Tables) {
	for id := StackID(t.Stacks.Len()); id > 0; id-- {
		if l.stacks[id] {
			parent, frame := t.Stacks.At(id)
			l.stacks[parent] = true
			use(l, l.frames, "frame", frame)
		}
	}
}

func (l *liveIDs) markFrames(t *Tables) {
	for id := FrameID(1); int(id) <= t.Frames.Len(); id++ {
		if !l.frames[id] {
			continue
		}
		f := t.Frames.At(id)
		use(l, l.modules, "module", f.Module)
		use(l, l.strings, "function", f.Function)
		use(l, l.strings, "file", f.File)
		use(l, l.categories, "category of frame", f.Category)
	}
}

// use marks id, or notes that it is out of range.
func use[ID ~int32](l *liveIDs, live []bool, what string, id ID) {
	if id < 0 || int(id) >= len(live) {
		if l.err == nil {
			l.err = undefined(what, int32(id), len(live)-1)
		}
		return
	}
	live[id] = true
}
