package streamtest

import "gprof/stream"

// usage notes what rows refer to, so that unused rows of tables are found.
type usage struct {
	events, counters, categories, modules, strings, frames, stacks, labels []bool
}

func (u *usage) init(t *stream.Tables) {
	u.events = make([]bool, len(t.Events)+1)
	u.counters = make([]bool, t.Counters.Len()+1)
	u.categories = make([]bool, t.Categories.Len()+1)
	u.modules = make([]bool, t.Modules.Len()+1)
	u.strings = make([]bool, t.Strings.Len()+1)
	u.frames = make([]bool, t.Frames.Len()+1)
	u.stacks = make([]bool, t.Stacks.Len()+1)
	u.labels = make([]bool, t.Labels.Len()+1)
}

func (u *usage) rows(b *stream.Batch) {
	u.events[b.Series.Event], u.counters[b.Series.Counter] = true, true
	for _, id := range b.Stack {
		u.stacks[id] = true
	}
	for _, id := range b.Labels {
		u.labels[id] = true
	}
}

// check returns an error if a row of the tables is unused.
func (u *usage) check(t *stream.Tables) error {
	for id := stream.StackID(t.Stacks.Len()); id > 0; id-- {
		if u.stacks[id] {
			parent, frame := t.Stacks.At(id)
			u.stacks[parent], u.frames[frame] = true, true
		}
	}
	for id := stream.FrameID(1); int(id) <= t.Frames.Len(); id++ {
		f := t.Frames.At(id)
		u.modules[f.Module], u.strings[f.Function], u.strings[f.File], u.categories[f.Category] = true, true, true, true
	}
	for _, e := range t.Events {
		u.categories[e.Category] = true
	}
	for _, m := range t.Mappings() {
		u.modules[m.Module] = true
	}
	u.categories[1] = true // Other is always there
	for _, table := range []struct {
		name string
		used []bool
	}{
		{"event", u.events}, {"counter", u.counters}, {"category", u.categories}, {"module", u.modules},
		{"string", u.strings}, {"frame", u.frames}, {"stack", u.stacks}, {"labels", u.labels},
	} {
		for id := 1; id < len(table.used); id++ {
			if !table.used[id] {
				return invalid("nothing refers to %s %d", table.name, id)
			}
		}
	}
	return nil
}
