package stream

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrUndefined says that a row, or a row of the tables, refers to an id that
// the tables do not hold: a fault of the Source.
var ErrUndefined = errors.New("id is not in the tables")

// renumbering holds the final id of each provisional one, and 0 for what was
// pruned.
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

// freezer makes final tables out of provisional ones.
type freezer struct {
	from, to *Tables
	live     liveIDs
	kept     keptIDs
	ids      renumbering
}

// freeze returns tables with only what the rows in use refer to, in an order
// that their content alone decides.
//
//  1. Mark: from series and stacks to frames, strings, modules and categories.
//  2. Renumber bottom up: what a row refers to has its final id before the row
//     is compared, so that comparing ids is comparing content.
//
// Processes and tracks stay even if they have no rows, unless a filter took them.
func freeze(t *Tables, series []Series, stacks, labels []bool) (*Tables, *renumbering, error) {
	f := freezer{from: t, to: &Tables{}}
	if err := f.live.mark(t, series, stacks, labels); err != nil {
		return nil, nil, err
	}
	f.kept = keptBy(t, series)
	if slices.ContainsFunc(t.Processes, func(p Process) bool { return len(p.Profile.Types) > 0 }) {
		for _, m := range t.Mappings() { // goes out as it came, also if no code of it is in use
			f.live.modules[m.Module] = true
		}
	}
	for _, s := range series {
		f.to.kinds |= 1 << s.Kind
	}
	t.Stacks.Pack() // the memory is needed now
	f.processes()
	f.ids.tracks = renumber(&f.to.Tracks, &t.Tracks, f.kept.tracks, f.track, compareTracks)
	f.ids.counters = renumber(&f.to.Counters, &t.Counters, f.live.counters, f.counter, compareCounters)
	f.categories()
	f.events()
	f.ids.modules = renumber(&f.to.Modules, &t.Modules, f.live.modules, nil, compareModules)
	for _, m := range t.Mappings() {
		if m.Module = f.ids.modules[m.Module]; m.Module != 0 {
			f.to.AddMapping(m)
		}
	}
	f.ids.strings = renumber(&f.to.Strings, &t.Strings, f.live.strings, nil, strings.Compare)
	f.ids.frames = renumber(&f.to.Frames, &t.Frames, f.live.frames, f.frame, compareFrames)
	f.ids.stacks = renumberStacks(&f.to.Stacks, &t.Stacks, f.live.stacks, f.ids.frames)
	f.ids.labels = renumber(&f.to.Labels, &t.Labels, f.live.labels, nil, LabelSet.Compare)
	for _, line := range t.Ledger.Lines() {
		f.to.Ledger.Add(line)
	}
	return f.to, &f.ids, nil
}

// table is what the interners of package dedupe have in common.
type table[K any, ID ~int32] interface {
	Intern(K) ID
	At(ID) K
	Len() int
}

// renumber interns the live rows of from, with their ids made final, into to in
// the order of compare. It returns the final ids. A nil live is all rows.
func renumber[K comparable, ID ~int32](to, from table[K, ID], live []bool, final func(K) K, compare func(a, b K) int) []ID {
	keys := make([]K, 0, from.Len())
	order := make([]ID, 0, from.Len()) // old ids
	for old := ID(1); int(old) <= from.Len(); old++ {
		key := from.At(old)
		if live == nil || live[old] {
			if final != nil {
				key = final(key)
			}
			order = append(order, old)
		}
		keys = append(keys, key)
	}
	slices.SortFunc(order, func(a, b ID) int { return compare(keys[a-1], keys[b-1]) })
	ids := make([]ID, from.Len()+1)
	for _, old := range order {
		ids[old] = to.Intern(keys[old-1])
	}
	return ids
}

// categories renumbers the categories. None becomes Other.
func (f *freezer) categories() {
	other := f.to.Categories.Intern(Other)
	f.ids.categories = renumber(&f.to.Categories, &f.from.Categories, f.live.categories, nil, Category.Compare)
	f.ids.categories[0] = other
}

// events renumbers the events by name, then by what is left of their content.
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

func compareBools(a, b bool) int { return cmp.Compare(bit(a), bit(b)) }

// undefined makes an error out of an id of 0 to n that was not in that range.
func undefined(what string, id int32, n int) error {
	return fmt.Errorf("%w: %s %d of %d", ErrUndefined, what, id, n)
}
