package compare

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// kinds records processes of all kinds of rows, in which one stack has more bytes and waits by a factor.
func kinds(t *testing.T, of Basis, factor int64, cpu string) *Set {
	t.Helper()
	b := streamtest.NewBuilder()
	for i := range int64(4) {
		p := b.Process(stream.Process{Instance: uint64(i + 1), Pid: int(i), Name: "shop", Start: 1, End: 2e9 + 1, CPU: cpu})
		cache, read := b.Stack("main.main", "main.cache"), b.Stack("main.main", "main.read")
		p.Main.Allocate(5, stream.PhaseStart, cache, 1<<20, 1) // was there before
		p.Main.Allocate(10, stream.Instant, cache, factor*(4<<20)+i, 4)
		p.Main.Allocate(11, stream.Instant, read, 8<<20+i, 1000)
		p.Main.Allocate(12, stream.Instant, read, -(8<<20 + i), 1000)
		p.Main.Wait(20, cache, factor*1e9+i, 1)
		p.Main.Wait(21, read, 1e9+i, 2)
		rows := p.Counter(stream.Counter{Name: "rows", Total: true})
		memory := p.Counter(stream.Counter{Name: "memory", Unit: stream.FormatBytes})
		for at := range int64(3) {
			p.Count(stream.Time(1+at*1e9), rows, 1000+100*at*factor+i, 0)
			p.Count(stream.Time(1+at*1e9), memory, factor*1e6+i, 0)
		}
	}
	sink := New(math.MinInt64, math.MaxInt64)
	sink.Of = of
	if err := stream.Copy(sink, b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return sink.Set
}

// Of the heap what is in use at the end counts, of allocations those of the time, of waits their time;
// all by function.
func TestKinds(t *testing.T) {
	for of, want := range map[Basis]struct {
		all        float64 // of one process, or of a second of one
		cache, was float64 // shares of main.cache, now and in the base
	}{
		Heap:        {9 << 20, 1, 1},
		Allocations: {8 << 20, 0.5, 1.0 / 3},
		Waits:       {1.5, 2.0 / 3, 0.5},
	} {
		r := compare(t, kinds(t, of, 1, ""), kinds(t, of, 2, ""))
		if got := r.All.New.Value; r.Basis != of || math.Abs(got/want.all-1) > 1e-5 {
			t.Errorf("%s, %s: %g in all, want %g", of, r.Basis, got, want.all)
		}
		i := slices.IndexFunc(r.Functions, func(f *Function) bool { return f.Name == "main.cache" })
		if i < 0 {
			t.Errorf("%s: there is no main.cache", of)
			continue
		}
		f := r.Functions[i]
		if math.Abs(f.Self.New.Value-want.cache) > 1e-5 || math.Abs(f.Self.Base.Value-want.was) > 1e-5 || f.Self.Found != (want.cache != want.was) {
			t.Errorf("%s: main.cache %g to %g, found %v; want %g to %g", of, f.Self.Base.Value, f.Self.New.Value, f.Self.Found, want.was, want.cache)
		}
	}
	if _, err := Compare(kinds(t, Heap, 1, ""), kinds(t, Waits, 1, ""), Options{}); err == nil {
		t.Error("the heap is compared with waits")
	}
}

// Counters that count up have a rate, others a mean.
func TestCounters(t *testing.T) {
	r := compare(t, kinds(t, "", 1, ""), kinds(t, "", 2, ""))
	for _, c := range r.Counters {
		want := map[string][2]float64{"rows": {100, 200}, "memory": {1e6, 2e6}}[c.Name]
		if math.Abs(c.Value.Base.Value-want[0]) > 3 || math.Abs(c.Value.New.Value-want[1]) > 3 || !c.Value.Found || c.Total != (c.Name == "rows") {
			t.Errorf("%s, total %v: %+v, want %v", c.Name, c.Total, c.Value, want)
		}
	}
	if len(r.Counters) != 2 {
		t.Errorf("%d counters", len(r.Counters))
	}
}

// Sets that differ in what they are of have a note.
func TestKindsAreNoted(t *testing.T) {
	set := func(c costs, cpu string) *Set {
		s := stacked(t, c, 4, 1)
		for i := range s.processes {
			s.processes[i].taken = cpu
		}
		return s
	}
	other := costs{"main.main main.other": 900, "main.main main.gone": 900}
	for name, c := range map[string]struct {
		base, new *Set
		want      string
	}{
		"none":      {set(shop, "signal"), set(costs{"x": 100, "y": 100}, "signal"), "no function is in both sets"},
		"few":       {set(shop, "signal"), set(other.with(costs{"main.main main.gc": 90}), "signal"), "they seem to be of different programs"},
		"events":    {set(shop, "perf: cycles"), set(shop, "perf: cpu-clock"), "samples were taken in different ways: perf: cycles in the base set, perf: cpu-clock in the new one"},
		"unknown":   {set(shop, ""), set(shop, "perf: cpu-clock"), ""},
		"identical": {set(shop, "signal"), set(shop, "signal"), ""},
	} {
		r := compare(t, c.base, c.new)
		if got := strings.Join(r.Notes, "\n"); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: notes %q, want %q", name, got, c.want)
		}
	}
}

