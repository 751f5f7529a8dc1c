package stream

// importer brings rows of tables, and what they refer to, into the tables of a
// part of what refers to them. What it takes depends on what is brought, but for
// the places of ids.
type importer struct {
	from, to *Tables
	in       Part // of time, to which processes are cut

	// The id in to by that in from; 0 is not there yet.
	processes  []ProcessID
	tracks     []TrackID
	counters   []CounterID
	events     []EventID
	categories []CategoryID
	modules    []ModuleID
	strings    []StringID
	frames     []FrameID
	stacks     []StackID
	labels     []LabelsID

	mappings map[ModuleID][]Mapping // of from

	path []StackID // scratch
}

func newImporter(from *Tables) *importer {
	mappings := make(map[ModuleID][]Mapping)
	for _, m := range from.Mappings() {
		mappings[m.Module] = append(mappings[m.Module], m)
	}
	return &importer{
		from: from, to: new(Tables), mappings: mappings,
		processes: make([]ProcessID, len(from.Processes)+1), tracks: make([]TrackID, from.Tracks.Len()+1),
		counters: make([]CounterID, from.Counters.Len()+1), events: make([]EventID, len(from.Events)+1),
		categories: make([]CategoryID, from.Categories.Len()+1), modules: make([]ModuleID, from.Modules.Len()+1),
		strings: make([]StringID, from.Strings.Len()+1), frames: make([]FrameID, from.Frames.Len()+1),
		stacks: make([]StackID, from.Stacks.Len()+1), labels: make([]LabelsID, from.Labels.Len()+1),
	}
}

// restart begins the tables of another part.
func (t *importer) restart(in Part) {
	t.to, t.in = new(Tables), in
	clear(t.processes)
	clear(t.tracks)
	clear(t.counters)
	clear(t.events)
	clear(t.categories)
	clear(t.modules)
	clear(t.strings)
	clear(t.frames)
	clear(t.stacks)
	clear(t.labels)
}

// series brings what a series names.
func (t *importer) series(s Series) Series {
	return Series{Process: t.process(s.Process), Track: t.track(s.Track), Kind: s.Kind, Event: t.event(s.Event), Counter: t.counter(s.Counter)}
}

func (t *importer) process(id ProcessID) ProcessID {
	if t.processes[id] == 0 && id != 0 {
		t.to.Processes = append(t.to.Processes, t.during(*t.from.Process(id)))
		t.processes[id] = ProcessID(len(t.to.Processes))
	}
	return t.processes[id]
}

// during cuts a process to a part of time.
func (t *importer) during(p Process) Process {
	if t.in.To > t.in.From {
		p.Start = max(p.Start, t.in.From)
		if p.End != 0 {
			p.End = max(min(p.End, t.in.To), p.Start)
		}
	}
	return p
}

func (t *importer) track(id TrackID) TrackID {
	if t.tracks[id] == 0 && id != 0 {
		track := t.from.Tracks.At(id)
		track.Process = t.process(track.Process)
		t.tracks[id] = t.to.Tracks.Intern(track)
	}
	return t.tracks[id]
}

func (t *importer) counter(id CounterID) CounterID {
	if t.counters[id] == 0 && id != 0 {
		counter := t.from.Counters.At(id)
		counter.Process = t.process(counter.Process)
		t.counters[id] = t.to.Counters.Intern(counter)
	}
	return t.counters[id]
}

func (t *importer) event(id EventID) EventID {
	if t.events[id] == 0 && id != 0 {
		event := *t.from.Event(id)
		event.Category = t.category(event.Category)
		t.events[id] = t.to.AddEvent(event)
	}
	return t.events[id]
}

func (t *importer) category(id CategoryID) CategoryID {
	if t.categories[id] == 0 && id != 0 {
		t.categories[id] = t.to.Categories.Intern(t.from.Categories.At(id))
	}
	return t.categories[id]
}

func (t *importer) module(id ModuleID) ModuleID {
	if t.modules[id] == 0 && id != 0 {
		t.modules[id] = t.to.Modules.Intern(t.from.Modules.At(id))
		for _, m := range t.mappings[id] {
			m.Module = t.modules[id]
			t.to.AddMapping(m)
		}
	}
	return t.modules[id]
}

func (t *importer) labelSet(id LabelsID) LabelsID {
	if t.labels[id] == 0 && id != 0 {
		t.labels[id] = t.to.Labels.Intern(t.from.Labels.At(id))
	}
	return t.labels[id]
}

func (t *importer) text(id StringID) StringID {
	if t.strings[id] == 0 && id != 0 {
		t.strings[id] = t.to.Strings.Intern(t.from.Strings.At(id))
	}
	return t.strings[id]
}

func (t *importer) frame(id FrameID) FrameID {
	if t.frames[id] == 0 && id != 0 {
		f := t.from.Frames.At(id)
		f.Module, f.Category = t.module(f.Module), t.category(f.Category)
		f.Function, f.File = t.text(f.Function), t.text(f.File)
		t.frames[id] = t.to.Frames.Intern(f)
	}
	return t.frames[id]
}

// stack brings a stack: up to a caller that is there already, and down again.
func (t *importer) stack(id StackID) StackID {
	t.path = t.path[:0]
	for ; t.stacks[id] == 0 && id != 0; id, _ = t.from.Stacks.At(id) {
		t.path = append(t.path, id)
	}
	for i := len(t.path) - 1; i >= 0; i-- {
		caller, frame := t.from.Stacks.At(t.path[i])
		t.stacks[t.path[i]] = t.to.Stacks.Intern(t.stacks[caller], t.frame(frame))
	}
	if len(t.path) > 0 {
		id = t.path[0]
	}
	return t.stacks[id]
}

// link finds the parents of processes among those that were brought.
func (t *importer) link() {
	for old, id := range t.processes {
		if id != 0 {
			t.to.Process(id).Parent = t.processes[t.from.Process(ProcessID(old)).Parent]
		}
	}
}
