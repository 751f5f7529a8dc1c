package why

import (
	"fmt"

	"gprof/stream"
)

// throttling finds a CPU limit that keeps threads from running.
type throttling struct{}

const (
	// throttledCause is the share of the time from which on throttling is felt by most requests.
	throttledCause = 0.2

	// throttledFactor is how many times as long it must be to have begun at some moment.
	throttledFactor = 2

	// throttledNote is worth knowing: bursts are cut.
	throttledNote = 0.02
)

func (throttling) About() About {
	return About{
		Name: "CPU throttling", Looks: "for how long the CPU limit of the cgroup kept threads from running",
		Needs:     "counters, in a cgroup with a CPU limit",
		Threshold: "20 % of the time, counted for each processor that the program may use; from 2 % on it is a note",
		Lacks: func(p *Process) string {
			if p.Counter("CPU throttled") == nil && p.Counter(stream.CounterProcessCPU) != nil && p.Process.OS == "linux" {
				return "whether a CPU limit throttled it: its cgroup could not be read"
			}
			return ""
		},
	}
}

func (throttling) Find(p *Process) []Finding {
	c, cpu := p.Counter("CPU throttled"), p.Counter(stream.CounterProcessCPU)
	if c == nil || c.Gained.Total() <= 0 {
		return nil
	}
	rates := c.Rates()
	at := 0
	if change := p.Time.RiseOf(&rates, &c.Known, throttledFactor); change.Clear {
		at = change.At
	}
	_, rate := c.Around(at)
	if rate < throttledNote {
		return nil
	}
	f := Finding{
		Severity: Note, Explains: min(1, rate), Since: p.since(at),
		Text:     fmt.Sprintf("the CPU limit of the cgroup throttled it: threads were kept from running for %s of each second", took(rate)),
		Evidence: []string{p.after(at), fmt.Sprintf("throttled %s times", digits(c.Number.Total()))},
		More:     p.command(append([]string{"top"}, p.from(at)...)...),
	}
	if cpu != nil {
		_, used := cpu.Around(at)
		f.Evidence = append(f.Evidence, fmt.Sprintf("it used %s processors", digits(used)))
	}
	if s := p.slows(at); s != "" {
		f.Evidence = append(f.Evidence, s)
	}
	if rate >= throttledCause {
		f.Severity = Cause
	}
	return []Finding{f}
}
