//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/fixtures/corpus"
	"gprof/fixtures/judges"
)

// fleetOf makes dumps of one process each, of three versions, in a directory each.
func fleetOf(t *testing.T, dumps int) (in string) {
	t.Helper()
	in = t.TempDir()
	all := filepath.Join(t.TempDir(), "all")
	if _, err := corpus.Write(all, corpus.Options{Processes: dumps, Samples: 40 * dumps, Markers: 500, Versions: 3, Stacks: 50, Threads: 2, Writers: 1, ChunkFile: 1 << 16}); err != nil {
		t.Fatal(err)
	}
	processes, err := os.ReadDir(all)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range processes {
		session := filepath.Join(in, fmt.Sprintf("dump-%03d", i))
		if err := os.Mkdir(session, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(all, p.Name()), filepath.Join(session, p.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return in
}

// The dumps of a fleet are one data set, also if the batch was interrupted and
// killed in between, and every query that is delivered is about all of them.
func TestFleet(t *testing.T) {
	const dumps = 90
	in, out, whole := fleetOf(t, dumps), t.TempDir(), filepath.Join(t.TempDir(), "whole")
	sessions := func() int {
		names, err := filepath.Glob(filepath.Join(out, "coverage", "service=shop", "*", "*.parquet"))
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	for _, sig := range []os.Signal{os.Interrupt, os.Kill} {
		begun := sessions()
		cmd := exec.Command("gprof-convert", "batch", in, "-f", "parquet", "-o", out, "--jobs", "1", "--task-size", "1")
		ended := start(t, cmd)
		waitFor(t, func() bool { return sessions() > begun })
		cmd.Process.Signal(sig)
		if err := <-ended; err == nil {
			t.Fatalf("%v came too late", sig)
		}
	}
	if n := sessions(); n == dumps {
		t.Fatal("all were done before the signals came")
	}
	for _, dir := range []string{out, whole} {
		convertIn(t, "batch", in, "-q", "-f", "parquet", "-o", dir, "--task-size", "1")
	}
	if diff := cmp.Diff(treeOf(t, whole), treeOf(t, out)); diff != "" {
		t.Errorf("(-at once +interrupted)\n%s", diff)
	}
	askFleet(t, out, dumps)
}

// askFleet runs the queries that lie in a data set.
func askFleet(t *testing.T, dir string, dumps int) {
	t.Helper()
	names, texts, err := judges.QueriesOf(dir)
	if err != nil || len(names) < 10 {
		t.Fatal(names, err)
	}
	answers, err := judges.DuckDB(t.Context(), dir, texts...)
	if err != nil {
		t.Fatal(err)
	}
	byVersion := answers[slices.Index(names, "p99-by-version.sql")]
	p99 := 0.0
	for i, row := range byVersion {
		if row["version"] != fmt.Sprint("1.", i) || row["processes"] != fmt.Sprint(dumps/3) || row["p99_ms"].(float64) <= p99 {
			t.Errorf("version %d: %v, of a version that is slower than the one before", i, row)
		}
		p99 = row["p99_ms"].(float64)
	}
	if len(byVersion) != 3 {
		t.Errorf("%d versions", len(byVersion))
	}
}
