package streamtest

import (
	"cmp"
	"strconv"
	"strings"

	"gprof/stream"
)

// checkTables checks final tables: ids are in range, and rows in canonical order, without
// duplicates.
func checkTables(t *stream.Tables) error {
	for _, check := range []func(*stream.Tables) error{
		checkProcesses, checkTracks, checkCounters, checkCategories, checkEvents, checkModules, checkStrings, checkFrames, checkStacks, checkLabels,
	} {
		if err := check(t); err != nil {
			return err
		}
	}
	return nil
}

func checkProcesses(t *stream.Tables) error {
	pids, out, titles := make(map[int]int), make(map[string]bool), make(map[string]uint64)
	for _, p := range t.Processes {
		pids[p.Pid]++
	}
	for i := range t.Processes {
		p, id := &t.Processes[i], stream.ProcessID(i+1)
		if i > 0 {
			if last := &t.Processes[i-1]; cmp.Or(cmp.Compare(last.Start, p.Start), cmp.Compare(last.Instance, p.Instance)) > 0 {
				return invalid("process %d comes after one that started later", id)
			}
		}
		if p.Parent < 0 || int(p.Parent) > len(t.Processes) || p.Parent == id {
			return invalid("process %d has the parent %d", id, p.Parent)
		}
		if out[p.OutPid] {
			return invalid("process %d has the pid of another, %s, in the output", id, p.OutPid)
		}
		if pid, own := strconv.Itoa(p.Pid), pids[p.Pid] == 1; own && p.OutPid != pid || !own && !strings.HasPrefix(p.OutPid, pid+" (") {
			return invalid("process %d has the pid %s, and %s in the output", id, pid, p.OutPid)
		}
		if other, known := titles[p.Title()]; known && p.Pid != 0 && other != p.Instance {
			return invalid("process %d is called %q, as another", id, p.Title())
		}
		if p.End != 0 && p.End < p.Start {
			return invalid("process %d ended at %d, started at %d", id, p.End, p.Start)
		}
		out[p.OutPid], titles[p.Title()] = true, p.Instance
	}
	return nil
}

func checkTracks(t *stream.Tables) error {
	mains := make([]int, len(t.Processes)+1)
	err := ordered("track", &t.Tracks, func(a, b stream.Track) int {
		return cmp.Or(cmp.Compare(a.Process, b.Process), cmp.Compare(number(b.Main), number(a.Main)), strings.Compare(a.Name, b.Name),
			cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(number(a.Root), number(b.Root)),
			cmp.Compare(a.Thread, b.Thread))
	})
	for id := stream.TrackID(1); err == nil && int(id) <= t.Tracks.Len(); id++ {
		k := t.Tracks.At(id)
		if k.Process <= 0 || int(k.Process) > len(t.Processes) {
			return invalid("track %d has the process %d", id, k.Process)
		}
		if k.Start != 0 && k.End != 0 && k.End < k.Start {
			return invalid("track %d ends at %d, begins at %d", id, k.End, k.Start)
		}
		mains[k.Process] += number(k.Main)
	}
	for id := 1; err == nil && id < len(mains); id++ {
		if mains[id] != 1 {
			return invalid("process %d has %d main tracks, want 1", id, mains[id])
		}
	}
	return err
}

func checkCounters(t *stream.Tables) error {
	for id := stream.CounterID(1); int(id) <= t.Counters.Len(); id++ {
		if p := t.Counters.At(id).Process; p <= 0 || int(p) > len(t.Processes) {
			return invalid("counter %d has the process %d", id, p)
		}
	}
	return ordered("counter", &t.Counters, func(a, b stream.Counter) int {
		return cmp.Or(cmp.Compare(a.Process, b.Process), strings.Compare(a.Category, b.Category), strings.Compare(a.Name, b.Name),
			strings.Compare(a.Description, b.Description), cmp.Compare(a.Unit, b.Unit), cmp.Compare(number(a.Total), number(b.Total)), cmp.Compare(number(a.Own), number(b.Own)),
			cmp.Compare(number(a.Measure), number(b.Measure)))
	})
}

