package stream

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"gprof/dedupe"
)

// ErrUndefined says that a row refers to an id that is not in the tables, which is a
// fault of the Source.
var ErrUndefined = errors.New("id is not in the tables")

// renumbering holds the final id of each provisional one, 0 if it was dropped.
type renumbering struct {
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
}

// series returns s with final ids.
func (r *renumbering) series(s Series) Series {
	return Series{Part: s.Part, Process: r.processes[s.Process], Track: r.tracks[s.Track], Kind: s.Kind,
		Event: r.events[s.Event], Counter: r.counters[s.Counter]}
}

// freezer makes final tables of provisional ones.
type freezer struct {
	from, to *Tables
	once     bool // from is not used again
	live     liveIDs
	kept     keptIDs
	ids      renumbering
}

// freeze returns tables with only the rows in use and what they refer to, in an order
// that depends on their content alone.
//
//  1. Name: code that lacks a name gets that which others have for it.
//  2. Mark: from series and stacks to frames, strings, modules and categories.
//  3. Renumber bottom up: rows get final ids before those that refer to them are
//     compared, so that comparing ids compares content.
//
// Processes and tracks stay even if they have no rows, unless a filter took them.
//
// With more than one job, levels of stacks are made beside the rest. Tables that are not used again lend processes and
// tracks, of which there may be very many, or lose them.
func freeze(t *Tables, series []*seriesRuns, stacks, labels []bool, o CopyOptions) (*Tables, *renumbering, error) {
	f, jobs := freezer{from: t, to: &Tables{}, once: o.Once}, o.Jobs
	instead := nameStacks(t)
	if instead != nil {
		stacks = replaced(stacks, instead)
	}
	if err := f.live.mark(t, series, stacks, labels); err != nil {
		return nil, nil, err
	}
	f.kept = keptBy(t, series)
	if slices.ContainsFunc(t.Processes, func(p Process) bool { return len(p.Profile.Types) > 0 }) {
		for _, m := range t.Mappings() { // kept for pprof even if no code of it is in use
			f.live.modules[m.Module] = true
		}
	}
	for _, r := range series {
		f.to.kinds |= 1 << r.series.Kind
	}
	t.Stacks.Pack() // the memory is needed now
	levels := f.levels(jobs)
	f.processes()
	f.waiting(series)
	f.tracks()
	f.ids.counters = renumber(&f.to.Counters, &t.Counters, f.live.counters, f.counter, nil, compareCounters)
	f.categories()
	f.events()
	f.ids.modules = renumber(&f.to.Modules, &t.Modules, f.live.modules, nil, nil, compareModules)
	for _, m := range t.Mappings() {
		if m.Module = f.ids.modules[m.Module]; m.Module != 0 {
			f.to.AddMapping(m)
		}
	}
	f.ids.strings = renumber(&f.to.Strings, &t.Strings, f.live.strings, nil, firstBytes, strings.Compare)
	f.ids.frames = renumber(&f.to.Frames, &t.Frames, f.live.frames, f.frame, firstOfFrame, compareFrames)
	for id := range t.imported.linked {
		if name, _ := t.LinkName(id); f.ids.frames[id] != 0 {
			f.to.SetLinkName(f.ids.frames[id], name)
		}
	}
	f.to.ImportLabels(t)
	f.ids.stacks = renumberStacks(&f.to.Stacks, &t.Stacks, levels(), f.ids.frames, jobs)
	for old, id := range instead {
		f.ids.stacks[old] = f.ids.stacks[id]
	}
	f.ids.labels = renumber(&f.to.Labels, &t.Labels, f.live.labels, nil, nil, LabelSet.Compare)
	for _, line := range t.Ledger.Lines() {
		f.to.Ledger.Add(line)
	}
	return f.to, &f.ids, nil
}

// levels returns a function that returns the levels of stacks once they are known.
func (f *freezer) levels(jobs int) func() stackLevels {
	make := func() stackLevels { return levelsOf(&f.from.Stacks, f.live.stacks) }
	if jobs <= 1 {
		return make
	}
	made := sync.OnceValue(make)
	go made()
	return made
}

