package stream

import (
	"cmp"
	"slices"
)

// processes renumbers the processes by start; all of them stay.
func (f *freezer) processes() {
	order := make([]ProcessID, len(f.from.Processes))
	for i := range order {
		order[i] = ProcessID(i + 1)
	}
	slices.SortFunc(order, func(a, b ProcessID) int { return compareProcesses(f.from.Process(a), f.from.Process(b)) })
	f.ids.processes = make([]ProcessID, len(order)+1)
	for i, old := range order {
		f.ids.processes[old] = ProcessID(i + 1)
		f.to.Processes = append(f.to.Processes, *f.from.Process(old))
	}
	for i := range f.to.Processes {
		p := &f.to.Processes[i]
		p.Parent = f.ids.processes[p.Parent]
	}
	assignPids(f.to.Processes)
}

// compareProcesses orders by start and instance. The rest matters only for
// processes of inputs that know neither.
func compareProcesses(a, b *Process) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Pid, b.Pid),
		cmp.Compare(a.Service, b.Service), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Host, b.Host),
		cmp.Compare(a.Exe, b.Exe), slices.Compare(a.Args, b.Args), cmp.Compare(a.End, b.End))
}

// assignPids gives each process an OutPid of its own. The first with a pid
// keeps it; each other gets the next number that is nobody's pid.
func assignPids(processes []Process) {
	taken := make(map[int]bool, len(processes))
	for i := range processes {
		taken[processes[i].Pid] = true
	}
	next := make(map[int]int, len(processes)) // by pid: where to look for a free number
	for i := range processes {
		p := &processes[i]
		out, again := next[p.Pid]
		if !again {
			p.OutPid, next[p.Pid] = p.Pid, p.Pid+1
			continue
		}
		for taken[out] {
			out++
		}
		p.OutPid, next[p.Pid], taken[out] = out, out+1, true
	}
}
