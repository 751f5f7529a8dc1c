package recorder_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder"
)

var (
	stacked  = recorder.NewEvent1("stacked", recorder.Int("n"), recorder.WithStack())
	stacked2 = recorder.NewEvent2("stacked two", recorder.Int("n"), recorder.String("s"), recorder.WithStack())
	stackedN = recorder.NewEventN("stacked many", []recorder.AnyField{recorder.Int("n")}, recorder.WithStack())
	stacked3 = recorder.NewEvent("stacked span", recorder.WithStack())
)

//go:noinline
func outer(n int) { inner(n) }

func inner(n int) { // it is inlined into outer
	stacked.Mark(n)
	stacked2.Mark(n, "")
	span := stacked3.Begin()
	span.End()
	stackedN.Mark(recorder.V(n))
	stackedN.Interval(recorder.Now(), recorder.V(n))
	spanN := stackedN.Begin(recorder.V(n))
	spanN.End()
}

// The first marker with a stack has its pcs, later ones have its id. Both lead to the same frames,
// the innermost of which is the caller of Mark.
func TestStacks(t *testing.T) {
	rec := begin(t, recorder.Options{})
	outer(1)
	await(t, "the stack has an id", func() bool {
		outer(2)
		live := read(t, rec.Dir(), chunks.Unproven)
		return slices.ContainsFunc(live.markerStacks(), func(s markerStack) bool { return s.form == "id" })
	})
	r := finish(t, rec)
	dict := r.stackDict(t)
	seen := map[string]bool{}
	for _, s := range r.markerStacks() {
		names := dict.names(t, s)
		seen[s.form] = true
		if len(names) < 2 || !strings.HasSuffix(names[0], ".inner") || !strings.HasSuffix(names[1], ".outer") {
			t.Fatalf("stack by %s: %v, want inner, outer, ...", s.form, names)
		}
	}
	if !seen["pcs"] || !seen["id"] {
		t.Errorf("forms of stacks: %v, want pcs and id", seen)
	}
}

//go:noinline
func markBelow(calls int) {
	if calls > 0 {
		markBelow(calls - 1)
		return
	}
	stacked.Mark(1)
}

// A marker with more callers than are recorded is recorded, and its stack is counted as cut.
func TestDeepMarkers(t *testing.T) {
	rec := begin(t, recorder.Options{CPU: recorder.CPUOff, HeapEvery: -1}) // heap samples may have deep stacks, too
	markBelow(3)
	if n := rec.Drops().Deep; n != 0 {
		t.Errorf("%d stacks of few calls are cut", n)
	}
	markBelow(100)
	if n := rec.Drops().Deep; n != 1 {
		t.Errorf("%d stacks are cut, want 1", n)
	}
	deep := 1
	await(t, "the deep stack has an id", func() bool {
		markBelow(100)
		deep++
		live := read(t, rec.Dir(), chunks.Unproven)
		return slices.ContainsFunc(live.markerStacks(), func(s markerStack) bool { return s.form == "id" })
	})
	r := finish(t, rec)
	if len(r.of("stacked")) != deep+1 || r.losses()[rawformat.LostDeep] != uint64(deep) {
		t.Errorf("%d markers, %v counted as lost; want %d and %d stacks", len(r.of("stacked")), r.losses(), deep+1, deep)
	}
	dict, interned := r.stackDict(t), 0
	for _, s := range r.markerStacks() {
		calls, root := 0, uint64(0)
		for id := s.id; id != 0; id = dict.stacks[id][0] {
			calls, root = calls+1, dict.frames[dict.stacks[id][1]]
		}
		if calls < 10 {
			continue
		}
		if interned++; root != rawformat.TruncatedPC {
			t.Errorf("an interned stack of %d calls ends at %#x, want (truncated)", calls, root)
		}
	}
	if interned == 0 {
		t.Error("no deep stack is interned")
	}
}

//go:noinline
func asks() recorder.Stack { return recorder.CaptureStack() }

var answered = recorder.NewEvent1("answered", recorder.Int("n"))

