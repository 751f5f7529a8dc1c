//go:build linux

package main

import (
	"fmt"
	"os"

	"gprof/recorder"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run() error {
	if dir, ok := os.LookupEnv(counterlessVariable); ok {
		return counterlessChild(dir)
	}
	dir, err := os.MkdirTemp("", "gprof-peers-")
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
	fmt.Print(report(append(append(f.timeRows(), samples...), f.byteRows()...)))
	return nil
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
	f := &figures{costs: measure(lines(rec))}
	if err := rec.Stop(); err != nil {
		return nil, err
	}
	f.counterless, f.why = counterless(dir)
	if f.markers, err = markerBytes(); err != nil {
		return nil, err
	}
	f.samples, err = sampleBytes()
	return f, err
}