func checkCategories(t *stream.Tables) error {
	if t.Categories.Len() == 0 || t.Categories.At(1) != stream.Other {
		return invalid("the first category is not Other")
	}
	return ordered("category", &t.Categories, func(a, b stream.Category) int {
		if a == stream.Other {
			return -1
		}
		return a.Compare(b)
	})
}

func checkEvents(t *stream.Tables) error {
	for i, e := range t.Events {
		if i > 0 && e.Name < t.Events[i-1].Name {
			return invalid("event %q comes after %q", e.Name, t.Events[i-1].Name)
		}
		if e.Category <= 0 || int(e.Category) > t.Categories.Len() {
			return invalid("event %q has the category %d", e.Name, e.Category)
		}
		for _, f := range e.Fields {
			if f.Format >= stream.NumFormats || f.Type > stream.JSON {
				return invalid("field %q of event %q has type %d, format %d", f.Name, e.Name, f.Type, f.Format)
			}
		}
	}
	return nil
}

func checkModules(t *stream.Tables) error {
	return ordered("module", &t.Modules, func(a, b stream.Module) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Build, b.Build), strings.Compare(a.Path, b.Path),
			strings.Compare(a.DebugName, b.DebugName), strings.Compare(a.DebugPath, b.DebugPath), strings.Compare(a.Breakpad, b.Breakpad), strings.Compare(a.Arch, b.Arch))
	})
}

func checkStrings(t *stream.Tables) error { return ordered("string", &t.Strings, strings.Compare) }

func checkFrames(t *stream.Tables) error {
	for id := stream.FrameID(1); int(id) <= t.Frames.Len(); id++ {
		f := t.Frames.At(id)
		if f.Module < 0 || int(f.Module) > t.Modules.Len() || f.Category <= 0 || int(f.Category) > t.Categories.Len() ||
			f.Function < 0 || int(f.Function) > t.Strings.Len() || f.File < 0 || int(f.File) > t.Strings.Len() {
			return invalid("frame %d refers to what is not there: %+v", id, f)
		}
	}
	return ordered("frame", &t.Frames, func(a, b stream.Frame) int {
		return cmp.Or(cmp.Compare(a.Module, b.Module), cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Depth, b.Depth),
			cmp.Compare(a.Function, b.Function), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Start, b.Start),
			cmp.Compare(a.Category, b.Category), cmp.Compare(number(a.Label), number(b.Label)), cmp.Compare(number(a.Script), number(b.Script)),
			cmp.Compare(a.Column, b.Column), cmp.Compare(a.StartColumn, b.StartColumn), cmp.Compare(a.Window, b.Window), cmp.Compare(number(a.Scripted), number(b.Scripted)))
	})
}

func checkLabels(t *stream.Tables) error {
	return ordered("labels", &t.Labels, stream.LabelSet.Compare)
}

// checkStacks checks that stacks come breadth first: pairs of caller and frame ascend.
func checkStacks(t *stream.Tables) error {
	var lastParent stream.StackID
	var lastFrame stream.FrameID
	for id := stream.StackID(1); int(id) <= t.Stacks.Len(); id++ {
		parent, frame := t.Stacks.At(id)
		if parent < 0 || parent >= id || frame <= 0 || int(frame) > t.Frames.Len() {
			return invalid("stack %d has parent %d, frame %d", id, parent, frame)
		}
		if cmp.Or(cmp.Compare(lastParent, parent), cmp.Compare(lastFrame, frame)) >= 0 {
			return invalid("stack %d (%d, %d) comes after (%d, %d)", id, parent, frame, lastParent, lastFrame)
		}
		lastParent, lastFrame = parent, frame
	}
	return nil
}

// ordered checks that each row of a table follows the one before it in order.
func ordered[K any, ID ~int32](name string, t interface {
	At(ID) K
	Len() int
}, compare func(a, b K) int) error {
	for id := ID(2); int(id) <= t.Len(); id++ {
		if a, b := t.At(id-1), t.At(id); compare(a, b) >= 0 {
			return invalid("%s %d, %+v, comes after %+v", name, id, b, a)
		}
	}
	return nil
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}
