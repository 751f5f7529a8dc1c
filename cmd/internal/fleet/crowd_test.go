package fleet

import (
	"fmt"
	"io/fs"
	"testing"
)

// taskBytes is the size of a task in these tests.
const taskBytes = 1 << 17

// grown is a data set to which dumps are added one by one.
type grown struct {
	commit
	dumps []placedInput
	again map[string]int // how often each was converted
}

func (g *grown) add(t *testing.T, o policy, in placedInput) {
	t.Helper()
	g.dumps = append(g.dumps, in)
	p := new(plan)
	var before *commit
	if g.Live != nil {
		before = &g.commit
	}
	o.few = true
	o.place = func(path string) (placedInput, error) {
		for _, in := range g.dumps {
			if in.Path == path {
				return in, nil
			}
		}
		return placedInput{}, fs.ErrNotExist
	}
	if err := p.fill([]placedInput{in}, before, taskBytes, o); err != nil {
		t.Fatal(err)
	}
	p.ID = fmt.Sprint(len(g.dumps))
	gone := map[taskOf]bool{}
	for _, of := range p.Gone {
		gone[of] = true
	}
	var live []liveTask
	for _, l := range g.Live {
		if !gone[l.taskOf] {
			live = append(live, l)
		}
	}
	for _, task := range p.tasks {
		live = append(live, liveTask{taskOf{p.ID, task.Name}, task.Inputs})
		for _, in := range task.Inputs {
			g.again[in.Path]++
		}
	}
	g.Live, g.Plan = live, p.ID
}

func dump(i int, bytes int64) placedInput {
	return placedInput{member: member{Path: fmt.Sprintf("d%05d", i), Mark: "1", Bytes: bytes}, service: []string{"shop", "cart"}[i%2], day: "2026-11-26"}
}

// However many dumps are added one by one, the tasks of a service and day stay few, each dump is in
// one of them, and was converted a few times.
func TestFewTasks(t *testing.T) {
	const dumps = 1000
	g := grown{again: map[string]int{}}
	most := 0
	for i := range dumps {
		g.add(t, policy{}, dump(i, int64(900+i*7919%400)))
		most = max(most, len(g.Live))
	}
	inputs := map[string]bool{}
	full := 0
	for _, l := range g.Live {
		size := int64(0)
		for _, in := range l.Inputs {
			if inputs[in.Path] {
				t.Errorf("%s is in two tasks", in.Path)
			}
			inputs[in.Path] = true
			size += in.Bytes
		}
		if size > taskBytes {
			t.Errorf("a task has %d bytes", size)
		}
		if size > taskBytes/2 {
			full++
		}
	}
	all := 0
	for _, n := range g.again {
		all += n
	}
	if len(inputs) != dumps || most > 2*4*fan || full < 2 || all > 5*dumps {
		t.Errorf("%d inputs, at most %d tasks, %d full ones, %d conversions", len(inputs), most, full, all)
	}
	t.Logf("at most %d tasks, %d at last, %.1f conversions of each", most, len(g.Live), float64(all)/dumps)
}

// Tasks whose dumps are no longer there, or are others, stay as they are, and those that others
// depend on are done again as before.
func TestFewOfThoseThatAreThere(t *testing.T) {
	g := grown{again: map[string]int{}}
	for i := range fan - 1 {
		g.add(t, policy{}, dump(2*i, 1000))
	}
	g.dumps[3].Mark = "2"
	g.dumps = append(g.dumps[:1], g.dumps[2:]...) // the second is gone
	for i := range 2 {
		g.add(t, policy{}, dump(100+2*i, 1000))
		if len(g.Live) != fan+i {
			t.Fatalf("%d tasks after %d more, want them apart", len(g.Live), i+1)
		}
	}
	g.add(t, policy{}, dump(200, 1000)) // the eighth of those that are there
	if len(g.Live) != 3 || g.again["d00006"] != 1 || g.again["d00002"] != 1 || g.again["d00000"] != 2 {
		t.Errorf("tasks %v, conversions %v", g.Live, g.again)
	}
}
