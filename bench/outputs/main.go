package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"gprof/fixtures/corpus"
)

// options are the flags.
type options struct {
	samples, runs int
	stacks        int
	only          string
	benchstat     string // file
	session       string // that is made
}

func main() {
	if name, ok := os.LookupEnv(childVariable); ok {
		exit(runChild(name, os.Args[1]))
	}
	var o options
	flag.IntVar(&o.samples, "samples", 5_000_000, "samples of the recording; there is one marker for five of them")
	flag.IntVar(&o.stacks, "stacks", 187_000, "different stacks that are sampled, some 40 frames deep")
	flag.IntVar(&o.runs, "runs", 2, "runs of each line, of which the best counts")
	flag.StringVar(&o.only, "only", "", "only the lines whose names match this pattern, and what they are compared with")
	flag.StringVar(&o.benchstat, "benchstat", "", "also append each run to this file, to compare by benchstat")
	flag.Parse()
	exit(run(o))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "outputs:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// run makes a recording, does all works on it, and prints the table.
func run(o options) error {
	dir, err := os.MkdirTemp("", "gprof-outputs-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	lines, err := selected(o.only)
	if err != nil {
		return err
	}
	o.session = filepath.Join(dir, "session")
	if _, err := corpus.Write(o.session, corpus.Options{Samples: o.samples, Markers: 200, Stacks: o.stacks}); err != nil {
		return err
	}
	if slices.ContainsFunc(lines, func(l line) bool { return l.tables }) {
		if err := writeTablesBeside(o.session); err != nil {
			return err
		}
	}
	results, runs, err := measure(lines, o)
	if err != nil {
		return err
	}
	fmt.Print(report(lines, results, o.samples))
	if o.benchstat == "" {
		return nil
	}
	return appendRuns(o.benchstat, lines, runs)
}
