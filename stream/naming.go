package stream

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// All outputs, names of files and --process name a process by one rule: by its
// service, else its program, then its host, its true pid, and the beginning of its
// instance. Each is there only where it is needed to tell processes of a run
// apart; people read the host anyway.

// Naming is what the name of a process has besides its service and pid.
type Naming struct {
	HostTells bool   // processes of its service have the same pid on several hosts
	Short     string // the beginning of its instance if another process has the same host and pid; else ""
	Part      string // what of it was read for a first look, such as "3 of 263 chunks"; "": all that was asked for
}

// Title is the name of the process for people: "checkout 1.42.0 · checkout-7f9c · pid 1".
// Unknown parts are left out. Processes without a pid, such as those of profiles, are not
// told apart: they may be the same.
func (p *Process) Title() string {
	title := p.program()
	if p.Part != "" {
		title = p.Part + " of " + title
	}
	if p.Version != "" {
		title += " " + p.Version
	}
	if p.Host != "" {
		title += " · " + p.Host
	}
	if p.Pid == 0 {
		return title
	}
	title += " · pid " + strconv.Itoa(p.Pid)
	if p.Short != "" {
		title += " · " + p.Short
	}
	return title
}

// Words are the words of the name of the process in file names: "checkout", "1", if these
// are enough.
func (p *Process) Words() []string {
	words := []string{cmp.Or(p.program(), "process")}
	if p.HostTells && p.Host != "" {
		words = append(words, p.Host)
	}
	if p.Pid != 0 {
		words = append(words, strconv.Itoa(p.Pid))
	}
	if p.Short != "" {
		words = append(words, p.Short)
	}
	return words
}

// Names are all names of the process.
func (p *Process) Names() []string {
	return []string{p.InstanceName(), p.Title(), strings.Join(p.Words(), "-"), strconv.Itoa(p.Pid), "pid:" + strconv.Itoa(p.Pid), p.Name, p.Service, p.Host}
}

// InstanceName is the instance in hexadecimal, as in the ledger and in the names of
// directories.
func (p *Process) InstanceName() string { return fmt.Sprintf("%016x", p.Instance) }

func (p *Process) program() string { return cmp.Or(p.Service, p.Name) }

// AssignNames finds the Naming of all processes of a run. A Short that is there already
// stays, so that names in a part of a run are those of the whole.
func AssignNames(processes []Process) {
	type place struct {
		program, host string
		pid           int
	}
	hosts, count, several := map[place]string{}, map[place]int{}, map[string]bool{}
	for i := range processes {
		p := &processes[i]
		anywhere := place{program: p.program(), pid: p.Pid}
		if host, known := hosts[anywhere]; known && host != p.Host {
			several[p.program()] = true
		}
		hosts[anywhere] = p.Host
		count[place{p.program(), p.Host, p.Pid}]++
	}
	var shorts []string
	for i := range processes {
		p := &processes[i]
		p.HostTells = p.HostTells || several[p.program()]
		if p.Short == "" && count[place{p.program(), p.Host, p.Pid}] > 1 {
			if shorts == nil {
				shorts = shortInstances(processes)
			}
			p.Short = shorts[i]
		}
	}
}

// leastShort is the least number of digits of an instance that is shown.
const leastShort = 4

// shortInstances returns the shortest beginnings of the instances of processes that tell
// them apart.
func shortInstances(processes []Process) []string {
	all := make([]string, len(processes))
	for i := range processes {
		all[i] = processes[i].InstanceName()
	}
	sorted := slices.Sorted(slices.Values(all))
	for i, instance := range all {
		at, _ := slices.BinarySearch(sorted, instance)
		n := leastShort
		for _, k := range []int{at - 1, at + 1} {
			if k >= 0 && k < len(sorted) {
				n = max(n, commonPrefix(sorted[k], instance)+1)
			}
		}
		all[i] = instance[:min(n, len(instance))]
	}
	return all
}

func commonPrefix(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// assignPids gives each process an OutPid of its own: its pid and, if others have the
// same, the beginning of its instance.
func assignPids(processes []Process) {
	count := make(map[int]int, len(processes))
	for i := range processes {
		count[processes[i].Pid]++
	}
	var shorts []string
	taken := map[string]int{}
	for i := range processes {
		p := &processes[i]
		p.OutPid = strconv.Itoa(p.Pid)
		if count[p.Pid] == 1 {
			continue
		}
		if shorts == nil {
			shorts = shortInstances(processes)
		}
		p.OutPid += " (" + cmp.Or(p.Short, shorts[i]) + ")"
		if taken[p.OutPid]++; taken[p.OutPid] > 1 { // the same instance: inputs may not tell it
			p.OutPid += "~" + strconv.Itoa(taken[p.OutPid])
		}
	}
}
