package fleet

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// bundle is inputs that depend on each other: those of one process, such as snapshots of it, or
// of a process and its children, which expire by their parent.
type bundle struct {
	inputs       []placedInput
	service, day string
	bytes        int64
}

// policy is what becomes of tasks that were committed before, besides that those are done again on
// which something new depends.
type policy struct {
	again  bool                                   // all are done again if the flags or the program are others
	all    bool                                   // all are done again
	lost   map[taskOf]bool                        // are done again, for files of theirs are gone
	partly bool                                   // inputs that can't be read at the moment are left out
	alone  bool                                   // inputs are not divided
	few    bool                                   // small tasks become one where they are many
	went   func(path string) bool                 // whether an input that is not there takes along what came from it; nil: none does
	place  func(path string) (placedInput, error) // reads what places an input
}

// fill divides inputs into tasks. Those that were committed before stay as they are, unless
// something new depends on them, or the policy says otherwise.
func (p *plan) fill(all []placedInput, before *commit, size int64, o policy) error {
	if before == nil {
		p.divide(bundles(o.pieces(all, size)), size)
		return nil
	}
	other := !slices.Equal(before.Words, p.Words) || before.Key != p.Key
	o.all = o.all || o.again && (other || before.Program != p.Program)
	if other && !o.again {
		return fmt.Errorf("the output has a data set of other flags (plan %s: %s); give -o another name", before.Plan, strings.Join(before.Words, " "))
	}
	p.Base = before.Plan
	gone := replaced(o.pieces(all, size), before, o)
	if given := o.pieces(all, size); o.few {
		crowded(before, gone, given, size, &o)
	}
	for _, t := range before.Live {
		if gone[t.taskOf] {
			p.Gone = append(p.Gone, t.taskOf)
		}
	}
	slices.SortFunc(p.Gone, func(a, b taskOf) int { return cmp.Or(strings.Compare(a.Plan, b.Plan), strings.Compare(a.Task, b.Task)) })
	all, err := fetched(all, before, gone, o)
	if err != nil {
		return err
	}
	all = o.pieces(all, size)
	tasks := tasksOf(all, before)
	stays := func(in placedInput) bool { of := tasks[in.key()]; return of != nil && !gone[*of] }
	p.divide(bundles(slices.DeleteFunc(all, stays)), size)
	return nil
}

// tasksOf are the tasks of a commit that inputs belong to, by their keys; nil for what is new.
func tasksOf(all []placedInput, before *commit) map[string]*taskOf {
	tasks := make(map[string]*taskOf, len(all))
	for i := range all {
		tasks[all[i].key()] = nil
	}
	for i := range before.Live {
		t := &before.Live[i]
		for k := range t.Inputs {
			key := t.Inputs[k].key()
			if _, ok := tasks[key]; ok {
				tasks[key] = &t.taskOf
			}
		}
	}
	return tasks
}

// pieces divides large inputs, unless they are not to be divided.
func (o *policy) pieces(all []placedInput, size int64) []placedInput {
	if o.alone {
		return all
	}
	return pieces(all, size)
}

// placeAll places inputs.
func (o *policy) placeAll(paths []string) ([]placedInput, []error) {
	placed, errs := make([]placedInput, len(paths)), make([]error, len(paths))
	atOnce(len(paths), readers, func(i int) { placed[i], errs[i] = o.place(paths[i]) })
	return placed, errs
}

// key identifies an input, or a piece of it, in its state.
func (in *member) key() string { return in.Path + "\x00" + in.Mark + in.Piece.key() }

// replaced are the tasks of a commit that are done again: something new depends on them, such as
// a later snapshot of a process, or another state of an input.
func replaced(all []placedInput, before *commit, o policy) map[taskOf]bool {
	given, paths := tasksOf(all, before), map[string]bool{}
	gone, every := map[taskOf]bool{}, slices.Clone(all)
	tasks := make([]*taskOf, len(all)) // of every input
	for i := range all {
		tasks[i], paths[all[i].Path] = given[all[i].key()], true
	}
	for i := range before.Live {
		t := &before.Live[i]
		gone[t.taskOf] = o.all || o.lost[t.taskOf]
		for _, in := range t.Inputs {
			if _, ok := given[in.key()]; ok {
				continue
			}
			every, tasks = append(every, placedInput{member: in}), append(tasks, &t.taskOf)
			if paths[in.Path] || o.went != nil && o.went(in.Path) {
				gone[t.taskOf] = true
			}
		}
	}
	bundle := related(every)
	grows := make([]bool, len(every)) // by bundle
	for i, of := range tasks {
		grows[bundle[i]] = grows[bundle[i]] || of == nil
	}
	for i, of := range tasks {
		if of != nil && grows[bundle[i]] {
			gone[*of] = true
		}
	}
	return gone
}

