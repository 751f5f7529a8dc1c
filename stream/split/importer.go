package split

import "gprof/stream"

// importer copies rows of tables, and what they refer to, into the tables of a part. Its
// rows depend on what is brought, apart from the order of ids.
type importer struct {
	from, to *stream.Tables
	in       Part // the time to which processes are cut

	// The id in to of each id in from; 0 if it was not brought yet.
	processes  []stream.ProcessID
	tracks     []stream.TrackID
	counters   []stream.CounterID
	events     []stream.EventID
	categories []stream.CategoryID
	modules    []stream.ModuleID
	strings    []stream.StringID
	frames     []stream.FrameID
	stacks     []stream.StackID
	labels     []stream.LabelsID

	mappings map[stream.ModuleID][]stream.Mapping // of from

	path []stream.StackID // scratch
}

func newImporter(from *stream.Tables) *importer {
	mappings := make(map[stream.ModuleID][]stream.Mapping)
	for _, m := range from.Mappings() {
		mappings[m.Module] = append(mappings[m.Module], m)
	}
	return &importer{
		from: from, to: new(stream.Tables), mappings: mappings,
		processes: make([]stream.ProcessID, len(from.Processes)+1), tracks: make([]stream.TrackID, from.Tracks.Len()+1),
		counters: make([]stream.CounterID, from.Counters.Len()+1), events: make([]stream.EventID, len(from.Events)+1),
		categories: make([]stream.CategoryID, from.Categories.Len()+1), modules: make([]stream.ModuleID, from.Modules.Len()+1),
		strings: make([]stream.StringID, from.Strings.Len()+1), frames: make([]stream.FrameID, from.Frames.Len()+1),
		stacks: make([]stream.StackID, from.Stacks.Len()+1), labels: make([]stream.LabelsID, from.Labels.Len()+1),
	}
}

// restart begins the tables of another part.
func (t *importer) restart(in Part) {
	t.to, t.in = new(stream.Tables), in
	t.to.ImportLabels(t.from)
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

// series brings all that a series refers to.
func (t *importer) series(s stream.Series) stream.Series {
	return stream.Series{Process: t.process(s.Process), Track: t.track(s.Track), Kind: s.Kind, Event: t.event(s.Event), Counter: t.counter(s.Counter)}
}

func (t *importer) process(id stream.ProcessID) stream.ProcessID {
	if t.processes[id] == 0 && id != 0 {
		t.to.Processes = append(t.to.Processes, t.during(*t.from.Process(id)))
		t.processes[id] = stream.ProcessID(len(t.to.Processes))
	}
	return t.processes[id]
}

// during cuts a process to a part of time.
func (t *importer) during(p stream.Process) stream.Process {
	if t.in.To > t.in.From {
		p.Start = max(p.Start, t.in.From)
		if p.End != 0 {
			p.End = max(min(p.End, t.in.To), p.Start)
		}
	}
	return p
}

func (t *importer) track(id stream.TrackID) stream.TrackID {
	if t.tracks[id] == 0 && id != 0 {
		track := t.from.Tracks.At(id)
		track.Process = t.process(track.Process)
		t.tracks[id] = t.to.Tracks.Intern(track)
	}
	return t.tracks[id]
}

func (t *importer) counter(id stream.CounterID) stream.CounterID {
	if t.counters[id] == 0 && id != 0 {
		counter := t.from.Counters.At(id)
		counter.Process = t.process(counter.Process)
		t.counters[id] = t.to.Counters.Intern(counter)
	}
	return t.counters[id]
}

func (t *importer) event(id stream.EventID) stream.EventID {
	if t.events[id] == 0 && id != 0 {
		event := *t.from.Event(id)
		event.Category = t.category(event.Category)
		t.events[id] = t.to.AddEvent(event)
	}
	return t.events[id]
}

func (t *importer) category(id stream.CategoryID) stream.CategoryID {
	if t.categories[id] == 0 && id != 0 {
		t.categories[id] = t.to.Categories.Intern(t.from.Categories.At(id))
	}
	return t.categories[id]
}

func (t *importer) module(id stream.ModuleID) stream.ModuleID {
	if t.modules[id] == 0 && id != 0 {
		t.modules[id] = t.to.Modules.Intern(t.from.Modules.At(id))
		for _, m := range t.mappings[id] {
			m.Module = t.modules[id]
			t.to.AddMapping(m)
		}
	}
	return t.modules[id]
}

func (t *importer) labelSet(id stream.LabelsID) stream.LabelsID {
	if t.labels[id] == 0 && id != 0 {
		t.labels[id] = t.to.Labels.Intern(t.from.Labels.At(id))
	}
	return t.labels[id]
}

func (t *importer) text(id stream.StringID) stream.StringID {
	if t.strings[id] == 0 && id != 0 {
		t.strings[id] = t.to.Strings.Intern(t.from.Strings.At(id))
	}
	return t.strings[id]
}

func (t *importer) frame(id stream.FrameID) stream.FrameID {
	if t.frames[id] == 0 && id != 0 {
		f := t.from.Frames.At(id)
		f.Module, f.Category = t.module(f.Module), t.category(f.Category)
		f.Function, f.File = t.text(f.Function), t.text(f.File)
		t.frames[id] = t.to.Frames.Intern(f)
		if name, ok := t.from.LinkName(id); ok {
			t.to.SetLinkName(t.frames[id], name)
		}
	}
	return t.frames[id]
}

// stack brings a stack: it goes up to a caller that was brought already, and down again.
func (t *importer) stack(id stream.StackID) stream.StackID {
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

// link sets the parents of processes, among those that were brought.
func (t *importer) link() {
	for old, id := range t.processes {
		if id != 0 {
			t.to.Process(id).Parent = t.processes[t.from.Process(stream.ProcessID(old)).Parent]
		}
	}
}
