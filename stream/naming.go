package stream

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// How a process is called is one rule, which all outputs, names of files and
// --process follow: by its service, else its program, then its host, its true pid,
// and the beginning of its instance. Each is there only where it is needed to tell
// processes of a run apart; people read the host anyway.

// Naming is what the name of a process has besides its service and pid.
type Naming struct {
	HostTells bool   // processes of its service on several hosts have one pid
	Short     string // the beginning of its instance, where another process has even its host and pid; else ""
}

// Title names the process for people: "checkout 1.42.0 · checkout-7f9c · pid 1".
// Parts that are unknown are left out. Processes whose pid is unknown, such as those
// that profiles are of, are not told apart: they may be one.
func (p *Process) Title() string {
	title := p.program()
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

// Words are the name of the process for names of files: "checkout", "1", if that
// is enough.
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

// Names are all that the process is called.
func (p *Process) Names() []string {
	return []string{p.InstanceName(), p.Title(), strings.Join(p.Words(), "-"), strconv.Itoa(p.Pid), p.Name, p.Service, p.Host}
}

// InstanceName is the instance in hexadecimal, as the ledger and the directories of
// recordings have it.
func (p *Process) InstanceName() string { return fmt.Sprintf("%016x", p.Instance) }

func (p *Process) program() string { return cmp.Or(p.Service, p.Name) }

// AssignNames finds the Naming of all processes of a run. One that has a Short keeps
// it: a part of a run is called as in the whole.
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

// leastShort is how much of an instance is shown at least.
const leastShort = 4

// shortInstances are the beginnings of the instances of processes by which each is
// told from all others.
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

// assignPids gives each process an OutPid of its own: its pid, and where several
// have the same, the beginning of its instance.
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
		if taken[p.OutPid]++; taken[p.OutPid] > 1 { // of one instance: inputs may know none
			p.OutPid += "~" + strconv.Itoa(taken[p.OutPid])
		}
	}
}
