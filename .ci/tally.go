// Command tally reads what `go test -json` prints, on its standard input, or of the
// commands that are its arguments, some of which run side by side. It shows a line a package and
// the output of what failed, and ends with "N passed, N failed". It counts
// tests, examples and fuzz targets, not their subtests. A skipped test counts
// as failed: nothing here may be skipped. It exits 1 if anything failed.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// event is a line of test2json; see `go doc test2json`.
type event struct {
	Action     string
	Package    string
	ImportPath string
	Test       string
	Output     string
}

type tally struct {
	mu             sync.Mutex // of all
	passed, failed int
	output         map[string]*strings.Builder // of each test that has not ended
	broken         map[string]bool             // packages with a failed test
}

func main() {
	t := tally{output: map[string]*strings.Builder{}, broken: map[string]bool{}}
	if len(os.Args) == 1 {
		t.read(os.Stdin)
	}
	var running sync.WaitGroup
	next := make(chan string)
	for range max(3, runtime.NumCPU()) { // tests wait, too
		running.Go(func() {
			for command := range next {
				t.run(command)
			}
		})
	}
	for _, command := range os.Args[1:] {
		next <- command
	}
	close(next)
	running.Wait()
	fmt.Printf("\n%d passed, %d failed\n", t.passed, t.failed)
	if t.failed > 0 || t.passed == 0 {
		os.Exit(1)
	}
}

// run reads what a command prints, and tells how long that took. One that fails though no test of it
// did counts as one that failed.
func (t *tally) run(command string) {
	words := strings.Fields(command)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	failed := 0
	begun := time.Now()
	if err == nil {
		failed = t.read(out)
		err = cmd.Wait()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil && failed == 0 {
		t.failed++
		fmt.Printf("%s: %v\n", command, err)
	}
	if p := cmd.ProcessState; p != nil {
		fmt.Printf("---\t%s\t%.0fs, of the CPU %.0fs\n", command, time.Since(begun).Seconds(), (p.UserTime() + p.SystemTime()).Seconds())
	}
}

// read reads lines to their end, and returns how many of them told of a failure.
func (t *tally) read(in io.Reader) (failed int) {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			t.mu.Lock()
			before := t.failed
			t.line(line)
			failed += t.failed - before
			t.mu.Unlock()
		}
		if err != nil {
			return failed
		}
	}
}

func (t *tally) line(line string) {
	var e event
	if json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
		fmt.Print(line) // not ours: shown as it is
		return
	}
	top, _, sub := strings.Cut(e.Test, "/")
	switch e.Action {
	case "output":
		t.print(e, top)
	case "build-output":
		fmt.Print(e.Output)
	case "pass", "fail", "skip":
		if !sub {
			t.end(e)
		}
	}
}

// print shows the output of a package and keeps that of a test until it ends.
func (t *tally) print(e event, top string) {
	if top == "" {
		if e.Output != "PASS\n" && !strings.HasPrefix(e.Output, "?") {
			fmt.Print(e.Output)
		}
		return
	}
	key := e.Package + " " + top
	if t.output[key] == nil {
		t.output[key] = new(strings.Builder)
	}
	t.output[key].WriteString(e.Output)
}

// end counts a test that ended, or a package that failed without one.
func (t *tally) end(e event) {
	key := e.Package + " " + e.Test
	switch {
	case e.Test == "":
		if e.Action == "fail" && !t.broken[e.Package] {
			t.failed++
		}
		return
	case e.Action == "pass":
		t.passed++
	default:
		t.failed++
		t.broken[e.Package] = true
		fmt.Printf("%s: %s\n%s", e.Package, e.Action, t.output[key])
	}
	delete(t.output, key)
}
