//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"gprof/recorder"
)

// phases prints what CPU time and memory this process, which does nothing else, takes for each
// phase of a recording.
func phases() error {
	dir, err := os.MkdirTemp("/dev/shm", "gprof-whole-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Print("| phase | elapsed | CPU time | RSS then, beside that before Start |\n|---|--:|--:|--:|\n")
	before := resident()
	var rec *recorder.Recorder
	for _, phase := range []struct {
		name string
		do   func() error
	}{
		{"Start", func() (err error) {
			rec, err = recorder.Start(recorder.Options{Service: "phases", Dir: filepath.Join(dir, "sessions")})
			return err
		}},
		{"the first second", func() error { time.Sleep(time.Second); return nil }},
		{"15 seconds more", func() error { time.Sleep(15 * time.Second); return nil }},
		{"Pause, and a second", func() error { rec.Pause(); time.Sleep(time.Second); rec.Resume(); return nil }},
		{"Snapshot of 10 s", func() error { _, err := rec.Snapshot(filepath.Join(dir, "snapshot"), 10*time.Second); return err }},
		{"the second after it", func() error { time.Sleep(time.Second); return nil }},
		{"Stop", func() error { return rec.Stop() }},
	} {
		start, cpu := time.Now(), cpuTime()
		if err := phase.do(); err != nil {
			return fmt.Errorf("%s: %w", phase.name, err)
		}
		fmt.Printf("| %s | %.1f ms | %.1f ms | %+.1f MB |\n", phase.name, ms(time.Since(start)), ms(cpuTime()-cpu), float64(resident()-before)/1e6)
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }

// resident is what the process has in memory, in bytes.
func resident() (n int64) {
	text, err := os.ReadFile("/proc/self/statm")
	if err == nil {
		_, err = fmt.Sscanf(string(text), "%d %d", new(int64), &n)
	}
	if err != nil {
		panic("internal error: " + err.Error())
	}
	return n * int64(os.Getpagesize())
}
