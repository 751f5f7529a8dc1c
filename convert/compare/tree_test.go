package compare

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// costs are samples of a process by stack: "main.main main.work".
type costs map[string]float64

// with is some costs with others.
func (c costs) with(changed costs) costs {
	out := maps.Clone(c)
	for stack, n := range changed {
		if out[stack] = n; n == 0 {
			delete(out, stack)
		}
	}
	return out
}

// stacked records some processes with such costs, which vary between processes.
func stacked(t testing.TB, c costs, processes int, seed uint64) *Set {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 7))
	b := streamtest.NewBuilder()
	for i := range processes {
		p := b.Process(stream.Process{Instance: uint64(i + 1), Pid: i + 1, Service: "shop", Name: "shop", Start: 1e9, End: 11e9})
		for k, stack := range slices.Sorted(maps.Keys(c)) {
			mean := c[stack] * math.Exp(random.NormFloat64()*0.03)
			n := max(0, int64(math.Round(mean+math.Sqrt(mean)*random.NormFloat64())))
			p.Main.Add(streamtest.Row{Time: 1e9 + 1 + stream.Time(k), Stack: b.Stack(strings.Fields(stack)...), Weight: n, CPU: n * 1e7})
		}
	}
	sink := New(math.MinInt64, math.MaxInt64)
	sink.Stacks = true
	if err := stream.Copy(sink, b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return sink.Set
}

