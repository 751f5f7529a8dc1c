//go:build linux

// Cores measures whole conversions by gprof-convert: how much faster two cores are than one, and what many dumps take on one. Beside
// the first it runs two conversions at once, one on each core. If both take longer than one alone, as cores share caches and memory
// with each other and with strangers, no program can be twice as fast on two. It also measures how long a cache line takes from one
// core to the other and back: what one core wrote takes that way to the other one. It prints tables in Markdown:
//
//	go -C bench run ./cores [-rounds 7] [-only Gecko] [-dumps 1000] [-benchstat FILE]
//
// 10,000 dumps take 3 GB of disk.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"gprof/bench/internal/program"
)

// outputs are what recordings become, by the end of a file name. Dumps is whether many of them do as well.
var outputs = []struct {
	name, end string
	dumps     bool
}{
	{"Firefox", "json.gz", true},
	{"Gecko", "gecko.json.gz", false},
	{"pprof", "pb.gz", true},
	{"Parquet", "parquet", false},
}

const (
	faster   = 1.8 // goal for two cores
	peakGoal = 95  // MiB, of any number of dumps
)

// dumps are how many are converted, of 1,000 samples each, and the CPU seconds that may take.
var dumps = []struct {
	n    int
	goal float64
}{{1_000, 1}, {10_000, 8}}

func main() {
	rounds := flag.Int("rounds", 7, "how often everything is done")
	samples := flag.Int("samples", 5_000_000, "samples of the recording for two cores, 0 for none; there is one marker for five of them")
	most := flag.Int("dumps", 10_000, "at most so many dumps")
	only := flag.String("only", "", "only outputs whose names match this pattern")
	benchstat := flag.String("benchstat", "", "also append each run to this file, to compare by benchstat")
	flag.Parse()
	if err := run(*rounds, *samples, *most, *only, *benchstat); err != nil {
		fmt.Fprintln(os.Stderr, "cores:", err)
		os.Exit(1)
	}
}

func run(rounds, samples, most int, only, benchstat string) error {
	chosen, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	dir, remove, err := program.Scratch("cores")
	if err != nil {
		return err
	}
	defer remove()
	b := bench{dir: dir, rounds: rounds, chosen: chosen}
	if b.tool, err = program.Build(dir); err != nil {
		return err
	}
	if samples > 0 {
		if err := b.twoCores(samples); err != nil {
			return err
		}
	}
	for _, d := range dumps {
		if d.n > most {
			break
		}
		if err := b.manyDumps(d.n, d.goal); err != nil {
			return err
		}
	}
	if benchstat == "" {
		return nil
	}
	return program.Append(benchstat, b.lines.String())
}

type bench struct {
	dir, tool string
	rounds    int
	chosen    *regexp.Regexp
	lines     strings.Builder // for benchstat
}

// twoCores compares one core, two, and two conversions at once.
func (b *bench) twoCores(samples int) error {
	session := filepath.Join(b.dir, "session")
	defer os.RemoveAll(session)
	if err := program.Corpus(nil, "-samples", fmt.Sprint(samples), "-markers", "200", "-stacks", "187000", "-o", session); err != nil {
		return err
	}
	fmt.Printf("\n%d samples, %d markers, %d rounds: medians (quartiles)\n\n", samples, samples/5, b.rounds)
	fmt.Print("| to | one core, s | two, s | ratio | goal | reached | two conversions at once, s | ratio they allow | CPU s, one core | two | peak MiB | two |\n",
		"|---|--:|--:|--:|--:|---|--:|--:|--:|--:|--:|--:|\n")
	var lines strings.Builder
	for _, o := range outputs {
		if !b.chosen.MatchString(o.name) {
			continue
		}
		var one, two, both series
		var ratios, allowed, times []float64
		for round := range b.rounds {
			ns, err := lineTime()
			if err != nil {
				return err
			}
			times = append(times, ns)
			if err := errors.Join(one.add(b.start(session, o.end, round%2)), two.add(b.start(session, o.end, 0, 1))); err != nil {
				return err
			}
			if err := errors.Join(both.add(b.start(session, o.end, 0), b.start(session, o.end, 1))); err != nil {
				return err
			}
			took := one.wall[round]
			ratios = append(ratios, took/two.wall[round])
			allowed = append(allowed, took/both.wall[2*round]+took/both.wall[2*round+1])
		}
		b.note("Cores/"+o.name+"/j=1", one)
		b.note("Cores/"+o.name+"/j=2", two)
		b.note("Cores/"+o.name+"/atonce", both)
		ratio, _, _ := program.Quartiles(ratios)
		fmt.Printf("| %s | %s | %s | %s | ≥ %v | %s | %s | %s | %s | %s | %.0f | %.0f |\n", o.name, spread(one.wall), spread(two.wall), spread(ratios), faster,
			reached(ratio >= faster), spread(both.wall), spread(allowed), spread(one.cpu), spread(two.cpu), middle(one.peak), middle(two.peak))
		fmt.Fprintf(&lines, "| %s | %s |\n", o.name, byLine(ratios, times))
	}
	fmt.Printf("\nThe ratio, by how long a cache line takes from one core to the other and back:\n\n| to | up to %v ns: rounds | the line, ns | ratio | longer: rounds | the line, ns | ratio |\n|---|--:|--:|--:|--:|--:|--:|\n%s",
		nearLine, lines.String())
	return nil
}

