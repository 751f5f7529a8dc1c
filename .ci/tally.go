// Command tally reads what `go test -json` prints, shows a line a package and
// the output of what failed, and ends with "N passed, N failed". It counts
// tests, examples and fuzz targets, not their subtests. A skipped test counts
// as failed: nothing here may be skipped. It exits 1 if anything failed.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
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
	passed, failed int
	output         map[string]*strings.Builder // of each test that has not ended
	broken         map[string]bool             // packages with a failed test
}

func main() {
	t := tally{output: map[string]*strings.Builder{}, broken: map[string]bool{}}
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			t.line(line)
		}
		if err != nil {
			break
		}
	}
	fmt.Printf("\n%d passed, %d failed\n", t.passed, t.failed)
	if t.failed > 0 || t.passed == 0 {
		os.Exit(1)
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
