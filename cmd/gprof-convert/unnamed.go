package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"gprof/stream"
)

// unnamedFrames is how many frames of one module have an address and no name.
type unnamedFrames struct {
	Module string `json:"module"`
	Build  string `json:"build_id,omitempty"` // of the binary that has the names
	Frames int    `json:"frames"`
}

// unnamed counts the frames without a name, by module in the order of the
// table.
func unnamed(t *stream.Tables) []*unnamedFrames {
	rows := []*unnamedFrames{}
	of := map[stream.ModuleID]int{}
	for id := stream.FrameID(1); int(id) <= t.Frames.Len(); id++ {
		if f := t.Frames.At(id); f.Function == 0 {
			of[f.Module]++
		}
	}
	for id := stream.ModuleID(0); int(id) <= t.Modules.Len(); id++ {
		if of[id] > 0 {
			rows = append(rows, newUnnamedFrames(t, id, of[id]))
		}
	}
	return rows
}

func newUnnamedFrames(t *stream.Tables, id stream.ModuleID, n int) *unnamedFrames {
	if id == 0 {
		return &unnamedFrames{Module: "no known module", Frames: n}
	}
	m := t.Modules.At(id)
	name := m.Path
	if name == "" {
		name = m.Name
	}
	return &unnamedFrames{Module: name, Build: m.Build, Frames: n}
}

// madeModule is what perf and the kernel call memory of no file.
const madeModule = "//anon"

// printUnnamed says what to bring.
func (m *summary) printUnnamed(out io.Writer) {
	sum, advice := 0, "No build id tells which binary has them:"
	for _, u := range m.Unnamed {
		sum += u.Frames
		if u.Build != "" {
			advice = "The binary with this build id has them; give it with --symbols:"
		}
	}
	if sum == 0 {
		return
	}
	fmt.Fprintf(out, "\n%d of %s have no name. %s\n", sum, count(m.Frames, "frame"), advice)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	kernel, made := false, false
	for _, u := range m.Unnamed {
		kernel, made = kernel || u.Module == kernelModule, made || u.Module == madeModule
		fmt.Fprintf(w, "  %s\t%s\t%s\n", stream.Printable(orDash(u.Build)), count(u.Frames, "frame"), stream.Printable(u.Module))
	}
	w.Flush()
	if kernel {
		fmt.Fprintln(out, "  Of the kernel that runs here --symbols /proc/kallsyms has them, read as root.")
	}
	if made {
		fmt.Fprintf(out, "  %s is what a process made as it ran: in a perf.data --symbols /tmp/perf-PID.map names it, if the process wrote that.\n", madeModule)
	}
}