// byLine is the cells of rounds in which a cache line took little time, and of the others: how many there are, that time, the ratio.
func byLine(ratios, times []float64) string {
	var near, far struct{ ratios, times []float64 }
	for i, ns := range times {
		side := &near
		if ns > nearLine {
			side = &far
		}
		side.ratios, side.times = append(side.ratios, ratios[i]), append(side.times, ns)
	}
	cells := func(ratios, times []float64) string {
		if len(times) == 0 {
			return "0 | |"
		}
		return fmt.Sprintf("%d | %.0f | %s", len(times), middle(times), spread(ratios))
	}
	return cells(near.ratios, near.times) + " | " + cells(far.ratios, far.times)
}

// manyDumps converts so many dumps on one core.
func (b *bench) manyDumps(n int, goal float64) error {
	session := filepath.Join(b.dir, "dumps")
	defer os.RemoveAll(session)
	if err := program.Corpus(nil, "-processes", fmt.Sprint(n), "-samples", fmt.Sprint(1000*n), "-writers", "1", "-chunk", "65536", "-o", session); err != nil {
		return err
	}
	fmt.Printf("\n%d dumps, one core, %d rounds: medians (quartiles)\n\n| to | CPU s | goal | peak MiB | goal | reached |\n|---|--:|--:|--:|--:|---|\n", n, b.rounds)
	for _, o := range outputs {
		if !o.dumps || !b.chosen.MatchString(o.name) {
			continue
		}
		var s series
		for range b.rounds {
			if err := s.add(b.start(session, o.end, 0)); err != nil {
				return err
			}
		}
		b.note(fmt.Sprintf("Dumps/%s/n=%d", o.name, n), s)
		fmt.Printf("| %s | %s | ≤ %.1f | %s | ≤ %d | %s, %s |\n", o.name, spread(s.cpu), goal, spread(s.peak), peakGoal,
			reached(middle(s.cpu) <= goal), reached(middle(s.peak) <= peakGoal))
	}
	return nil
}

// outcome is what a conversion took, or why it failed.
type outcome struct {
	program.Cost
	err error
}

// start begins a conversion that may use these cores.
func (b *bench) start(session, end string, cores ...int) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		if err := stayOn(cores...); err != nil {
			done <- outcome{err: err}
			return
		}
		out, err := os.MkdirTemp(b.dir, "out")
		if err != nil {
			done <- outcome{err: err}
			return
		}
		defer os.RemoveAll(out)
		cost, err := program.Run(exec.Command(b.tool, session, "-q", "-j", fmt.Sprint(len(cores)), "-o", filepath.Join(out, "o."+end)))
		done <- outcome{cost, err}
	}()
	return done
}

// stayOn lets the goroutine run on these cores alone, to its end: its thread ends with it.
func stayOn(cores ...int) error {
	runtime.LockOSThread()
	var set unix.CPUSet
	for _, c := range cores {
		set.Set(c)
	}
	return unix.SchedSetaffinity(0, &set)
}

// series is what some conversions took: seconds, and MiB.
type series struct{ wall, cpu, peak []float64 }

// add waits for conversions.
func (s *series) add(begun ...<-chan outcome) error {
	var failed error
	for _, done := range begun {
		o := <-done
		s.wall, s.cpu, s.peak = append(s.wall, o.Wall.Seconds()), append(s.cpu, o.CPU.Seconds()), append(s.peak, float64(o.Peak)/(1<<20))
		failed = errors.Join(failed, o.err)
	}
	return failed
}

// note keeps the runs for benchstat.
func (b *bench) note(name string, s series) {
	for i := range s.wall {
		fmt.Fprintf(&b.lines, "Benchmark%s 1 %.0f ns/op %.0f cpu-ns/op %.0f peak-B\n", name, s.wall[i]*1e9, s.cpu[i]*1e9, s.peak[i]*(1<<20))
	}
}

func middle(v []float64) float64 {
	m, _, _ := program.Quartiles(v)
	return m
}

func spread(v []float64) string {
	m, low, high := program.Quartiles(v)
	return fmt.Sprintf("%.2f (%.2f–%.2f)", m, low, high)
}

func reached(ok bool) string {
	if ok {
		return "yes"
	}
	return "no"
}
