package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gprof/stream"
	"gprof/stream/filter"
	"gprof/stream/streamtest"
)

// turns are runs of two builds on a machine that becomes faster and slower while they are recorded.
type turns struct {
	pairs  int
	slower float64 // the new build's cost, as a multiple
	atOnce bool    // pairs run together, else one after the other
	noise  float64 // of each run
	host   func(i int) string
}

// sets records them: by each run's CPU time, which the system counted, and the time of 20 markers.
func (f turns) sets(t testing.TB, seed uint64) (base, new *Set) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 7))
	builders := [2]*streamtest.Builder{streamtest.NewBuilder(), streamtest.NewBuilder()}
	drift, at := 0.0, stream.Time(1e9)
	for i := range f.pairs {
		drift = 0.9*drift + 0.1*random.NormFloat64()
		for k := range 2 {
			which := (i + k) % 2 // in turn, and in turn first
			b, length := builders[which], stream.Time(1e9)
			cost := 5e8 * math.Exp(drift+f.noise*random.NormFloat64())
			if which == 1 {
				cost *= f.slower
			}
			host := "here"
			if f.host != nil {
				host = f.host(2*i + which)
			}
			p := b.Process(stream.Process{Instance: uint64(2*i + k + 1), Pid: i + 1, Name: "shop", Host: host, Start: at, End: at + length})
			cpu := b.Tables.Counters.Intern(stream.Counter{Process: p.ID, Name: stream.CounterProcessCPU, Unit: stream.FormatNanoseconds, Total: true})
			p.Count(at+1e6, cpu, 1e6, 0)
			p.Count(at+length, cpu, int64(cost), 0)
			p.Main.Add(streamtest.Row{Time: at + 2e6, Stack: b.Stack("main.main"), Weight: 50, CPU: int64(cost)})
			job := b.Event(stream.Event{Name: "job"})
			for n := range stream.Time(20) {
				p.Main.Interval(at+3e6+n*1e6, int64(cost/20), job)
			}
			if !f.atOnce {
				at += length + 1e8
			} else if k == 1 {
				at += length + 1e8
			} else {
				at += 2e6
			}
		}
	}
	return setOf(t, builders[0]), setOf(t, builders[1])
}

// Of runs in pairs a change is found that is a small part of the machine's own ups and downs.
func TestPairs(t *testing.T) {
	for _, atOnce := range []bool{false, true} {
		const gates = 12
		found, alarms, alone := 0, 0, 0
		for seed := range uint64(gates) {
			f := turns{pairs: 60, slower: 1, atOnce: atOnce, noise: 0.01}
			base, new := f.sets(t, 2*seed)
			if check(t, compare(t, base, new), condition(t, "cost() > +0%")).Verdict == Beyond {
				alarms++
			}
			f.slower = 1.015
			base, new = f.sets(t, 2*seed+1)
			r := compare(t, base, new)
			o := check(t, r, condition(t, "cost() > +0%"))
			if r.Pairs != f.pairs || !o.InPairs {
				t.Fatalf("at once %v: %d pairs of %d", atOnce, r.Pairs, f.pairs)
			}
			if o.Verdict == Beyond {
				found++
			}
			r.pairs = nil
			if check(t, r, condition(t, "cost() > +0%")).Verdict == Beyond {
				alone++
			}
		}
		t.Logf("at once %v: %d false alarms, found %d of %d, without pairs %d", atOnce, alarms, found, gates, alone)
		if alarms > 3 || found < gates || alone > gates/2 {
			t.Errorf("at once %v: of %d gates %d false alarms, %d found, %d without pairs", atOnce, gates, alarms, found, alone)
		}
	}
}

