package fleet

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// fan is how many tasks of about one size become one, of a service and a day. Where dumps are added one
// by one there are fewer than that of each size, each fan times the one before, and a dump is converted
// again once for each size on its way to that of a whole task.
const fan = 8

// item is a task that may become a part of a larger one, or what is new.
type item struct {
	of     *liveTask // nil: what is new
	bytes  int64
	inputs int
}

// crowded adds to the tasks that are done again those that are small and many: their files would become
// ever more. A task whose inputs are no longer there, as they were, stays as it is.
func crowded(before *commit, gone map[taskOf]bool, all []placedInput, size int64, o *policy) {
	given := tasksOf(all, before)
	parts, added := map[string][]item{}, map[string]item{}
	add := func(part string, in *member) {
		it := added[part]
		added[part] = item{bytes: it.bytes + in.Bytes, inputs: it.inputs + 1}
	}
	for i := range before.Live {
		t := &before.Live[i]
		part, it, divided := t.Task[:max(0, strings.LastIndexByte(t.Task, '-'))], item{of: t, inputs: len(t.Inputs)}, false
		for k := range t.Inputs {
			in := &t.Inputs[k]
			it.bytes, divided = it.bytes+in.Bytes, divided || in.Piece != nil
			if gone[t.taskOf] {
				add(part, in)
			}
		}
		if !gone[t.taskOf] && !divided {
			parts[part] = append(parts[part], it)
		}
	}
	for i := range all {
		if given[all[i].key()] == nil {
			add(partName(all[i].service, all[i].day), &all[i].member)
		}
	}
	if len(added) == 0 {
		return // there is time for it when something comes
	}
	ready := func(t *liveTask) bool { return o.ready(t, given) }
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		all := parts[part]
		if it := added[part]; it.inputs > 0 {
			all = append(all, it)
		}
		for _, it := range fewer(all, size, ready) {
			if it.of != nil {
				gone[it.of.taskOf] = true
			}
		}
	}
}

// fewer picks the items that become one: the smallest ones, if the largest of them is a share of their
// sum at most.
func fewer(all []item, size int64, ready func(*liveTask) bool) []item {
	slices.SortStableFunc(all, func(a, b item) int { return cmp.Compare(a.bytes, b.bytes) })
	for {
		sum, inputs, n := int64(0), 0, 0
		for i, it := range all {
			sum, inputs = sum+max(1, it.bytes), inputs+it.inputs
			if sum > size || inputs > maxInputs {
				break
			}
			if fan*max(1, it.bytes) <= sum {
				n = i + 1
			}
		}
		left := slices.DeleteFunc(slices.Clone(all[:n]), func(it item) bool { return it.of != nil && !ready(it.of) })
		if len(left) == n {
			return left
		}
		all = append(left, all[n:]...)
	}
}

// ready reports whether the inputs of a task are as they were. It is asked about those that become one
// alone, each once.
func (o *policy) ready(t *liveTask, given map[string]*taskOf) bool {
	var paths []string
	marks := map[string]string{}
	for _, in := range t.Inputs {
		if _, ok := given[in.key()]; !ok {
			paths, marks[in.Path] = append(paths, in.Path), in.Mark
		}
	}
	placed, errs := o.placeAll(paths)
	for i := range paths {
		if errs[i] != nil || placed[i].Mark != marks[paths[i]] {
			return false
		}
	}
	return true
}
