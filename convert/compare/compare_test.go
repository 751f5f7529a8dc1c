package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// fleet is what a set of processes is like.
type fleet struct {
	processes int
	functions int
	samples   float64 // of each process and function
	spread    float64 // between processes, of each function's part
	slower    float64 // how much more function 3 takes; 1 is as ever
	noisy     bool    // one process takes five times as much of it
	program   func(i int) string
	length    float64 // of a process, 0 is 1
}

// set records such a fleet. Each function has a part of each process' samples
// that varies between processes, and samples are counted at random.
func (f fleet) set(t testing.TB, seed uint64) *Set {
	t.Helper()
	return setOf(t, f.builder(rand.New(rand.NewPCG(seed, 99))))
}

func (f fleet) builder(random *rand.Rand) *streamtest.Builder {
	b := streamtest.NewBuilder()
	request := b.Event(stream.Event{Name: "request"})
	length := max(f.length, 0.001)
	if f.length == 0 {
		length = 1
	}
	for i := range f.processes {
		name := "shop"
		if f.program != nil {
			name = f.program(i)
		}
		p := b.Process(stream.Process{Instance: uint64(i + 1), Pid: i + 1, Service: name, Name: name, Start: 1e9, End: 1e9 + stream.Time(length*10e9)})
		for k := range f.functions {
			mean := f.samples * length * math.Exp(random.NormFloat64()*f.spread)
			if k == 3 {
				mean *= f.slower
				if f.noisy && i == 1 {
					mean *= 5
				}
			}
			n := int64(math.Round(mean + math.Sqrt(mean)*random.NormFloat64()))
			p.Main.Add(streamtest.Row{Time: 1e9 + 1 + stream.Time(k), Stack: b.Stack("main.main", fmt.Sprintf("main.f%d", k)), Weight: max(0, n), CPU: max(0, n) * 1e7})
		}
		for at := range stream.Time(60 * length) {
			ms := math.Exp(random.NormFloat64()*0.5+2) * f.slower
			if f.noisy && i == 1 {
				ms *= 5
			}
			p.Main.Interval(2e9+at*1e6, int64(ms*1e6), request)
		}
	}
	return b
}