// What makes two sets hard to compare is noted: other builds, other hosts, processes that died.
func TestDifferentSetsAreNoted(t *testing.T) {
	set := func(change func(*process)) *Set {
		s := stacked(t, shop, 12, 1)
		for i := range s.processes {
			p := &s.processes[i]
			p.host, p.compiler, p.slowed, p.interval = "h1", "go1.26", "nothing", 0.01
			p.unseen = false
			change(p)
		}
		return s
	}
	same := func(*process) {}
	at := func(p *process, new uint64) string { // the first are on new machines
		if p.instance <= new {
			return "new"
		}
		return "old"
	}
	for name, c := range map[string]struct {
		base, new func(*process)
		want      string
	}{
		"same":      {same, same, ""},
		"Go":        {same, func(p *process) { p.compiler = "go1.27" }, "different versions of Go built the programs: go1.26 in the base set, go1.27 in the new one"},
		"race":      {same, func(p *process) { p.slowed = "race cover" }, "the builds have in them that costs time: nothing in the base set, race cover in the new one"},
		"machines":  {func(p *process) { p.machine = at(p, 6) }, func(p *process) { p.machine = at(p, 2) }, "the machines are different: 6 of new, 6 of old in the base set, 2 of new, 10 of old in the new one"},
		"alike":     {func(p *process) { p.machine = at(p, 6) }, func(p *process) { p.machine = at(p, 5) }, ""},
		"host":      {same, func(p *process) { p.host = "h2" }, "the sets have no host in common"},
		"no host":   {same, func(p *process) { p.host = "" }, ""},
		"killed":    {same, func(p *process) { p.unseen = p.instance == 3 }, "the ends of 1 of 12 processes of the new set were not recorded"},
		"running":   {func(p *process) { p.unseen = true }, func(p *process) { p.unseen = p.instance > 3 }, ""},
		"some fail": {same, func(p *process) { p.failed = p.instance < 3 }, "2 of 12 processes of the new set crashed"},
	} {
		r := compare(t, set(c.base), set(c.new))
		if got := strings.Join(r.Notes, "\n"); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: notes %q, want %q", name, got, c.want)
		}
	}
}

// Where there is nothing to judge a condition about all functions says so.
func TestNothingInCommon(t *testing.T) {
	r := compare(t, stacked(t, shop, 4, 1), stacked(t, costs{"x": 100, "y": 100}, 4, 1))
	if o := check(t, r, condition(t, "self(*) > +5%")); o.Verdict != Nothing || o.Name != allNames || o.Of != 0 {
		t.Errorf("%v, %s", o.Verdict, o.Name)
	}
	if alarms := beyond(t, r, stacked(t, shop, 4, 1), stacked(t, costs{"x": 100, "y": 100}, 4, 1), "total(*) > +5pp"); len(alarms) == 0 {
		t.Error("a bound in points has no alarm for functions that only the new set has")
	}
}
