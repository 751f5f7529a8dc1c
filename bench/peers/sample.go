//go:build linux

package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// sampleCost is what a CPU sample costs beside one of Go's own profile, and what
// 100 in a second take of a processor, in percent. Signals can be counted from
// within the recorder only, so its benchmark measures that.
func sampleCost() (ours, theirs string, ratio, percent float64, err error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "gprof/recorder").Output()
	if err != nil {
		return "", "", 0, 0, fmt.Errorf("go list: %w", err)
	}
	out, _ := exec.Command("go", "test", "-C", strings.TrimSpace(string(root)), "-run", "^$", "-bench", "^BenchmarkSampleCost$", "./internal/sampler").CombinedOutput()
	m := sampleLine.FindSubmatch(out)
	if m == nil {
		return "", "", 0, 0, fmt.Errorf("BenchmarkSampleCost printed\n%s", out)
	}
	ratio, _ = strconv.ParseFloat(string(m[3]), 64) // digits, by the pattern
	percent, _ = strconv.ParseFloat(string(m[4]), 64)
	return string(m[1]), string(m[2]), ratio, percent, nil
}

var sampleLine = regexp.MustCompile(`a sample (\S+), the runtime's (\S+): ([\d.]+)x;.* 100 in a second are ([\d.]+) %`)