func drawn(t testing.TB, base, new *Set) *Report {
	t.Helper()
	r, err := Compare(base, new, Options{Tree: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// marks are the coloured nodes: "+main.work".
func (t *Tree) marks() (all []string) {
	for _, n := range t.Nodes {
		switch n.Mark {
		case Grew:
			all = append(all, "+"+n.Name)
		case Fell:
			all = append(all, "-"+n.Name)
		}
	}
	slices.Sort(all)
	return all
}

func (r *Report) matched() (all []string) {
	for _, m := range r.Matched {
		how := "moved"
		if m.Renamed {
			how = "renamed"
		}
		all = append(all, fmt.Sprintf("%s %s > %s", how, strings.Join(m.From, " "), strings.Join(m.To, " ")))
	}
	slices.Sort(all)
	return all
}

// shop is a program of many functions.
var shop = costs{
	"main.main main.serve main.read json.Unmarshal": 500, "main.main main.serve main.read json.scan": 300, "main.main main.serve main.read": 60,
	"main.main main.serve main.tidy main.lower": 350, "main.main main.serve main.tidy main.trim": 250, "main.main main.serve main.tidy": 200,
	"main.main main.serve main.write flate.Write": 600, "main.main main.serve main.write bytes.Copy": 200, "main.main main.serve main.write": 90,
	"main.main main.serve main.rank main.less": 400, "main.main main.serve main.rank": 300, "main.main main.gc": 300, "main.main main.serve": 50,
}

// beyond are the outcomes of conditions that are beyond their bounds. They are the same without a report.
func beyond(t testing.TB, r *Report, base, new *Set, texts ...string) (alarms []string) {
	t.Helper()
	var all []Condition
	for _, text := range texts {
		all = append(all, condition(t, text))
	}
	outcomes, err := r.Check(all...)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := Check(base, new, Options{}, all...)
	if diff := cmp.Diff(outcomes, alone, cmpopts.IgnoreUnexported(Outcome{}, Condition{}, Change{}, Estimate{}, Match{})); err != nil || diff != "" {
		t.Errorf("by itself, %v:\n%s", err, diff)
	}
	for _, o := range outcomes {
		if o.Verdict == Beyond {
			alarms = append(alarms, o.Text+" "+o.Name)
		}
	}
	return alarms
}

// Only what became slower or faster is coloured or fails a gate, and not what is called otherwise or lies elsewhere.
func TestOnlyRegressionsAreColoured(t *testing.T) {
	const serve = "main.main main.serve "
	for name, c := range map[string]struct {
		base, now costs // what is different
		marks     []string
		matched   []string
	}{
		"nothing":  {},
		"slower":   {now: costs{serve + "main.rank main.less": 800}, marks: []string{"+main.less"}},
		"faster":   {now: costs{serve + "main.rank": 150}, marks: []string{"-main.rank"}},
		"two ways": {now: costs{serve + "main.rank": 600, serve + "main.tidy main.lower": 120}, marks: []string{"+main.rank", "-main.lower"}},
		"new":      {now: costs{serve + "main.log": 300, serve + "main.log fmt.Print": 200}, marks: []string{"+fmt.Print", "+main.log"}},
		"called twice": {now: costs{serve + "main.rank main.less": 800, serve + "main.rank": 600},
			marks: []string{"+main.less", "+main.rank"}},
		"renamed with its callees": {base: costs{serve + "main.write": 90}, now: costs{serve + "main.write": 0, serve + "main.write flate.Write": 0, serve + "main.write bytes.Copy": 0,
			serve + "main.store": 90, serve + "main.store flate.Write": 600, serve + "main.store bytes.Copy": 200}, matched: []string{"renamed main.write > main.store"}},
		"renamed and slower": {now: costs{serve + "main.write": 0, serve + "main.write flate.Write": 0, serve + "main.write bytes.Copy": 0,
			serve + "main.store": 300, serve + "main.store flate.Write": 600, serve + "main.store bytes.Copy": 200}, marks: []string{"+main.store"}, matched: []string{"renamed main.write > main.store"}},
		"another package": {base: costs{serve + "a.org/x/pack.Do": 300, serve + "a.org/x/pack.Do a.org/x/pack.Undo": 200}, now: costs{serve + "a.org/x/pack.Do": 0, serve + "a.org/x/pack.Do a.org/x/pack.Undo": 0, serve + "b.org/y/pack.Do": 300, serve + "b.org/y/pack.Do b.org/y/pack.Undo": 200},
			matched: []string{"renamed a.org/x/pack.Do > b.org/y/pack.Do", "renamed a.org/x/pack.Undo > b.org/y/pack.Undo"}},
		"divided": {now: costs{serve + "main.rank": 100, serve + "main.rank main.place": 200}, matched: []string{"moved main.rank > main.place"}},
		"divided beside": {base: costs{serve + "main.check": 400}, now: costs{serve + "main.check": 0, serve + "main.check1": 250, serve + "main.check2": 150},
			matched: []string{"moved main.check > main.check1 main.check2"}},
		"a part of it beside": {now: costs{serve + "main.rank": 100, serve + "main.place": 200}, matched: []string{"moved main.rank > main.place"}},
		"inlined": {now: costs{serve + "main.rank": 0, serve + "main.rank main.less": 0, serve: 350, serve + "main.less": 400},
			matched: []string{"moved main.rank > main.less main.serve"}},
		"with its callee": {base: costs{serve + "main.check": 200, serve + "main.check main.lower": 200}, now: costs{serve + "main.check": 0, serve + "main.check main.lower": 0, serve + "main.check1": 250, serve + "main.check2": 150},
			matched: []string{"moved main.check > main.check1 main.check2"}},
		"wrapped": {now: costs{serve + "main.rank": 0, serve + "main.rank main.less": 0, serve + "main.timed main.rank main.less": 400, serve + "main.timed main.rank": 300},
			matched: []string{"moved main.rank > main.timed"}},
		"divided and slower": {base: costs{serve + "main.check": 400}, now: costs{serve + "main.check": 0, serve + "main.check1": 250, serve + "main.check2": 450},
			marks: []string{"+main.check1", "+main.check2", "-main.check"}},
		"divided, another slower": {base: costs{serve + "main.check": 400}, now: costs{serve + "main.check": 0, serve + "main.check1": 250, serve + "main.check2": 150, serve + "main.rank": 500},
			marks: []string{"+main.rank"}, matched: []string{"moved main.check > main.check1 main.check2"}},
		"small things, all slower": {base: many(200, 4), now: many(200, 6), marks: []string{"+main.many"}},
	} {
		t.Run(name, func(t *testing.T) {
			base, new := stacked(t, shop.with(c.base), 8, 1), stacked(t, shop.with(c.base).with(c.now), 8, 2)
			got := drawn(t, base, new)
			if diff := cmp.Diff(c.marks, got.Tree.marks()); diff != "" {
				t.Errorf("marks (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.matched, got.matched()); diff != "" {
				t.Errorf("matched (-want +got):\n%s", diff)
			}
			alarms := beyond(t, got, base, new, "self(*) > +3pp", "total(*) > +3pp", "self(*) > +20%")
			if grew := slices.ContainsFunc(c.marks, func(mark string) bool { return mark[0] == '+' }); grew != (len(alarms) > 0) {
				t.Errorf("a gate has alarms %q", alarms)
			}
		})
	}
}

// many is so many small functions.
func many(n int, samples float64) costs {
	c := costs{}
	for i := range n {
		c[fmt.Sprint("main.main main.serve main.many main.f", i)] = samples
	}
	return c
}

// Of two sets without a difference hardly ever anything is coloured, and of too few processes never.
func TestNoiseIsGrey(t *testing.T) {
	const runs = 30
	alarms := 0
	for seed := range uint64(runs) {
		r := drawn(t, stacked(t, shop, 5, 2*seed), stacked(t, shop, 5, 2*seed+1))
		if len(r.Tree.marks()) > 0 {
			alarms++
		}
		if len(r.Matched) > 0 {
			t.Errorf("seed %d: matched %v", seed, r.matched())
		}
	}
	if t.Logf("coloured something in %d of %d", alarms, runs); alarms > 5 { // 1.5 are expected
		t.Errorf("coloured something in %d of %d runs without a difference", alarms, runs)
	}
	tree := drawn(t, stacked(t, shop, 2, 1), stacked(t, shop.with(costs{"main.main main.gc": 3000}), 9, 2)).Tree
	if marks := tree.marks(); len(marks) > 0 {
		t.Errorf("with two processes: %v", marks)
	}
}

// Where memory is short a text is made without stacks, and says what it lacks; a picture is not made.
func TestWithoutStacks(t *testing.T) {
	read := func(memory int64, drawn bool) (*Set, error) {
		b := streamtest.NewBuilder()
		for i := range 3 {
			p := b.Process(stream.Process{Instance: uint64(i + 1), Pid: i + 1, Name: "shop", Start: 1, End: 1e9})
			for k := range 3000 {
				p.Main.Add(streamtest.Row{Time: stream.Time(k + 1), Stack: b.Stack("main.main", "main.old", fmt.Sprint("main.f", k)), Weight: 1, CPU: 1e6})
			}
		}
		sink := New(math.MinInt64, math.MaxInt64)
		sink.Stacks = drawn
		return sink.Set, stream.Copy(sink, b.Source(), stream.CopyOptions{Memory: memory, SpillDir: t.TempDir()})
	}
	var tooMuch *stream.ErrMemory
	memory := int64(1 << 20)
	set, err := read(memory, false)
	for ; errors.As(err, &tooMuch) && memory < 1<<30; set, err = read(memory, false) {
		memory += memory / 8
	}
	if err != nil || !set.withoutStacks {
		t.Fatalf("with %d bytes: %v, without stacks %v", memory, err, set.withoutStacks)
	}
	if _, err := read(memory, true); !errors.As(err, &tooMuch) {
		t.Errorf("a picture with %d bytes: %v", memory, err)
	}
	r := compare(t, set, stacked(t, shop, 3, 1))
	if !strings.Contains(strings.Join(r.Notes, "\n"), "more memory than --mem allows") {
		t.Errorf("notes %q", r.Notes)
	}
	if set, err = read(1<<30, false); err != nil || set.withoutStacks {
		t.Errorf("with enough: %v, without stacks %v", err, set.withoutStacks)
	}
}