// Where there is no difference a condition on pairs is broken as rarely as it may be, whatever differences are
// like; and what is said to have been found in 19 of 20 gates is.
func TestPower(t *testing.T) {
	const gates = 300
	for name, draw := range map[string]func(*rand.Rand) float64{
		"normal": func(r *rand.Rand) float64 { return 0.02 * r.NormFloat64() },
		"wild":   func(r *rand.Rand) float64 { return 0.02 * math.Tan(1.4*(2*r.Float64()-1)) },
	} {
		random := rand.New(rand.NewPCG(1, 2))
		gate := func(more float64) Outcome {
			d := make([]float64, 40)
			for i := range d {
				d[i] = draw(random) + more
			}
			o := Outcome{Condition: condition(t, "cost() > +1%")}
			o.comparePairs(d)
			o.Change.Judged = true
			all := []Outcome{o}
			judge(all, 1)
			return all[0]
		}
		alarms, found, findable := 0, 0, 0.0
		for range gates {
			o := gate(math.Log(1.01))
			if findable += *o.Findable / gates; o.Verdict == Beyond {
				alarms++
			}
		}
		for range gates {
			if gate(math.Log1p(findable)).Verdict == Beyond {
				found++
			}
		}
		few := gate(0)
		t.Logf("%s: %d false alarms, %+.2f %% is found in %d of %d; to find 2 %%: %d", name, alarms, 100*findable, found, gates, few.Needed)
		if alarms > 15 || found < gates*9/10 || few.Needed < 25 {
			t.Errorf("%s: of %d gates %d false alarms; %+.2f %% is found in %d; to find 2 %%: %d", name, gates, alarms, 100*findable, found, few.Needed)
		}
	}
}

// Each figure that all processes have is compared in pairs, bounds of each kind.
func TestFiguresInPairs(t *testing.T) {
	base, new := turns{pairs: 30, slower: 1.2, atOnce: true, noise: 0.01}.sets(t, 1)
	r := compare(t, base, new)
	for text, want := range map[string]Verdict{
		"cost() > +18%": Beyond, "cost() > +22%": Holds, "cost(job) > +18%": Beyond, "cost(job) < +22%": Beyond,
		"cost() > +10ms": Beyond, "cost() > +1s": Holds, "mean(job) > +18%": Beyond, "p50(job) > +18%": Beyond, "p50(job) > +19.8%": Noise,
		"p99(job) > +1ms": Beyond, "cpu() > +18%": Beyond, "rate(job) > +1%": Holds, "rate(job) < -1%": Holds, "totalcpu(main.main) > +18%": Beyond,
	} {
		if o := check(t, r, condition(t, text)); o.Verdict != want || !o.InPairs {
			t.Errorf("%s: %v, in pairs %v, %+v; want %v", text, o.Verdict, o.InPairs, *o.Change.Relative, want)
		}
	}
	if o := check(t, r, condition(t, "cost() > 400ms")); o.InPairs || o.Verdict == Nothing {
		t.Errorf("a bound of the new figure: in pairs %v, %v", o.InPairs, o.Verdict)
	}
}

// Runs of other machines, and sets that were recorded one after the other, make no pairs. The report says how
// it compared.
func TestNoPairs(t *testing.T) {
	apart := turns{pairs: 20, slower: 1, host: func(i int) string { return fmt.Sprint("h", i) }}
	base, new := apart.sets(t, 1)
	if r := compare(t, base, new); r.Pairs != 0 {
		t.Errorf("%d pairs of processes on %d machines", r.Pairs, 40)
	}
	base, _ = turns{pairs: 20, slower: 1}.sets(t, 2)
	_, new = turns{pairs: 20, slower: 1}.sets(t, 3)
	for i := range new.processes {
		new.processes[i].start += 1e12
		new.processes[i].end += 1e12
	}
	if r := compare(t, base, new); r.Pairs != 0 {
		t.Errorf("%d pairs of processes that were recorded later", r.Pairs)
	}
	for _, few := range []int{11, 12} {
		base, new = turns{pairs: few, slower: 1}.sets(t, 4)
		r := compare(t, base, new)
		if said := strings.Contains(strings.Join(r.Notes, "\n"), "12 pairs of processes, recorded in turn"); (r.Pairs == 12) != (few == 12) || said != (few == 12) {
			t.Errorf("of %d: %d pairs, %q", few, r.Pairs, r.Notes)
		}
	}
}

// A program that is called after its file has another name in each build: sets of one program each make pairs all the same. Of
// several programs only those of one name do.
func TestPairsOfRenamedProgram(t *testing.T) {
	base, new := turns{pairs: 24, slower: 1, atOnce: true}.sets(t, 5)
	for i := range new.processes {
		base.processes[i].program, new.processes[i].program = "shop-main", "shop-branch"
	}
	if r := compare(t, base, new); r.Pairs != 24 {
		t.Errorf("%d pairs", r.Pairs)
	}
	for i := range new.processes {
		base.processes[i].program, new.processes[i].program = fmt.Sprint("shop", min(1, i%4)), "shop1"
	}
	if r := compare(t, base, new); r.Pairs != 18 {
		t.Errorf("%d pairs of processes of which a fourth are of another program", r.Pairs)
	}
}

