//go:build linux

package main

import (
	"flag"
	"fmt"
	"os"

	"gprof/recorder"
)

func main() {
	file := flag.String("benchstat", "", "also append the figures to this file, to compare by benchstat")
	flag.Parse()
	if err := run(*file); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(benchstat string) error {
	if dir, ok := os.LookupEnv(counterlessVariable); ok {
		return counterlessChild(dir)
	}
	dir, err := os.MkdirTemp(place(), "gprof-peers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	f, err := gather(dir)
	if err != nil {
		return err
	}
	samples, err := sampleRows()
	if err != nil {
		return err
	}
	fmt.Print(report(append(append(f.timeRows(), samples...), f.byteRows()...)), f.note())
	if benchstat == "" {
		return nil
	}
	return f.appendTo(benchstat)
}

// place is shared memory where there is any, as it is the recorder's: on a disk, a page
// that was written back faults when it is written to again.
func place() string {
	const memory = "/dev/shm"
	if info, err := os.Stat(memory); err != nil || !info.IsDir() {
		return "" // the default
	}
	return memory
}

// options are those of a recorder that is measured.
func options(dir string) recorder.Options {
	return recorder.Options{Dir: dir, Service: "s", Limit: 16 << 20, CPU: recorder.CPUOff, CounterHz: -1}
}

// gather measures all but CPU samples.
func gather(dir string) (*figures, error) {
	rec, err := recorder.Start(options(dir))
	if err != nil {
		return nil, err
	}
	m := measure(lines(rec))
	f := &figures{costs: m.Costs, rounds: m.Rounds}
	if err := rec.Stop(); err != nil {
		return nil, err
	}
	other, err := counterless(dir)
	f.counterless, f.why = other.Costs, err
	f.rounds.add(other.Rounds)
	if f.markers, err = markerBytes(); err != nil {
		return nil, err
	}
	f.samples, err = sampleBytes()
	return f, err
}
