package fleet

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
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

// fill divides inputs into tasks. Those that the plan committed before has stay as they are,
// unless something new depends on them.
func (p *plan) fill(all []placedInput, before *commit, size int64) error {
	known := map[string]taskOf{} // tasks that stay, by key of an input
	if before != nil {
		if !slices.Equal(before.Words, p.Words) {
			return fmt.Errorf("the output has a data set of other flags (plan %s: %s); give -o another name", before.Plan, strings.Join(before.Words, " "))
		}
		p.Base = before.Plan
		for _, t := range before.Live {
			for _, in := range t.Inputs {
				known[in.key()] = t.taskOf
			}
		}
	}
	gone, err := replaced(all, before, known)
	if err != nil {
		return err
	}
	left := slices.DeleteFunc(slices.Clone(all), func(in placedInput) bool {
		of, ok := known[in.key()]
		return ok && !gone[of]
	})
	for of := range gone {
		p.Gone = append(p.Gone, of)
	}
	slices.SortFunc(p.Gone, func(a, b taskOf) int { return cmp.Or(strings.Compare(a.Plan, b.Plan), strings.Compare(a.Task, b.Task)) })
	p.divide(bundles(left), size)
	return nil
}

// key identifies an input in its state.
func (in *member) key() string { return in.Path + "\x00" + in.Mark }

// replaced are the tasks of earlier plans that something new depends on: a later snapshot of a
// process, or another state of an input.
func replaced(all []placedInput, before *commit, known map[string]taskOf) (map[taskOf]bool, error) {
	gone := map[taskOf]bool{}
	if before == nil {
		return gone, nil
	}
	there, paths := map[string]bool{}, map[string]bool{}
	for _, in := range all {
		there[in.key()], paths[in.Path] = true, true
	}
	every := slices.Clone(all)
	for _, t := range before.Live {
		for _, in := range t.Inputs {
			if !there[in.key()] {
				every = append(every, placedInput{member: in})
				gone[t.taskOf] = gone[t.taskOf] || paths[in.Path]
			}
		}
	}
	for _, b := range bundles(every) {
		if !slices.ContainsFunc(b.inputs, func(in placedInput) bool { _, ok := known[in.key()]; return !ok }) {
			continue
		}
		for _, in := range b.inputs {
			if of, ok := known[in.key()]; ok {
				gone[of] = true
			}
		}
	}
	for _, t := range before.Live {
		for _, in := range t.Inputs {
			if gone[t.taskOf] && !paths[in.Path] {
				return nil, fmt.Errorf("%s belongs to processes of which there is something new, but is no longer an input; give it, too, or -o another name", in.Path)
			}
		}
	}
	maps.DeleteFunc(gone, func(_ taskOf, is bool) bool { return !is })
	return gone, nil
}

// bundles puts together what depends on each other, by service, day and path.
func bundles(all []placedInput) (list []*bundle) {
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
	by := map[int]*bundle{}
	for i, in := range all {
		b := by[root(i)]
		if b == nil {
			b = new(bundle)
			by[root(i)] = b
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
		if t == nil || t.Service != b.service || t.Day != b.day || t.Bytes+b.bytes > size || len(t.Inputs)+len(b.inputs) > maxInputs {
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
	day := cmp.Or(strings.ReplaceAll(t.Day, "-", ""), "undated")
	t.Name = plainName(t.Service) + "-" + day + "-" + hex.EncodeToString(sum.Sum(nil)[:5])
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