// Conditions are judged together, and one about all functions is one for each: of twenty sets without a
// difference one gate has a false alarm.
func TestFamily(t *testing.T) {
	const gates = 30
	single, together := 0, 0
	for seed := range uint64(gates) {
		r := compare(t, usual(8).set(t, 2*seed+1000), usual(8).set(t, 2*seed+1001))
		for k := range 12 {
			if check(t, r, condition(t, fmt.Sprintf("self(main.f%d) > +0%%", k))).Verdict == Beyond {
				single++
				break
			}
		}
		if o := check(t, r, condition(t, "self(*) > +0%")); o.Verdict == Beyond {
			together++
		} else if o.Of < 12 || o.Findable == nil || o.Name == allNames {
			t.Fatalf("%+v", o)
		}
	}
	t.Logf("of %d: %d with an alarm of one of 12, %d together", gates, single, together)
	if together > 4 || single < 2*together {
		t.Errorf("of %d: %d with an alarm of one of 12, %d together", gates, single, together)
	}
	slow := usual(16)
	slow.slower = 1.5
	r := compare(t, usual(16).set(t, 1), slow.set(t, 2))
	all, err := r.Check(condition(t, "self(*) > +5%"), condition(t, "self(main.f4) > +50%"))
	if err != nil || len(all) != 2 || all[0].Name != "main.f3" || all[0].Verdict != Beyond || all[1].Verdict != Holds {
		t.Errorf("%v, %+v", err, all)
	}
}

// So few pairs can't tell one of so many functions, by ranks. They are told without, and a condition about all of them takes
// nothing from one about the cost.
func TestFewPairsOfManyFunctions(t *testing.T) {
	set := func(seed uint64, slower float64) *Set {
		f := usual(13)
		f.functions, f.samples, f.slower = 300, 200, slower
		s := f.set(t, seed)
		for i := range s.processes {
			p := &s.processes[i]
			p.start, p.end = stream.Time(i)*2e10+stream.Time(seed), stream.Time(i)*2e10+1e10
			p.cpu = 10 * math.Exp(0.001*float64(i%3)) * (1 + 0.02*(slower-1))
		}
		return s
	}
	r := compare(t, set(1, 1), set(2, 2))
	all, err := r.Check(condition(t, "cost() > +1%"), condition(t, "self(*) > +10%"))
	if err != nil || r.Pairs != 13 || len(all) != 2 {
		t.Fatalf("%v, %d pairs, %d outcomes", err, r.Pairs, len(all))
	}
	if cost, self := all[0], all[1]; cost.Verdict != Beyond || !cost.InPairs || self.Verdict != Beyond || self.Name != "main.f3" || self.InPairs {
		t.Errorf("%v, %v, %s", cost.Verdict, self.Verdict, self.Name)
	}
}

// Of a part of the time the cost is what was spent in it, however early that part begins.
func TestCostOfAPart(t *testing.T) {
	b := streamtest.NewBuilder()
	for i := range stream.Time(3) {
		p := b.Process(stream.Process{Instance: uint64(i) + 1, Pid: 1, Name: "shop", Start: 1e9, End: 2e9})
		cpu := b.Tables.Counters.Intern(stream.Counter{Process: p.ID, Name: stream.CounterProcessCPU, Unit: stream.FormatNanoseconds, Total: true})
		for at := range stream.Time(10) {
			p.Count(1e9+at*1e8, cpu, int64(1e7+at*1e7), 0)
		}
		p.Main.Add(streamtest.Row{Time: 19e8, Stack: b.Stack("main.main"), Weight: 1, CPU: 1e7})
	}
	for from, want := range map[stream.Time]float64{math.MinInt64: 0.1, 15e8: 0.04} {
		sink := New(from, math.MaxInt64)
		if err := stream.Copy(sink, filter.ByTime(b.Source(), from, math.MaxInt64), stream.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
		if got := compare(t, sink.Set, sink.Set).Cost.New.Value; math.Abs(got-want) > 1e-6 {
			t.Errorf("from %d: %g s, want %g s", from, got, want)
		}
	}
}