// table is what the interners of package dedupe have in common.
type table[K any, ID ~int32] interface {
	Intern(K) ID
	Append(K) ID
	At(ID) K
	Len() int
}

// renumber adds the live rows of from to to, with the ids in them made final, in the order of
// compare, which tells all rows apart. It returns the final ids. If live is nil, all rows are live.
// first, which may be nil, is a number for what compare looks at first: rows are put in its order
// before those that have the same one are compared. Many rows are far from each other in memory.
func renumber[K comparable, ID ~int32](to, from table[K, ID], live []bool, final func(K) K, first func(K) uint64, compare func(a, b K) int) []ID {
	type ranked struct {
		first uint64
		old   ID
	}
	rows, at := make([]ranked, 0, from.Len()), from.At
	var keys []K
	if final != nil {
		keys = make([]K, from.Len())
		at = func(old ID) K { return keys[old-1] }
	}
	for old := ID(1); int(old) <= from.Len(); old++ {
		if live != nil && !live[old] {
			continue
		}
		row := ranked{old: old}
		if final != nil {
			keys[old-1] = final(from.At(old))
		}
		if first != nil {
			row.first = first(at(old))
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b ranked) int {
		if a.first != b.first {
			return cmp.Compare(a.first, b.first)
		}
		return compare(at(a.old), at(b.old))
	})
	order := make([]ID, len(rows))
	for i, row := range rows {
		order[i] = row.old
	}
	return number(to, from, order, at)
}

// number adds the rows of from in this order to to, which are equal only if they follow each other. It returns the final ids.
func number[K comparable, ID ~int32](to, from table[K, ID], order []ID, at func(ID) K) []ID {
	ids := make([]ID, from.Len()+1)
	known := to.Len() > 0
	for i, old := range order {
		switch key := at(old); {
		case known:
			ids[old] = to.Intern(key)
		case i > 0 && key == at(order[i-1]):
			ids[old] = ids[order[i-1]]
		default:
			ids[old] = to.Append(key)
		}
	}
	return ids
}

// categories renumbers the categories, of which 0 becomes Other.
func (f *freezer) categories() {
	other := f.to.Categories.Intern(Other)
	f.ids.categories = renumber(&f.to.Categories, &f.from.Categories, f.live.categories, nil, nil, Category.Compare)
	f.ids.categories[0] = other
}

// events renumbers the events by name, then by the rest of their content.
func (f *freezer) events() {
	type row struct {
		event Event
		key   string
		old   EventID
	}
	var rows []row
	for i, e := range f.from.Events {
		if old := EventID(i + 1); f.live.events[old] {
			e.Category = f.ids.categories[e.Category]
			e.Fields = slices.Clone(e.Fields)
			rows = append(rows, row{e, e.key(), old})
		}
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.event.Name, b.event.Name), cmp.Compare(a.key, b.key))
	})
	f.ids.events = make([]EventID, len(f.from.Events)+1)
	for _, r := range rows {
		f.ids.events[r.old] = f.to.AddEvent(r.event)
	}
}

// tracks renumbers the tracks. There may be very many, of very many processes, so they are sorted by process first.
func (f *freezer) tracks() {
	from := &f.from.Tracks.set
	if f.once {
		from.Map(f.track) // needs no second copy of all
	}
	row := func(id TrackID) Track { return f.track(from.At(id)) }
	if f.once {
		row = from.At
	}
	order, ends := f.tracksByProcess(row)
	for p, begin := 0, 0; p < len(ends); p++ {
		slices.SortFunc(order[begin:ends[p]], func(a, b TrackID) int { return compareTracks(row(a), row(b)) })
		begin = ends[p]
	}
	f.ids.tracks = number(&f.to.Tracks.set, from, order, row)
	if f.once {
		*from = dedupe.Set[Track, TrackID]{}
	}
}

