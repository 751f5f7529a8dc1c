//go:build linux

package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"gprof/rawformat"
)

// row is one of the table.
type row struct {
	what, takes, beside, ratio, goal string
	reached                          bool
	unknown                          bool // it was not measured
}

// figures are all that was measured.
type figures struct {
	costs       map[string]cost
	counterless map[string]cost
	why         error // there is no counterless
	rounds      rounds
	markers     *sizes
	samples     *sizes
}

// times is a row that compares two lines: ours is to be at most so many times the
// other.
func (f *figures) times(ours, theirs string, most float64) row {
	return f.compare(ours, theirs, f.costs[ours].NS/f.costs[theirs].NS, most)
}

func (f *figures) compare(ours, theirs string, ratio, most float64) row {
	if r, ok := f.unmeasured(ours, theirs); ok {
		return r
	}
	return row{ours, f.takes(ours), theirs + ", " + f.takes(theirs), fmt.Sprintf("%.2fx", ratio), fmt.Sprintf("≤ %.2gx", most), ratio <= most, false}
}

// cheaper is a row of a peer, which is to take at least so many times what ours
// takes.
func (f *figures) cheaper(ours, theirs string, least float64) row {
	if r, ok := f.unmeasured(ours, theirs); ok {
		return r
	}
	ratio := f.costs[theirs].NS / f.costs[ours].NS
	return row{ours, f.takes(ours), theirs + ", " + f.takes(theirs), fmt.Sprintf("%.1fx cheaper", ratio), fmt.Sprintf("≥ %gx", least), ratio >= least, false}
}

// unmeasured is the row of lines of which one could not be measured.
func (f *figures) unmeasured(lines ...string) (row, bool) {
	for _, name := range lines {
		if _, ok := f.costs[name]; !ok {
			return row{what: lines[0], takes: "not measured: " + name + " had too few rounds without interruption", unknown: true}, true
		}
	}
	return row{}, false
}

func (f *figures) takes(name string) string { return fmt.Sprintf("%.1f ns", f.costs[name].NS) }

// timeRows are the rows of what takes time.
func (f *figures) timeRows() []row {
	marker, disabled := f.costs[markLine], f.costs[disabledLine]
	return []row{
		f.times(markLine, floorLine, 0.6),
		f.counterlessRow(),
		{what: markLine, takes: fmt.Sprintf("%.1f allocations", marker.Allocs), goal: "0", reached: marker.NS > 0 && marker.Allocs == 0, unknown: marker.NS == 0},
		f.times(of(markLine, 2), markLine, 1.2),
		f.times(of(markLine, 8), markLine, 1.2),
		{what: disabledLine, takes: f.takes(disabledLine), goal: "≤ 2 ns", reached: disabled.NS > 0 && disabled.NS <= 2, unknown: disabled.NS == 0},
		f.cheaper(markLine, logLine, 7),
		f.cheaper(of(markLine, 2), of(logLine, 2), 14),
		f.cheaper(intervalLine, regionLine, 5),
		f.cheaper(of(intervalLine, 2), of(regionLine, 2), 5),
		f.cheaper(markLine, slogLine, 40),
		f.cheaper(markLine, otelLine, 150),
		f.cheaper(stackLine, callersLine, 8),
	}
}

func (f *figures) counterlessRow() row {
	name := markLine + ", without the processor's counter"
	if f.why != nil {
		return row{what: name, takes: "not measured: " + f.why.Error(), goal: "≤ 1.3x", unknown: true}
	}
	g := figures{costs: f.counterless}
	r := g.times(markLine, floorLine, 1.3)
	r.what = name
	return r
}

// sampleRows measure what a CPU sample costs.
func sampleRows() ([]row, error) {
	ours, theirs, ratio, percent, err := sampleCost()
	if err != nil {
		return nil, err
	}
	return []row{
		{"CPU sample, 20 frames deep", ours, "Go's SIGPROF, " + theirs, fmt.Sprintf("%.2fx", ratio), "≤ 0.65x", ratio <= 0.65, false},
		{what: "100 CPU samples a second", takes: fmt.Sprintf("%.3f %% of a processor", percent), goal: "≤ 0.1 %", reached: percent <= 0.1},
	}, nil
}

// byteRows are the rows of what takes room.
func (f *figures) byteRows() []row {
	size := func(what string, s *sizes, k rawformat.Kind, most float64) row {
		n := s.perEntry[k]
		if s.entries[k] == 0 {
			return row{what: what, takes: "the recorder wrote none", goal: fmt.Sprintf("≤ %g", most)}
		}
		beside := fmt.Sprintf("dictionary %d bytes for %d entries", s.dict, s.entries[k])
		return row{what: what, takes: fmt.Sprintf("%.1f bytes", n), beside: beside, goal: fmt.Sprintf("≤ %g", most), reached: n <= most}
	}
	return []row{
		size("two-field marker, in a chunk", f.markers, rawformat.KindInstant, 12),
		size("two-field interval, in a chunk", f.markers, rawformat.KindInterval, 16),
		size("CPU sample, in a chunk", f.samples, rawformat.KindBusyFor, 11),
		size("same-sample of an idle thread, in a chunk", f.samples, rawformat.KindIdle, 8),
	}
}

// report is the table.
func report(rows []row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n| what | takes | beside | ratio | goal | reached |\n|---|--:|---|--:|--:|---|\n", machine())
	for _, r := range rows {
		reached := "no"
		switch {
		case r.unknown:
			reached = "?"
		case r.reached:
			reached = "yes"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", r.what, r.takes, r.beside, r.ratio, r.goal, reached)
	}
	return b.String()
}

// appendTo appends the figures to a file, as the lines of Go's benchmarks.
func (f *figures) appendTo(file string) error {
	var b strings.Builder
	for _, of := range []struct {
		costs map[string]cost
		tail  string
	}{{f.costs, ""}, {f.counterless, "/without_counter"}} {
		for _, name := range slices.Sorted(maps.Keys(of.costs)) {
			fmt.Fprintf(&b, "BenchmarkPeers/%s%s 1 %.2f cpu-ns/op\n", strings.ReplaceAll(name, " ", "_"), of.tail, of.costs[name].NS)
		}
	}
	w, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = w.WriteString(b.String())
	return errors.Join(err, w.Close())
}

// note says below the table on how many rounds it stands.
func (f *figures) note() string {
	r := f.rounds
	return fmt.Sprintf("\n%d rounds counted; %d did not because they were interrupted, and %d because the hypervisor took a processor away.\n", r.Counted, r.Interrupted, r.Stolen)
}

// machine names it.
func machine() string {
	model := "unknown processor"
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			model = strings.TrimSpace(value)
			break
		}
	}
	var name unix.Utsname
	unix.Uname(&name)
	source, _ := os.ReadFile(clockSource)
	load, _ := os.ReadFile("/proc/loadavg")
	one, _, _ := strings.Cut(string(load), " ")
	return fmt.Sprintf("%s, %d cores, %s, Linux %s, clock source %s, load %s; CPU time, the lower quartile of up to %d rounds each", model, runtime.NumCPU(), runtime.Version(),
		unix.ByteSliceToString(name.Release[:]), strings.TrimSpace(string(source)), one, enough)
}
