//go:build (amd64 || arm64) && !gprof_portable

package ingest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gprof/recorder"
	"gprof/recorder/attach"
	"gprof/stream"
	"gprof/stream/filter"
)

// A program that records itself and is sampled from outside meanwhile is known as one
// process. Sums take the samples and waits of its own recording; both are there, and the
// ledger says so.
func TestSampledTwice(t *testing.T) {
	dir := t.TempDir()
	rec, err := recorder.Start(recorder.Options{Dir: dir, Service: "s", Limit: 4 << 20, CounterHz: -1, WaitHz: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Stop()
	sampler, err := attach.Start([]int{os.Getpid()}, attach.Options{Session: filepath.Join(dir, "s")})
	var refusal *attach.Refusal
	if errors.As(err, &refusal) {
		t.Logf("%v: not tried", err)
		return
	} else if err != nil {
		t.Fatal(err)
	}
	attached := stream.Time(time.Now().UnixNano())
	waiting := make(chan struct{})
	defer close(waiting)
	go func() { <-waiting }()
	for begun := time.Now(); time.Since(begun) < time.Second/2; { // a recording tells the time now and then
		for n := range 1_000_000 {
			spun += n
		}
	}
	if _, err := sampler.Stop(); err != nil {
		t.Fatal(err)
	}
	src, _, err := Open([]string{filepath.Join(dir, "s")}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if p := src.Tables().Processes; len(p) != 2 || p[1].Twin != p[0].Instance {
		t.Errorf("while the first still records: processes %+v, want the second to be its twin", p)
	}
	if err := rec.Stop(); err != nil {
		t.Fatal(err)
	}
	if src, _, err = Open([]string{filepath.Join(dir, "s")}, Options{}); err != nil {
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
	if start := processes[1].Start; start > attached {
		t.Errorf("what was sampled from outside begins %v after that was", time.Duration(start-attached))
	}
	for _, kind := range []stream.Kind{stream.Samples, stream.Waits} {
		own, outside := rowsOf(&all, 1, kind), rowsOf(&all, 2, kind)
		ownOnce, outsideOnce := rowsOf(&once, 1, kind), rowsOf(&once, 2, kind)
		if own == 0 || outside == 0 || ownOnce != own || outsideOnce > outside/10 {
			t.Errorf("%v: %d rows and %d from outside, counted once %d and %d", kind, own, outside, ownOnce, outsideOnce)
		}
	}
	found := false
	for _, l := range all.Tables.Ledger.Lines() {
		found = found || l.Reason == stream.ReasonTwin
	}
	if !found {
		t.Error("the ledger does not say so")
	}
}

func rowsOf(c *stream.Count, p stream.ProcessID, kind stream.Kind) (n int64) {
	for _, s := range c.Series {
		if s.Process == p && s.Kind == kind {
			n += s.Rows
		}
	}
	return n
}
