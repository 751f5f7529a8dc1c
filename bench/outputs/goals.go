package main

import (
	"fmt"
	"strings"
)

// goal is something that a line is to reach.
type goal struct {
	asked string
	// reached tells a figure, and whether it is good enough.
	reached func(own result, all results) (figure string, ok bool)
}

// results are those of all lines, by name.
type results map[string]result

// fast asks for at least so many million samples in a second of CPU time, of the
// whole run.
func fast(least float64) goal {
	return goal{fmt.Sprintf("≥ %g M samples/CPU s", least), func(own result, all results) (string, bool) {
		got := rate(own.samples, own.cpu)
		return fmt.Sprintf("%.1f", got), got >= least
	}}
}

// rows asks for at least so many million rows in a second of CPU time.
func rows(least float64) goal {
	return goal{fmt.Sprintf("≥ %g M rows/CPU s", least), func(own result, all results) (string, bool) {
		got := rate(own.Rows, own.cpu)
		return fmt.Sprintf("%.1f", got), got >= least
	}}
}

// likeMemcpy asks for at least such a part of the speed at which the same bytes
// are copied.
func likeMemcpy(part float64) goal {
	return goal{fmt.Sprintf("≥ 1/%.0f of memcpy", 1/part), func(own result, all results) (string, bool) {
		got := own.Memcpy.Seconds() / own.cpu.Seconds()
		return fmt.Sprintf("1/%.0f", 1/got), got >= part
	}}
}

// cost asks for so many times less CPU time and memory than another line takes,
// for the output alone.
type cost struct {
	line        string
	cpu, memory float64
}

func (c cost) goal() goal {
	return goal{fmt.Sprintf("CPU 1/%g, memory 1/%g of %s", c.cpu, c.memory, c.line), func(own result, all results) (string, bool) {
		above, took := "", all.memory(own)
		if took < noise {
			above, took = "less than ", noise
		}
		cpu, memory := all.timesCPU(own, c.line), all.memory(all[c.line])/took
		return fmt.Sprintf("1/%.1f, %s1/%.0f", cpu, above, memory), cpu >= c.cpu && memory >= c.memory
	}}
}

// copied asks for so many times less CPU time than another line takes to write
// the same rows, and at most so many times its bytes.
func copied(by string, cpu, bytes float64) goal {
	return goal{fmt.Sprintf("CPU 1/%g, bytes %gx of %s", cpu, bytes, by), func(own result, all results) (string, bool) {
		times, size := all.timesCPU(own, by), float64(own.Bytes)/float64(all[by].Bytes)
		return fmt.Sprintf("1/%.1f, %.2fx", times, size), times >= cpu && size <= bytes
	}}
}

// timesCPU is how many times the CPU time of own another line takes.
func (all results) timesCPU(own result, other string) float64 {
	return all.output(all[other]).Seconds() / all.output(own).Seconds()
}

// asked are the texts of a line's goals, and reached what became of them.
func (l line) asked() string {
	var parts []string
	for _, g := range l.goals {
		parts = append(parts, g.asked)
	}
	return strings.Join(parts, "; ")
}

func (l line) reached(all results) string {
	var parts []string
	for _, g := range l.goals {
		figure, ok := g.reached(all[l.name], all)
		if !ok {
			figure += " **no**"
		}
		parts = append(parts, figure)
	}
	return strings.Join(parts, "; ")
}
