// Makeperf writes a perf.data as perf record -a -g does it of processes that run the go command on several CPUs: with
// the stacks of package corpus, whose addresses lie in functions of that program. It is for measuring what reads such
// files.
//
//	go -C bench run ./makeperf -samples 10000000 -o /var/tmp/perf.data
//	go build -o /var/tmp ./cmd/gprof-convert
//	/usr/bin/time -v /var/tmp/gprof-convert /var/tmp/perf.data --symbols $(go env GOROOT)/bin/go -f firefox -o /var/tmp/named.json.gz
//	/usr/bin/time -v samply import /var/tmp/perf.data --save-only -o /var/tmp/unnamed.json.gz
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"gprof/fixtures/corpus"
)

func main() {
	out := flag.String("o", "perf.data", "file to write")
	samples := flag.Int("samples", 1_000_000, "how many samples")
	stacks := flag.Int("stacks", 187_000, "how many distinct stacks of the program's code")
	flag.Parse()
	if err := run(*out, *samples, *stacks); err != nil {
		fmt.Fprintln(os.Stderr, "makeperf:", err)
		os.Exit(1)
	}
}

func run(out string, samples, stacks int) error {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	p, err := openProgram(filepath.Join(strings.TrimSpace(string(root)), "bin", "go"))
	if err != nil {
		return err
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	d := newData(f)
	newMachine(d, p, corpus.NewStacks(0, stacks)).run(samples)
	return errors.Join(d.finish(), f.Close())
}
