//go:build unix

// Package program builds and runs programs to measure them: how much CPU time they take, and how much memory.
package program

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"gprof/fixtures/corpus"
)

// Root is the directory of the module gprof.
func Root() (string, error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "gprof").Output()
	return strings.TrimSpace(string(root)), err
}

// Build builds the gprof-convert of the module gprof into dir, and returns its path.
func Build(dir string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	return BuildTree(root, dir)
}

// BuildTree is Build of other sources.
func BuildTree(root, dir string) (string, error) {
	path := filepath.Join(dir, "gprof-convert")
	cmd := exec.Command("go", "build", "-o", path, "./cmd/gprof-convert")
	cmd.Dir = root
	_, err := Run(cmd)
	return path, err
}

// Corpus has makecorpus make a recording, and stores what it tells in made, if that is not nil. It is a process of its
// own, as Cost.Peak says.
func Corpus(made *corpus.Corpus, flags ...string) error {
	cmd := exec.Command("go", append([]string{"run", "gprof/bench/makecorpus"}, flags...)...)
	var told bytes.Buffer
	cmd.Stdout = &told
	if _, err := Run(cmd); err != nil || made == nil {
		return err
	}
	return json.Unmarshal(told.Bytes(), made)
}

// Scratch makes a directory for recordings, which fill a disk: remove deletes it, and so does an interruption, which ends the program.
func Scratch(name string) (dir string, remove func() error, err error) {
	dir, err = os.MkdirTemp("/var/tmp", name)
	if err != nil {
		return "", nil, err
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ended
		os.RemoveAll(dir)
		os.Exit(1)
	}()
	return dir, func() error { return os.RemoveAll(dir) }, nil
}

// Cost is what a run of a program took.
type Cost struct {
	Wall time.Duration
	CPU  time.Duration // of the program and the kernel, on all cores
	// Kernel is the part of CPU in which the kernel worked for the program. It depends on the file system, and on whether a
	// virtual machine had the memory before.
	Kernel time.Duration
	// Peak is the most bytes that it had in memory. It counts what the process had that started it, so that one
	// should be small.
	Peak int64
	// Written is how many bytes went to files on a disk, at least into the kernel's cache of one; by Linux.
	Written int64
}

// Run runs a command. What it writes is part of the error, if it fails; output that goes nowhere else is discarded.
func Run(cmd *exec.Cmd) (Cost, error) {
	var said strings.Builder
	if cmd.Stderr == nil {
		cmd.Stderr = &said
	}
	begun := time.Now()
	if err := cmd.Run(); err != nil {
		return Cost{}, fmt.Errorf("%v: %w\n%s", cmd.Args, err, said.String())
	}
	c := Cost{Wall: time.Since(begun), Kernel: cmd.ProcessState.SystemTime()}
	c.CPU = c.Kernel + cmd.ProcessState.UserTime()
	used := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	c.Peak, c.Written = int64(used.Maxrss), int64(used.Oublock)*512
	if runtime.GOOS != "darwin" {
		c.Peak <<= 10
	}
	return c, nil
}

// Quartiles are of figures in any order.
func Quartiles(v []float64) (middle, low, high float64) {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2], v[len(v)/4], v[len(v)*3/4]
}

// Append appends lines of Go's benchmarks to a file, for benchstat.
func Append(file, lines string) error {
	w, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = w.WriteString(lines)
	return errors.Join(err, w.Close())
}

// Ratios are of runs of two programs in turn: logarithms of what one took beside the other.
type Ratios []float64

// Add takes another pair of runs.
func (r *Ratios) Add(took, beside time.Duration) {
	*r = append(*r, math.Log(float64(took)/float64(beside)))
}

// Percent is how much more the one takes, and between which figures that lies by 95 %.
func (r Ratios) Percent() (middle, least, most float64) {
	n, mean, sum := float64(len(r)), 0.0, 0.0
	for _, x := range r {
		mean += x / n
	}
	for _, x := range r {
		sum += (x - mean) * (x - mean)
	}
	off := 2 * math.Sqrt(sum/(n-1)/n)
	percent := func(log float64) float64 { return 100 * (math.Exp(log) - 1) }
	return percent(mean), percent(mean - off), percent(mean + off)
}
