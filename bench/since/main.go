//go:build unix

// Since measures how much more CPU time gprof-convert takes than it did at a revision, the last release if none is named.
// It runs both in turn, and prints a table in Markdown.
//
//	go -C bench run ./since [-base REVISION] [-rounds 15]
//
// It fails if something takes over five percent more, and more with certainty.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"gprof/bench/internal/program"
)

// works are what both do. IN is a directory of recordings, OUT an empty one.
var works = []struct{ name, args string }{
	{"info", "info IN/large"},
	{"top", "top IN/large"},
	{"Firefox profile", "IN/large -o OUT/o.firefox.json -q"},
	{"Gecko profile, compressed", "IN/large -o OUT/o.gecko.json.gz -q"},
	{"pprof", "IN/large -o OUT/o.pb.gz -q"},
	{"Parquet", "IN/large -o OUT/o.parquet -q"},
	{"one pprof file of 300 processes", "IN/many --sum -o OUT/o.pb.gz -q"},
	{"one pprof file of 300", "IN/profiles --sum -o OUT/o.pb.gz -q"},
	{"pprof to Firefox profile", "IN/profiles -o OUT/o.firefox.json -q"},
}

// tolerated is how many percent more something may take.
const tolerated = 5

func main() {
	base := flag.String("base", "", "the revision to compare with; the last one with a tag")
	rounds := flag.Int("rounds", 15, "how often both do everything")
	flag.Parse()
	if err := run(*base, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "since:", err)
		os.Exit(1)
	}
}

func run(base string, rounds int) error {
	root, err := program.Root()
	if err != nil {
		return err
	}
	if base == "" {
		tag, err := exec.Command("git", "-C", root, "describe", "--tags", "--abbrev=0").Output()
		if err != nil {
			fmt.Println("There is no release to compare with; -base names another revision.")
			return nil
		}
		base = strings.TrimSpace(string(tag))
	}
	dir, remove, err := program.Scratch("since")
	if err != nil {
		return err
	}
	defer remove()
	before, err := buildAt(root, base, dir)
	if err != nil {
		return err
	}
	now, err := program.Build(dir)
	if err != nil {
		return err
	}
	if err := makeInputs(dir); err != nil {
		return err
	}
	return compare(before, now, base, dir, rounds)
}

// buildAt builds the command of a revision.
func buildAt(root, revision, dir string) (string, error) {
	tree, out := filepath.Join(dir, "tree"), filepath.Join(dir, "before")
	if _, err := program.Run(exec.Command("git", "-C", root, "worktree", "add", "--detach", tree, revision)); err != nil {
		return "", err
	}
	defer exec.Command("git", "-C", root, "worktree", "remove", "--force", tree).Run()
	if err := os.Mkdir(out, 0o777); err != nil {
		return "", err
	}
	return program.BuildTree(tree, out)
}

// makeInputs makes what is converted.
func makeInputs(dir string) error {
	for _, flags := range []string{
		"-samples 500000 -markers 200 -counts 100 -stacks 20000 -o IN/large",
		"-processes 300 -samples 150000 -markers 200 -stacks 5000 -threads 4 -writers 1 -chunk 65536 -o IN/many -pprof IN/profiles",
	} {
		if err := program.Corpus(nil, strings.Fields(strings.ReplaceAll(flags, "IN", dir))...); err != nil {
			return err
		}
	}
	return nil
}

// compare prints a line for each work.
func compare(before, now, base, dir string, rounds int) error {
	fmt.Printf("%d rounds\n\n| | CPU s at %s | now | CPU time, more (95 %%) | MB | now |\n|---|--:|--:|--:|--:|--:|\n", rounds, base)
	var failed []error
	for _, w := range works {
		out := filepath.Join(dir, "out")
		args := strings.Fields(strings.NewReplacer("IN", dir, "OUT", out).Replace(w.args))
		var ratios program.Ratios
		var all [2]program.Cost
		for round := range rounds {
			var costs [2]program.Cost
			for i := range costs {
				if err := os.Mkdir(out, 0o777); err != nil {
					return err
				}
				which := (i + round) % 2
				cost, err := program.Run(exec.Command([]string{before, now}[which], args...))
				if err != nil {
					return err
				}
				if err := os.RemoveAll(out); err != nil {
					return err
				}
				costs[which] = cost
			}
			for i, c := range costs {
				all[i].CPU += c.CPU
				all[i].Peak = max(all[i].Peak, c.Peak)
			}
			ratios.Add(costs[1].CPU, costs[0].CPU)
		}
		middle, least, most := ratios.Percent()
		mean := func(i int) float64 { return all[i].CPU.Seconds() / float64(rounds) }
		fmt.Printf("| %s | %.3f | %.3f | %+.1f %% (%+.1f to %+.1f) | %.0f | %.0f |\n", w.name, mean(0), mean(1), middle, least, most,
			float64(all[0].Peak)/1e6, float64(all[1].Peak)/1e6)
		if middle > tolerated && least > 0 {
			failed = append(failed, fmt.Errorf("%s takes %.1f %% more than at %s", w.name, middle, base))
		}
	}
	return errors.Join(failed...)
}