// tracksByProcess returns the tracks that are kept, those of one process after the other, and where those of each end.
func (f *freezer) tracksByProcess(row func(TrackID) Track) (order []TrackID, ends []int) {
	ends = make([]int, len(f.to.Processes)+2)
	each := func(visit func(id TrackID, process ProcessID)) {
		for id := TrackID(1); int(id) <= f.from.Tracks.set.Len(); id++ {
			if f.kept.tracks == nil || f.kept.tracks[id] {
				visit(id, row(id).Process)
			}
		}
	}
	each(func(_ TrackID, p ProcessID) { ends[p+1]++ })
	for i := range ends[1:] {
		ends[i+1] += ends[i]
	}
	order = make([]TrackID, ends[len(ends)-1])
	each(func(id TrackID, p ProcessID) { order[ends[p]] = id; ends[p]++ })
	return order, ends
}

func (f *freezer) track(t Track) Track {
	t.Process = f.ids.processes[t.Process]
	return t
}

func (f *freezer) counter(c Counter) Counter {
	c.Process = f.ids.processes[c.Process]
	return c
}

func (f *freezer) frame(r Frame) Frame {
	r.Module = f.ids.modules[r.Module]
	r.Function = f.ids.strings[r.Function]
	r.File = f.ids.strings[r.File]
	r.Category = f.ids.categories[r.Category]
	return r
}

// processes renumbers the processes by start.
func (f *freezer) processes() {
	var order []ProcessID
	for i := range f.from.Processes {
		if id := ProcessID(i + 1); f.kept.process(id) {
			order = append(order, id)
		}
	}
	slices.SortFunc(order, func(a, b ProcessID) int { return compareProcesses(f.from.Process(a), f.from.Process(b)) })
	f.ids.processes = make([]ProcessID, len(f.from.Processes)+1)
	for i, old := range order {
		f.ids.processes[old] = ProcessID(i + 1)
	}
	if f.once && len(order) == len(f.from.Processes) && slices.IsSorted(order) {
		f.to.Processes = f.from.Processes // a row is large, and there may be many
	} else {
		f.to.Processes = make([]Process, 0, len(order))
		for _, old := range order {
			f.to.Processes = append(f.to.Processes, *f.from.Process(old))
		}
	}
	for i := range f.to.Processes {
		p := &f.to.Processes[i]
		p.Parent = f.ids.processes[f.keptParent(p.Parent)]
	}
	AssignNames(f.to.Processes)
	assignPids(f.to.Processes)
}

// waiting notes the processes of which there are waits.
func (f *freezer) waiting(series []*seriesRuns) {
	if !f.to.Has(Waits) {
		return
	}
	f.to.waiting = make([]bool, len(f.to.Processes)+1)
	for _, r := range series {
		if s := &r.series; s.Kind == Waits {
			f.to.waiting[f.ids.processes[s.Process]] = true
		}
	}
}

// keptParent is the nearest process that is kept, of a process and its ancestors.
func (f *freezer) keptParent(id ProcessID) ProcessID {
	for range f.from.Processes { // ends if a process is its own ancestor
		if id == 0 || f.kept.process(id) {
			return id
		}
		id = f.from.Process(id).Parent
	}
	return 0
}

// keptIDs says which processes and tracks are kept; nil is all.
type keptIDs struct{ processes, tracks []bool }

// keptBy are all processes and tracks or, if t drops unused ones, those that rows refer
// to and the main tracks of these processes.
func keptBy(t *Tables, series []*seriesRuns) (k keptIDs) {
	if !t.onlyUsed {
		return k
	}
	k = keptIDs{make([]bool, len(t.Processes)+1), make([]bool, t.Tracks.Len()+1)}
	for _, r := range series {
		k.processes[r.series.Process], k.tracks[r.series.Track] = true, true
	}
	for id := TrackID(1); int(id) <= t.Tracks.Len(); id++ {
		if row := t.Tracks.At(id); row.Main {
			k.tracks[id] = k.processes[row.Process]
		}
	}
	return k
}

func (k *keptIDs) process(id ProcessID) bool { return k.processes == nil || k.processes[id] }

// compareProcesses orders by start and instance. The rest only matters for inputs that
// tell neither.
func compareProcesses(a, b *Process) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Pid, b.Pid),
		cmp.Compare(a.Service, b.Service), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Host, b.Host),
		cmp.Compare(a.Exe, b.Exe), slices.Compare(a.Args, b.Args), cmp.Compare(a.End, b.End))
}

