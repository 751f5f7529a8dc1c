package stream

import (
	"cmp"
	"slices"
)

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
		f.to.Processes = append(f.to.Processes, *f.from.Process(old))
	}
	for i := range f.to.Processes {
		p := &f.to.Processes[i]
		p.Parent = f.ids.processes[f.keptParent(p.Parent)]
	}
	AssignNames(f.to.Processes)
	assignPids(f.to.Processes)
}

// keptParent is the nearest that stays of a process and its ancestors.
func (f *freezer) keptParent(id ProcessID) ProcessID {
	for range f.from.Processes { // who is an ancestor of itself has none that stays
		if id == 0 || f.kept.process(id) {
			return id
		}
		id = f.from.Process(id).Parent
	}
	return 0
}

// keptIDs says which processes and tracks stay; nil is all.
type keptIDs struct{ processes, tracks []bool }

// keptBy are those that rows refer to, and the main tracks of the processes: all
// of them unless t says otherwise.
func keptBy(t *Tables, series []Series) (k keptIDs) {
	if !t.onlyUsed {
		return k
	}
	k = keptIDs{make([]bool, len(t.Processes)+1), make([]bool, t.Tracks.Len()+1)}
	for _, s := range series {
		k.processes[s.Process], k.tracks[s.Track] = true, true
	}
	for id := TrackID(1); int(id) <= t.Tracks.Len(); id++ {
		if row := t.Tracks.At(id); row.Main {
			k.tracks[id] = k.processes[row.Process]
		}
	}
	return k
}

func (k *keptIDs) process(id ProcessID) bool { return k.processes == nil || k.processes[id] }

// compareProcesses orders by start and instance. The rest matters only for
// processes of inputs that know neither.
func compareProcesses(a, b *Process) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Pid, b.Pid),
		cmp.Compare(a.Service, b.Service), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Host, b.Host),
		cmp.Compare(a.Exe, b.Exe), slices.Compare(a.Args, b.Args), cmp.Compare(a.End, b.End))
}
