//go:build unix

// Fleet measures what it takes to plan, convert and commit many small profiles on one machine,
// and prints a table in Markdown. Its arguments are numbers of profiles; 10,000 without any.
package main

import (
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"

	"gprof/bench/internal/program"
)

func main() {
	counts := os.Args[1:]
	if len(counts) == 0 {
		counts = []string{"10000"}
	}
	fmt.Println("| profiles | command | s | CPU s | peak MB |")
	fmt.Println("|--:|---|--:|--:|--:|")
	for _, count := range counts {
		n, err := strconv.Atoi(count)
		if err == nil {
			err = measure(n)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
}

// measure prints three lines for n profiles.
func measure(n int) error {
	dir, err := os.MkdirTemp("/var/tmp", "fleet")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	for i := range n {
		if err := write(in, i); err != nil {
			return err
		}
	}
	tool, err := program.Build(dir)
	if err != nil {
		return err
	}
	id, err := run(n, tool, "plan", in, "-q", "-o", out, "-f", "pprof.gz", "--sum", "--task-size", "8MiB")
	if err == nil {
		_, err = run(n, tool, "work", out, "-q", "--plan", id)
	}
	if err == nil {
		_, err = run(n, tool, "commit", out, "-q", "--plan", id)
	}
	return err
}

// write writes a profile as small as that of a process that did little.
func write(dir string, i int) error {
	m := &profile.Mapping{ID: 1, Start: 0x400000, Limit: 0x500000, File: "/bin/shop"}
	f := &profile.Function{ID: 1, Name: "main.work", SystemName: "main.work"}
	l := &profile.Location{ID: 1, Mapping: m, Address: 0x400100, Line: []profile.Line{{Function: f, Line: 10}}}
	v := int64(i%7 + 1)
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 10e6, TimeNanos: 1782864000e9 + int64(i)*1e9, DurationNanos: 10e9,
		Mapping: []*profile.Mapping{m}, Function: []*profile.Function{f}, Location: []*profile.Location{l},
		Sample: []*profile.Sample{{Location: []*profile.Location{l}, Value: []int64{v, v * 10e6}, Label: map[string][]string{"pod": {strconv.Itoa(i)}}}},
	}
	dir = filepath.Join(dir, fmt.Sprintf("%04d", i/1000))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	w, err := os.Create(filepath.Join(dir, fmt.Sprintf("pod-%07d.pb.gz", i)))
	if err != nil {
		return err
	}
	defer w.Close()
	return p.Write(w)
}

// run runs a command, prints its line, and returns what it printed.
func run(n int, tool string, args ...string) (string, error) {
	cmd := exec.Command(tool, args...)
	var text strings.Builder
	cmd.Stdout, cmd.Stderr = &text, os.Stderr
	cost, err := program.Run(cmd)
	if err != nil {
		return "", err
	}
	fmt.Printf("| %d | %s | %.1f | %.1f | %.0f |\n", n, args[0], cost.Wall.Seconds(), cost.CPU.Seconds(), float64(cost.Peak)/1e6)
	return strings.TrimSpace(text.String()), nil
}
