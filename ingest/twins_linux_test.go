//go:build (amd64 || arm64) && !gprof_portable

package ingest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"gprof/recorder"
	"gprof/recorder/attach"
	"gprof/stream"
	"gprof/stream/filter"
)

// A program that records itself and is sampled from outside meanwhile is known as one
// process. Sums take the samples of its own recording; both are there, and the ledger
// says so.
func TestSampledTwice(t *testing.T) {
	dir := t.TempDir()
	rec, err := recorder.Start(recorder.Options{Dir: dir, Service: "s", Limit: 4 << 20, CounterHz: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Stop()
	sampler, err := attach.Start([]int{os.Getpid()}, attach.Options{Session: filepath.Join(dir, "s"), NoOffCPU: true})
	var refusal *attach.Refusal
	if errors.As(err, &refusal) {
		t.Logf("%v: not tried", err)
		return
	} else if err != nil {
		t.Fatal(err)
	}
	for n := range 200_000_000 {
		spun += n
	}
	if _, err := sampler.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := rec.Stop(); err != nil {
		t.Fatal(err)
	}
	src, _, err := Open([]string{filepath.Join(dir, "s")}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var all, once stream.Count
	if err := stream.Copy(stream.Tee(&all, filter.WithoutTwins(&once)), src, stream.CopyOptions{SpillDir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	processes := all.Tables.Processes
	if len(processes) != 2 || processes[0].Twin != 0 || processes[1].Twin != processes[0].Instance {
		t.Fatalf("processes %+v, want the second to be the first one's twin", processes)
	}
	if own, outside := samplesOf(&all, 1), samplesOf(&all, 2); own == 0 || outside == 0 || samplesOf(&once, 1) != own || samplesOf(&once, 2) > outside/10 {
		t.Errorf("samples: %d and %d from outside, counted once %d and %d", own, outside, samplesOf(&once, 1), samplesOf(&once, 2))
	}
	found := false
	for _, l := range all.Tables.Ledger.Lines() {
		found = found || l.Reason == stream.ReasonTwin
	}
	if !found {
		t.Error("the ledger does not say so")
	}
}

func samplesOf(c *stream.Count, p stream.ProcessID) (n int64) {
	for _, s := range c.Series {
		if s.Process == p && s.Kind == stream.Samples {
			n += s.Samples
		}
	}
	return n
}