// A marker may have a stack that was captured before, whether its event records stacks or not.
func TestGivenStacks(t *testing.T) {
	if s := asks(); !reflect.ValueOf(s).IsZero() {
		t.Errorf("captured while nothing is recorded: %+v", s)
	}
	rec := begin(t, recorder.Options{})
	s := asks()
	answered.From(s).Mark(1)
	stacked.From(s).Mark(1)
	span := stackedN.From(s).Begin(recorder.V(1))
	span.End()
	answered.From(recorder.Stack{}).Mark(1) // it has no stack
	await(t, "the stack has an id", func() bool {
		answered.From(s).Mark(2)
		live := read(t, rec.Dir(), chunks.Unproven)
		return slices.ContainsFunc(live.markerStacks(), func(s markerStack) bool { return s.form == "id" })
	})
	r := finish(t, rec)
	answered.From(s).Mark(1) // this is not recorded
	dict := r.stackDict(t)
	stacks := r.markerStacks()
	if len(stacks) < 4 {
		t.Errorf("%d markers with a stack", len(stacks))
	}
	for _, s := range stacks {
		names := dict.names(t, s)
		if len(names) < 2 || !strings.HasSuffix(names[0], ".asks") || !strings.HasSuffix(names[1], ".TestGivenStacks") {
			t.Errorf("stack by %s: %v, want asks, TestGivenStacks, ...", s.form, names)
		}
	}
}

// markerStack is the stack of a marker: an id in the dictionary, or pcs.
type markerStack struct {
	form string
	id   uint64
	pcs  []uint64
}

func (r *recording) markerStacks() (found []markerStack) {
	var pcs []uint64
	blocks := r.Blocks(func(chunks.Problem) {})
	for blocks.Next() {
		b := blocks.Block()
		switch b.Kind {
		case rawformat.KindStack:
			pcs = b.Fields.PCs(nil, "pcs")
		case rawformat.KindInstant, rawformat.KindInterval:
			b.Fields.Uint("event")
			if stack := b.Fields.Uint("stack"); stack == 1 {
				found = append(found, markerStack{"pcs", 0, pcs})
			} else if stack > 1 {
				found = append(found, markerStack{"id", stack - 1, nil})
			}
		}
	}
	return found
}

// stackDict is the part of a dictionary that stacks need.
type stackDict struct {
	strings map[uint64]string
	modules map[uint64]uint64 // start
	frames  map[uint64]uint64 // pc
	symbols map[uint64][]string
	stacks  map[uint64][2]uint64
}

func (r *recording) stackDict(t *testing.T) *stackDict {
	t.Helper()
	d := &stackDict{map[uint64]string{}, map[uint64]uint64{}, map[uint64]uint64{}, map[uint64][]string{}, map[uint64][2]uint64{}}
	frame := map[uint64]uint64{} // id to pc
	for _, dict := range r.Dicts {
		for _, rec := range dict.All(nil) {
			c := rawformat.NewCursor(rec.Body, 0)
			id := c.Uint("id")
			switch rec.Kind {
			case rawformat.KindDefString:
				d.strings[id] = string(c.Text("text"))
			case rawformat.KindDefModule:
				if c.Text("path"); len(c.Text("build")) == 0 {
					t.Error("module without a build id")
				}
				d.modules[id] = c.Fixed("start")
			case rawformat.KindDefFrame:
				module := c.Uint("module")
				frame[id] = c.Uint("offset") + d.modules[module]
				d.frames[id] = frame[id]
			case rawformat.KindDefSymbol:
				if depth := c.Uint("depth"); depth != uint64(len(d.symbols[frame[id]])) {
					t.Errorf("symbol of depth %d after %d", depth, len(d.symbols[frame[id]]))
				}
				d.symbols[frame[id]] = append(d.symbols[frame[id]], d.strings[c.Uint("function")])
			case rawformat.KindDefLabel:
				c.Uint("category")
				frame[id] = 1<<63 | id // no pc has that bit
				d.frames[id] = frame[id]
				d.symbols[frame[id]] = []string{"label " + string(c.Text("name"))}
			case rawformat.KindDefStack:
				d.stacks[id] = [2]uint64{c.Uint("parent"), c.Uint("frame")}
			}
		}
	}
	return d
}

// names returns the functions of a stack, leaf first.
func (d *stackDict) names(t *testing.T, s markerStack) (names []string) {
	t.Helper()
	pcs := s.pcs
	for id := s.id; id != 0; id = d.stacks[id][0] {
		if _, ok := d.stacks[id]; !ok {
			t.Fatalf("stack %d is not defined", id)
		}
		pcs = append(pcs, d.frames[d.stacks[id][1]])
	}
	for _, pc := range pcs {
		chain := d.symbols[pc]
		for i := len(chain) - 1; i >= 0; i-- {
			names = append(names, chain[i])
		}
	}
	return names
}