// fetched adds the inputs of tasks that are done again, and that were not given this time, to
// those that were, and places those that were not read.
func fetched(all []placedInput, before *commit, gone map[taskOf]bool, o policy) ([]placedInput, error) {
	paths, known := map[string]bool{}, map[string]bool{}
	for _, in := range all {
		if in.known {
			known[in.Path] = true
		} else {
			paths[in.Path] = true
		}
	}
	var more []string
	for _, t := range before.Live {
		for _, in := range t.Inputs {
			if gone[t.taskOf] && !paths[in.Path] && (known[in.Path] || o.went == nil || !o.went(in.Path)) {
				paths[in.Path] = true
				more = append(more, in.Path)
			}
		}
	}
	all = slices.DeleteFunc(slices.Clone(all), func(in placedInput) bool { return in.known && paths[in.Path] })
	placed, errs := o.placeAll(more)
	for i, err := range errs {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is gone, but belongs to what must be done again, such as processes of which there is something new; give it, too, or -o another name", more[i])
		} else if err != nil {
			return nil, err
		}
		all = append(all, placed[i])
	}
	slices.SortFunc(all, func(a, b placedInput) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// related finds what depends on each other: bundle is, for each input, the first one of those.
func related(all []placedInput) (bundle []int) {
	of := make([]int, len(all)) // the first input of the bundle, or one that leads there
	root := func(i int) int {
		for of[i] != i {
			of[i] = of[of[i]]
			i = of[i]
		}
		return i
	}
	first := map[string]int{} // by instance
	for i := range all {
		of[i] = i
		for _, instance := range all[i].Instances {
			j, ok := first[instance]
			if !ok {
				first[instance] = i
				continue
			}
			a, b := root(i), root(j)
			of[max(a, b)] = min(a, b)
		}
	}
	for i := range of {
		of[i] = root(i)
	}
	return of
}

// bundles puts together what depends on each other, by service, day and path.
func bundles(all []placedInput) (list []*bundle) {
	by := make([]*bundle, len(all)) // by the first input
	first := related(all)
	for i, in := range all {
		b := by[first[i]]
		if b == nil {
			b = new(bundle)
			by[first[i]] = b
			list = append(list, b)
		}
		b.inputs = append(b.inputs, in)
		b.bytes += in.Bytes
		if b.service == "" {
			b.service = in.service
		}
		if b.day == "" || in.day != "" && in.day < b.day {
			b.day = in.day
		}
	}
	slices.SortStableFunc(list, func(a, b *bundle) int {
		return cmp.Or(strings.Compare(a.service, b.service), strings.Compare(a.day, b.day))
	})
	return list
}

// maxInputs bounds the inputs of a task, of which a small one takes some time, too.
const maxInputs = 4096

// divide makes tasks of bundles, which are in the order of service and day.
func (p *plan) divide(list []*bundle, size int64) {
	var t *task
	for _, b := range list {
		alone := b.inputs[0].Piece != nil
		if t == nil || alone || t.Inputs[0].Piece != nil || t.Service != b.service || t.Day != b.day || t.Bytes+b.bytes > size || len(t.Inputs)+len(b.inputs) > maxInputs {
			p.tasks = append(p.tasks, task{Service: b.service, Day: b.day})
			t = &p.tasks[len(p.tasks)-1]
		}
		t.Bytes += b.bytes
		for _, in := range b.inputs {
			t.Inputs = append(t.Inputs, in.member)
		}
	}
	for i := range p.tasks {
		p.tasks[i].name()
	}
	slices.SortStableFunc(p.tasks, func(a, b task) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.Name, b.Name)) })
}

// name gives a task a name that tells it from tasks of any other inputs, whose outputs lie beside
// its own.
func (t *task) name() {
	sum := sha256.New()
	for _, in := range t.Inputs {
		io.WriteString(sum, in.key()+"\n")
	}
	t.Name = partName(t.Service, t.Day) + "-" + hex.EncodeToString(sum.Sum(nil)[:5])
}

// partName is how the names of all tasks of a service and day begin.
func partName(service, day string) string {
	return plainName(service) + "-" + cmp.Or(strings.ReplaceAll(day, "-", ""), "undated")
}

// ownName is a service as the name of its sum: of several that are the same in plain letters,
// each has its own.
func ownName(service string) string {
	name := plainName(service)
	if name == cmp.Or(service, name) && service != "unknown" {
		return name
	}
	sum := sha256.Sum256([]byte(service))
	return name + "-" + hex.EncodeToString(sum[:3])
}

// plainName is a service in letters that any file name has.
func plainName(service string) string {
	plain := func(r rune) rune {
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}
	return strings.Map(plain, cmp.Or(service, "unknown"))
}
