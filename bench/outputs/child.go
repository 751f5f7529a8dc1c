package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// childVariable is set to the name of a line in the process that does its work.
const childVariable = "GPROF_OUTPUTS_CHILD"

// said is what a child says of its work.
type said struct {
	Bytes int64 // of the output
	Peak  int64 // most resident bytes

	// Of a line that is about a part of its work: what that took.
	CPU    time.Duration
	Rows   int64         // how many rows that were
	Memcpy time.Duration // what it takes to copy the same bytes
}

// result is what a line took.
type result struct {
	said
	cpu     time.Duration // of the program, or of the part that counts
	system  time.Duration // of the system for it
	wall    time.Duration
	samples int64 // of the recording
}

// part reports whether a line is about a part of its work.
func (r result) part() bool { return r.CPU > 0 }

// runChild does the work of a line with a session, in the process that runs.
func runChild(name, session string) error {
	l, err := lineOf(name)
	if err != nil {
		return err
	}
	s, err := l.work(session)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	s.Peak = peak()
	return json.NewEncoder(os.Stdout).Encode(s)
}

// peak is the most that the process had in memory. The figure that wait4 gives
// includes the memory of the process that it was forked from.
func peak() int64 {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if kb, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(kb), " kB"), 10, 64)
			return n << 10
		}
	}
	return 0
}

// measure does the work of each line some times, in turn, so that all have the
// same share of what else the machine does. Of each line the run with the least
// CPU counts.
func measure(lines []line, o options) (best results, all map[string][]result, err error) {
	all = map[string][]result{}
	for range o.runs {
		for _, l := range lines {
			r, err := child(l.name, o.session)
			if err != nil {
				return nil, nil, err
			}
			r.samples = int64(o.samples)
			all[l.name] = append(all[l.name], r)
		}
	}
	best = results{}
	for name, runs := range all {
		best[name] = slices.MinFunc(runs, func(a, b result) int { return int(a.cpu - b.cpu) })
	}
	return best, all, nil
}

func child(name, session string) (result, error) {
	cmd := exec.Command(os.Args[0], session)
	cmd.Env = append(os.Environ(), childVariable+"="+name)
	cmd.Stderr = os.Stderr
	begin := time.Now()
	out, err := cmd.Output()
	if err != nil {
		return result{}, fmt.Errorf("%s: %w", name, err)
	}
	p := cmd.ProcessState
	r := result{cpu: p.UserTime(), system: p.SystemTime(), wall: time.Since(begin)}
	if err := json.Unmarshal(out, &r.said); err != nil {
		return result{}, err
	}
	if r.part() {
		r.cpu = r.CPU
	}
	return r, nil
}
