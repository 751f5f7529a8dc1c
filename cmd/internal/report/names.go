package report

import (
	"fmt"

	"gprof/cmd/internal/human"
	"gprof/stream"
)

// Nameless is a Sink that counts samples in functions whose names are missing but could
// be found.
type Nameless struct {
	tables       *stream.Tables
	frames       []bool // by id: whether it has no name
	any, kernel  bool   // whether there are any, and any of a kernel
	samples, all int64
}

// kernelModule is the name of the kernel in perf's files.
const kernelModule = "[kernel.kallsyms]"

// Begin looks for frames without a name.
func (n *Nameless) Begin(t *stream.Tables) error {
	n.tables, n.frames = t, make([]bool, t.Frames.Len()+1)
	for id := stream.FrameID(1); int(id) <= t.Frames.Len(); id++ {
		f := t.Frames.At(id)
		if f.Function != 0 || f.Module == 0 {
			continue
		}
		if m := t.Modules.At(f.Module); m.Build != "" {
			n.frames[id], n.any = true, true
			n.kernel = n.kernel || m.Name == kernelModule
		}
	}
	return nil
}

// Needs implements [stream.Summer].
func (n *Nameless) Needs(k stream.Kind, _ *stream.Tables) stream.Need {
	if k == stream.Samples {
		return stream.NeedsStacks
	}
	return stream.NeedsTally
}

// Sums counts samples.
func (n *Nameless) Sums(s *stream.Sums) error {
	for i := range s.Stacks {
		n.add(s.Stacks[i].Stack, s.Stacks[i].Samples)
	}
	return nil
}

// Segment counts samples.
func (n *Nameless) Segment(b *stream.Batch) error {
	if !n.any || b.Series.Kind != stream.Samples {
		return nil
	}
	for i, stack := range b.Stack {
		n.add(stack, b.Weight[i])
	}
	return nil
}

func (n *Nameless) add(stack stream.StackID, samples int64) {
	n.all += samples
	if stack == 0 {
		return
	}
	if _, frame := n.tables.Stacks.At(stack); n.frames[frame] {
		n.samples += samples
	}
}

// Close does nothing.
func (n *Nameless) Close() error { return nil }

// namelessShare is the part of the samples from which on a hint is printed:
// 1/namelessShare.
const namelessShare = 20

// Hint says how to get the names if many are missing.
func (n *Nameless) Hint() string {
	if n.samples == 0 || n.samples < n.all/namelessShare {
		return ""
	}
	text := fmt.Sprintf("%s of the samples are in functions without a name: give the programs, or folders of them, with --symbols; gprof-convert info says which", human.Share(n.samples, n.all))
	if n.kernel {
		text += ". The kernel's names are in /proc/kallsyms, read as root: --symbols /proc/kallsyms"
	}
	return text
}

// unnamedFrames is the number of frames of one module that have an address and no name.
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

// madeModule is the name that perf and the kernel give to memory without a file.
const madeModule = "//anon"