func setOf(t testing.TB, b *streamtest.Builder) *Set {
	t.Helper()
	sink := New(math.MinInt64, math.MaxInt64)
	if err := stream.Copy(sink, b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return sink.Set
}

func compare(t testing.TB, base, new *Set) *Report {
	t.Helper()
	r, err := Compare(base, new, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// found are the names of what was found.
func (r *Report) found() (names []string) {
	if r.All.Found {
		names = append(names, "all")
	}
	for _, f := range r.Functions {
		if f.Self.Found || f.Total.Found {
			names = append(names, f.Name)
		}
	}
	for _, m := range r.Markers {
		if m.Rate.Found || m.P50.Found || m.P99.Found {
			names = append(names, m.Name)
		}
	}
	return names
}

func usual(n int) fleet {
	return fleet{processes: n, functions: 12, samples: 400, spread: 0.1, slower: 1}
}

// In two sets without a difference something is found about once in twenty
// comparisons, and a condition without slack is broken as rarely.
func TestFalseAlarms(t *testing.T) {
	for name, f := range map[string]fleet{
		"few": usual(3), "some": usual(6), "many": usual(15),
		"short": {processes: 6, functions: 12, samples: 5, spread: 0.1, slower: 1},
		"wild":  {processes: 6, functions: 12, samples: 400, spread: 0.7, slower: 1},
		"mixed": {processes: 9, functions: 6, samples: 300, spread: 0.2, slower: 1, program: func(i int) string { return []string{"front", "back", "back"}[i%3] }},
	} {
		const runs = 80
		alarms, broken := 0, 0
		limit := condition(t, "self(main.f3) > +0%")
		for seed := range uint64(runs) {
			r := compare(t, f.set(t, 2*seed), f.set(t, 2*seed+1))
			if len(r.found()) > 0 {
				alarms++
			}
			if check(t, r, limit).Verdict == Beyond {
				broken++
			}
		}
		t.Logf("%s: found something in %d of %d, limit broken in %d", name, alarms, runs, broken)
		// 4 are expected of the first, 2 of the second: of a hundred lists of
		// seeds one would fail.
		if alarms > 9 || broken > 6 {
			t.Errorf("%s: found something in %d of %d runs without a difference, limit broken in %d", name, alarms, runs, broken)
		}
	}
}

// A function that takes a fifth more is found, by name and by a condition.
func TestRegression(t *testing.T) {
	slow := usual(16)
	slow.slower = 1.2
	const runs = 20
	found, limited, late, others := 0, 0, 0, 0
	for seed := range uint64(runs) {
		r := compare(t, usual(16).set(t, 2*seed), slow.set(t, 2*seed+1))
		for _, name := range r.found() {
			switch name {
			case "main.f3":
				found++
			case "request":
				late++
			default:
				others++
			}
		}
		if check(t, r, condition(t, "self(main.f3) > +2%")).Verdict == Beyond {
			limited++
		}
		if v := check(t, r, condition(t, "self(main.f3) > +40%")).Verdict; v == Beyond {
			t.Errorf("seed %d: a fifth more is beyond 40 %%", seed)
		}
	}
	t.Logf("of %d: found %d, late %d, limited %d, others %d", runs, found, late, limited, others)
	if found < runs*6/10 || limited < runs*6/10 || late < runs*9/10 {
		t.Errorf("of %d runs with a fifth more, found %d, its markers %d, limit broken in %d", runs, found, late, limited)
	}
	if others > runs/2 {
		t.Errorf("%d other things were found", others)
	}
}

// One process that is slow does not make a finding, however slow it is.
func TestOneNoisyProcess(t *testing.T) {
	noisy := usual(8)
	noisy.noisy = true
	for seed := range uint64(20) {
		r := compare(t, usual(8).set(t, 2*seed), noisy.set(t, 2*seed+1))
		for _, text := range []string{"self(main.f3) > +5%", "p99(request) > +10%", "selfcpu(main.f3) > +5%"} {
			o := check(t, r, condition(t, text))
			if o.Verdict == Beyond {
				t.Errorf("seed %d: %s is broken by one process of eight: %+v", seed, text, o.Change)
			}
			if o.Verdict == Holds && text != "p99(request) > +10%" {
				t.Errorf("seed %d: %s holds, although the sum is far beyond: %+v", seed, text, o.Change)
			}
		}
	}
}

// Recordings of another length are compared by shares and rates.
func TestLength(t *testing.T) {
	long := usual(10)
	long.length = 3
	r := compare(t, usual(10).set(t, 1), long.set(t, 2))
	if names := r.found(); len(names) > 0 {
		t.Errorf("found %v in recordings that are only longer", names)
	}
	if math.Abs(*r.All.Relative) > 0.1 || r.New.Seconds != 300 {
		t.Errorf("CPU in a second: %+.2f of %g seconds", *r.All.Relative, r.New.Seconds)
	}
	if m := r.Markers[0]; *m.Count.Relative < 1.9 || math.Abs(*m.Rate.Relative) > 0.01 {
		t.Errorf("count %+.2f, rate %+.2f", *m.Count.Relative, *m.Rate.Relative)
	}
}

// With too few processes nothing is found, and the report says why.
func TestTooFew(t *testing.T) {
	slow := usual(2)
	slow.slower = 10
	r := compare(t, usual(8).set(t, 1), slow.set(t, 2))
	if len(r.found()) > 0 || r.Judged || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "the new set has 2") {
		t.Errorf("found %v, judged %v, notes %q", r.found(), r.Judged, r.Notes)
	}
	if o := check(t, r, condition(t, "self(main.f3) > +5%")); o.Verdict != TooFew || o.Change.Low != nil {
		t.Errorf("verdict %v", o.Verdict)
	}
}

// CPU time and time on the wall are not compared, and not mixed.
func TestBasis(t *testing.T) {
	wall := func(b *streamtest.Builder) *streamtest.Builder {
		for i := range b.Rows {
			if b.Rows[i].Kind == stream.Samples {
				b.Rows[i].CPU = -1
			}
		}
		return b
	}
	build := func(seed uint64) *streamtest.Builder { return usual(4).builder(rand.New(rand.NewPCG(seed, 1))) }
	cpu := setOf(t, build(1))
	if _, err := Compare(cpu, setOf(t, wall(build(2))), Options{}); !errors.Is(err, ErrBasis) {
		t.Errorf("error %v, want %v", err, ErrBasis)
	}
	if r := compare(t, setOf(t, wall(build(1))), setOf(t, wall(build(2)))); r.Basis != Samples || len(r.Functions) != 13 {
		t.Errorf("basis %s, %d functions", r.Basis, len(r.Functions))
	}
	mixed := build(2)
	mixed.Rows[0].CPU = -1 // 300 samples or so
	r := compare(t, cpu, setOf(t, mixed))
	if r.Basis != CPU || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "of the new set are kept apart") {
		t.Errorf("basis %s, notes %q", r.Basis, r.Notes)
	}
}

// Samples without CPU time that are taken half as often stand for twice the time.
func TestInterval(t *testing.T) {
	sampled := func(seed uint64, interval, samples int64) *Set {
		f := usual(8)
		f.samples = float64(samples)
		b := f.builder(rand.New(rand.NewPCG(seed, 1)))
		for i := range b.Rows {
			if b.Rows[i].Kind == stream.Samples {
				b.Rows[i].CPU = -1
			}
		}
		for i := range b.Tables.Processes {
			b.Tables.Processes[i].Interval = interval
		}
		return setOf(t, b)
	}
	r := compare(t, sampled(1, 10e6, 1000), sampled(2, 20e6, 500))
	if !r.Seconds || math.Abs(*r.All.Relative) > 0.1 || len(r.found()) > 0 {
		t.Errorf("in seconds %v: %+.2f, found %v", r.Seconds, *r.All.Relative, r.found())
	}
	r = compare(t, sampled(1, 10e6, 1000), sampled(2, 0, 500))
	if r.Seconds || math.Abs(*r.All.Relative+0.5) > 0.1 {
		t.Errorf("without an interval, in seconds %v: %+.2f", r.Seconds, *r.All.Relative)
	}
}

// A function that only called others, and now takes time by itself, is not new: it was there. It grew beyond any
// percentage, and a condition about all functions sees it; one about a new function has nothing to compare with.
func TestFromNothing(t *testing.T) {
	set := func(stacks map[string]int64) *Set {
		b := streamtest.NewBuilder()
		for i := range int64(5) {
			p := b.Process(stream.Process{Instance: uint64(i) + 1, Pid: int(i), Name: "shop", Start: 1, End: 10e9})
			for stack, n := range stacks {
				p.Main.Add(streamtest.Row{Time: 2, Stack: b.Stack(strings.Split(stack, "|")...), Weight: n + i, CPU: (n + i) * 1e7})
			}
			p.Count(1, p.Counter(stream.Counter{Name: "errors", Total: true}), 0, 0)
			p.Count(5e9, p.Counter(stream.Counter{Name: "errors", Total: true}), stacks["main.serve"], 0)
		}
		return setOf(t, b)
	}
	r := compare(t, set(map[string]int64{"main.serve|main.work": 1000}), set(map[string]int64{"main.serve|main.work": 1000, "main.serve": 100, "main.added": 100}))
	for _, f := range r.Functions {
		by, off := f.Self.Difference()
		switch f.Name {
		case "main.serve":
			if f.Self.OnlyIn != "" || !f.Self.Found || math.Abs(by-100.0/1200) > 0.002 || off <= 0 || off > by/2 {
				t.Errorf("%s: %+v, by %g, off %g", f.Name, f.Self, by, off)
			}
		case "main.added":
			if f.Self.OnlyIn != "new" || f.Total.OnlyIn != "new" {
				t.Errorf("%s: %+v", f.Name, f)
			}
		default:
			if f.Self.OnlyIn != "" {
				t.Errorf("%s: %+v", f.Name, f.Self)
			}
		}
	}
	if c := r.Counters[0]; c.Value.OnlyIn != "" || c.Value.Relative != nil || c.Value.New.Value == 0 {
		t.Errorf("%+v", c)
	}
	if o := check(t, r, condition(t, "self(*) > +50%")); o.Verdict != Beyond || o.Name != "main.serve" || o.Of != 2 {
		t.Errorf("self(*): %+v", o)
	}
}

// Sets of nothing can be compared: there is no difference.
func TestEmpty(t *testing.T) {
	r := compare(t, new(Set), new(Set))
	if len(r.Functions)+len(r.Markers) > 0 || r.Judged {
		t.Errorf("%+v", r)
	}
	r = compare(t, new(Set), usual(4).set(t, 1))
	if len(r.found()) > 0 || len(r.Functions) == 0 {
		t.Errorf("found %v, %d functions", r.found(), len(r.Functions))
	}
}

// Every kind of row is taken, in any order.
func TestSink(t *testing.T) {
	streamtest.TestSink(t, func(w io.Writer) stream.Sink { return &printed{New(math.MinInt64, math.MaxInt64), w} }, func(t *testing.T, output []byte) {
		if !json.Valid(output) {
			t.Errorf("not JSON: %s", output)
		}
	})
}

// printed writes how a set compares with itself.
type printed struct {
	*Sink
	w io.Writer
}

func (p *printed) Close() error {
	if err := p.Sink.Close(); err != nil {
		return err
	}
	r, err := Compare(p.Set, p.Set, Options{})
	if err != nil {
		return err
	}
	return json.NewEncoder(p.w).Encode(r)
}

// The order of rows and processes makes no difference.
func TestOrder(t *testing.T) {
	base := usual(5).set(t, 1)
	b := usual(5).builder(rand.New(rand.NewPCG(2, 2)))
	want := compare(t, base, setOf(t, b))
	for seed := range uint64(3) {
		sink := New(math.MinInt64, math.MaxInt64)
		if err := stream.Copy(sink, b.Shuffled(seed), stream.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, compare(t, base, sink.Set), cmpopts.IgnoreUnexported(Report{}, Change{}, Estimate{})); diff != "" {
			t.Fatalf("shuffled:\n%s", diff)
		}
	}
}

// Functions are matched by name: files, addresses and modules differ between
// builds.
func TestNames(t *testing.T) {
	build := func(offset uint64) *Set {
		b := streamtest.NewBuilder()
		for i := range uint64(3) {
			p := b.Process(stream.Process{Instance: i + 1, Pid: int(i) + 1, Name: "shop", Start: 1, End: 1e9})
			m := b.Tables.Modules.Intern(stream.Module{Build: fmt.Sprint(offset), Name: "shop"})
			named := stream.Frame{Module: m, Offset: offset, Function: b.Tables.Strings.Intern("main.main"), File: b.Tables.Strings.Intern(fmt.Sprint(offset)), Line: int32(offset)}
			p.Main.Add(streamtest.Row{Time: 1, Stack: b.StackOf(named, stream.Frame{Module: m, Offset: 2 * offset}), Weight: 1, CPU: 1})
		}
		return setOf(t, b)
	}
	r := compare(t, build(1), build(1000))
	if len(r.Functions) != 2 || r.Functions[0].Name != "shop (no name)" || r.Functions[1].Name != "main.main" || len(r.found()) > 0 {
		t.Errorf("functions %+v", r.Functions)
	}
}
