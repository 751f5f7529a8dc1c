//go:build linux

// Instructions counts, by qemu, what a marker executes on arm64, and what a call of [log.Logger] does: without a machine
// of that kind there is no time to measure.
//
//	go -C bench run ./instructions
//
// It needs a C compiler and qemu-user.
package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"gprof/recorder"
)

//go:embed qemu/count.c
var plugin []byte

var (
	one = recorder.NewEvent("one")
	two = recorder.NewEvent2("two", recorder.Int("count"), recorder.Bytes("size"))
)

// lines are what is counted, n times.
var lines = []struct {
	name string
	run  func(n int)
}{
	{"time.Now", func(n int) {
		for range n {
			runtime.KeepAlive(time.Now())
		}
	}},
	{"marker", func(n int) {
		for range n {
			one.Mark()
		}
	}},
	{"marker, two fields", func(n int) {
		for i := range n {
			two.Mark(i&127, 77)
		}
	}},
	{"interval, two fields", func(n int) {
		for i := range n {
			two.Begin(i&127, 77).End()
		}
	}},
	{"log.Printf, two numbers, to nowhere", func(n int) {
		l := log.New(io.Discard, "", log.LstdFlags)
		l.SetOutput(unnoticed{}) // else it formats nothing
		for i := range n {
			l.Printf("two %d %d", i&127, 77)
		}
	}},
}

type unnoticed struct{}

func (unnoticed) Write(p []byte) (int, error) { return len(p), nil }

func main() {
	var err error
	if len(os.Args) == 3 {
		err = work(os.Args[1], os.Args[2])
	} else {
		err = table()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "instructions:", err)
		os.Exit(1)
	}
}

// work is the counted program: a line, so many times.
func work(line, times string) error {
	n, err := strconv.Atoi(times)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "instructions")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	rec, err := recorder.Start(recorder.Options{Dir: dir, Service: "s", Limit: 16 << 20, CPU: recorder.CPUOff, CounterHz: -1})
	if err != nil {
		return err
	}
	for _, l := range lines {
		if l.name == line {
			l.run(n)
		}
	}
	return rec.Stop()
}

// table prints the instructions of all lines.
func table() error {
	dir, err := os.MkdirTemp("", "instructions")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	source, counter := filepath.Join(dir, "count.c"), filepath.Join(dir, "count.so")
	if err := os.WriteFile(source, plugin, 0o600); err != nil {
		return err
	}
	if err := run(exec.Command("cc", "-shared", "-fPIC", "-O2", "-o", counter, source)); err != nil {
		return err
	}
	program := filepath.Join(dir, "program")
	build := exec.Command("go", "build", "-o", program, "gprof/bench/instructions")
	build.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
	if err := run(build); err != nil {
		return err
	}
	fmt.Println("| what | instructions |\n|---|--:|")
	for _, l := range lines {
		each, err := count(counter, program, l.name)
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %.0f |\n", l.name, each)
	}
	return nil
}

// count is how many instructions a line takes each time. What else the program does is the same for any
// number of times.
func count(plugin, program, line string) (float64, error) {
	const few, many = 200_000, 1_200_000
	var counts [2]float64
	for i, times := range [...]int{few, many} {
		cmd := exec.Command("qemu-aarch64", "-plugin", plugin, "-d", "plugin", program, line, strconv.Itoa(times))
		var told bytes.Buffer
		cmd.Stderr = &told
		if err := cmd.Run(); err != nil {
			return 0, fmt.Errorf("%v: %w\n%s", cmd.Args, err, told.Bytes())
		}
		if _, err := fmt.Fscanf(&told, "instructions %g", &counts[i]); err != nil {
			return 0, err
		}
	}
	return (counts[1] - counts[0]) / (many - few), nil
}

// run adds what a command says to its error.
func run(cmd *exec.Cmd) error {
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", cmd.Args, err, said)
	}
	return nil
}
