package main

import (
	"fmt"

	"gprof/stream"
)

// nameless is a Sink that counts samples in functions that have no name, where
// the program could tell it.
type nameless struct {
	tables       *stream.Tables
	frames       []bool // by id: it has no name
	any, kernel  bool   // there are some; of a kernel
	samples, all int64
}

// kernelModule is what perf calls the kernel.
const kernelModule = "[kernel.kallsyms]"

// Begin looks for frames without a name.
func (n *nameless) Begin(t *stream.Tables) error {
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

// Segment counts samples.
func (n *nameless) Segment(b *stream.Batch) error {
	if !n.any || b.Series.Kind != stream.Samples {
		return nil
	}
	for i, stack := range b.Stack {
		n.all += b.Weight[i]
		if stack == 0 {
			continue
		}
		if _, frame := n.tables.Stacks.At(stack); n.frames[frame] {
			n.samples += b.Weight[i]
		}
	}
	return nil
}

// Close does nothing.
func (n *nameless) Close() error { return nil }

// namelessShare is from which part of the samples on it is worth a hint: 1 of so many.
const namelessShare = 20

// hint says how to get the names, if many are missing.
func (n *nameless) hint(s *streams) {
	if n.samples == 0 || n.samples < n.all/namelessShare {
		return
	}
	text := fmt.Sprintf("%s of the samples are in functions without a name: give the programs, or folders of them, with --symbols; gprof-convert info says which", share(n.samples, n.all))
	if n.kernel {
		text += ". The kernel's names are in /proc/kallsyms, read as root: --symbols /proc/kallsyms"
	}
	s.hint(text)
}