func compareTracks(a, b Track) int {
	return cmp.Or(cmp.Compare(a.Process, b.Process), compareBools(b.Main, a.Main), cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), compareBools(a.Root, b.Root), cmp.Compare(a.Thread, b.Thread))
}

func compareCounters(a, b Counter) int {
	return cmp.Or(cmp.Compare(a.Process, b.Process), cmp.Compare(a.Category, b.Category), cmp.Compare(a.Name, b.Name),
		cmp.Compare(a.Description, b.Description), cmp.Compare(a.Unit, b.Unit), compareBools(a.Total, b.Total), compareBools(a.Own, b.Own),
		compareBools(a.Measure, b.Measure))
}

func compareModules(a, b Module) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Build, b.Build), cmp.Compare(a.Path, b.Path),
		cmp.Compare(a.DebugName, b.DebugName), cmp.Compare(a.DebugPath, b.DebugPath), cmp.Compare(a.Breakpad, b.Breakpad), cmp.Compare(a.Arch, b.Arch))
}

func compareFrames(a, b Frame) int {
	return cmp.Or(cmp.Compare(a.Module, b.Module), cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Depth, b.Depth),
		cmp.Compare(a.Function, b.Function), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Start, b.Start),
		cmp.Compare(a.Category, b.Category), compareBools(a.Label, b.Label), compareBools(a.Script, b.Script),
		cmp.Compare(a.Column, b.Column), cmp.Compare(a.StartColumn, b.StartColumn), cmp.Compare(a.Window, b.Window), compareBools(a.Scripted, b.Scripted))
}

// firstOfFrame is what compareFrames looks at first: the module, and the offset if it is less than 4 GiB.
func firstOfFrame(f Frame) uint64 {
	return uint64(uint32(f.Module))<<32 | min(f.Offset, math.MaxUint32)
}

// firstBytes is what strings.Compare looks at first.
func firstBytes(s string) uint64 {
	var first [8]byte
	copy(first[:], s)
	return binary.BigEndian.Uint64(first[:])
}

func compareBools(a, b bool) int { return cmp.Compare(bit(a), bit(b)) }

// undefined is the error for an id that is not from 0 to n.
func undefined(what string, id int32, n int) error {
	return fmt.Errorf("%w: %s %d of %d", ErrUndefined, what, id, n)
}

// liveIDs says which rows of the tables are in use, by id. Row 0 means none and may
// always be referred to.
type liveIDs struct {
	processes, tracks, counters, events          []bool
	categories, modules, strings, frames, stacks []bool
	labels                                       []bool

	err error // the first id that is out of range
}

// mark finds all that the series and stacks refer to. If it returns nil, all ids that it
// came by are in range. It keeps stacks, and marks their callers, too.
func (l *liveIDs) mark(t *Tables, series []*seriesRuns, stacks, labels []bool) error {
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

func (l *liveIDs) markSeries(series []*seriesRuns) {
	for _, r := range series {
		s := &r.series
		use(l, l.processes, "process", s.Process)
		use(l, l.tracks, "track", s.Track)
		use(l, l.events, "event", s.Event)
		use(l, l.counters, "counter", s.Counter)
	}
}

// markOwners marks the processes that processes, tracks and counters refer to.
func (l *liveIDs) markOwners(t *Tables) {
	for i := range t.Processes {
		use(l, l.processes, "parent process", t.Processes[i].Parent)
	}
	for id := TrackID(1); int(id) <= t.Tracks.Len(); id++ {
		use(l, l.processes, "process of track", t.Tracks.set.At(id).Process)
	}
	for id := CounterID(1); int(id) <= t.Counters.Len(); id++ {
		use(l, l.processes, "process of counter", t.Counters.At(id).Process)
	}
}

// markStacks goes down from the highest id, because callers have lower ids than callees.
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

// use marks id, or notes the error that it is out of range.
func use[ID ~int32](l *liveIDs, live []bool, what string, id ID) {
	if id < 0 || int(id) >= len(live) {
		if l.err == nil {
			l.err = undefined(what, int32(id), len(live)-1)
		}
		return
	}
	live[id] = true
}
