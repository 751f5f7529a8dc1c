//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
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
	const dumps = 45
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

// Dumps that are added one by one do not make ever more files: small tasks become one, which takes
// their place. Killed whenever it is about to, it never leaves both, and ends what it had begun when it
// is started again. The whole answers as if all dumps had come at once.
func TestFleetGrows(t *testing.T) {
	const dumps = 21
	in, out, whole := fleetOf(t, dumps), filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "whole")
	count := "SELECT count(*) AS n, count(DISTINCT instance) AS several FROM 'processes/service=shop/**/*.parquet'"
	killed, most := 0, 0
	for i := range dumps {
		add := []string{"batch", filepath.Join(in, fmt.Sprintf("dump-%03d", i)), "-q", "-f", "parquet", "-o", out}
		cmd := exec.Command("gprof-convert", add...)
		ended, isEnded := start(t, cmd), false
		waitFor(t, func() bool {
			select {
			case <-ended:
				isEnded = true
			default:
			}
			return isEnded || len(globbed(t, out, "_gprof/*/aside/*")) > 0
		})
		if !isEnded {
			killed++
			cmd.Process.Kill()
			<-ended
			if len(globbed(t, out, "processes/service=shop/*/*")) == 0 {
				convertIn(t, add...) // it was between both
				continue
			}
			seen, err := judges.DuckDB(t.Context(), out, count)
			if err != nil {
				t.Fatal(err)
			}
			if n := seen[0][0]["several"]; seen[0][0]["n"] != n {
				t.Errorf("killed at dump %d: %v", i, seen)
			}
			convertIn(t, add...)
		}
		most = max(most, len(globbed(t, out, "processes/service=shop/*/*")))
	}
	if files := globbed(t, out, "processes/service=shop/*/*"); killed == 0 || most > 20 || len(files) > 12 || len(globbed(t, out, "_gprof/*/aside/*")) > 0 {
		t.Errorf("killed %d times, at most %d files, %d at last", killed, most, len(files))
	}
	convertIn(t, "batch", in, "-q", "-f", "parquet", "-o", whole)
	askFleet(t, out, dumps)
	names, texts, err := judges.QueriesOf(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"top-functions.sql", "markers-by-percentile.sql"} {
		text := texts[slices.Index(names, query)]
		grown, err1 := judges.DuckDB(t.Context(), out, text)
		once, err2 := judges.DuckDB(t.Context(), whole, text)
		if diff := cmp.Diff(once, grown); diff != "" || err1 != nil || err2 != nil || len(once[0]) == 0 {
			t.Errorf("%s: %v, %v (-at once +grown)\n%s", query, err1, err2, diff)
		}
	}

	// What was committed with many small tasks, as by an older version, becomes few with the next dump.
	apart := filepath.Join(t.TempDir(), "apart")
	last := filepath.Join(in, "dump-000")
	kept := filepath.Join(t.TempDir(), "dump-000")
	if err := os.Rename(last, kept); err != nil {
		t.Fatal(err)
	}
	convertIn(t, "batch", in, "-q", "-f", "parquet", "-o", apart, "--task-size", "1")
	if n := len(globbed(t, apart, "processes/service=shop/*/*")); n != dumps-1 {
		t.Errorf("%d tasks of %d dumps", n, dumps-1)
	}
	if err := os.Rename(kept, last); err != nil {
		t.Fatal(err)
	}
	convertIn(t, "batch", in, "-q", "-f", "parquet", "-o", apart)
	if diff := cmp.Diff(tablesOf(t, whole), tablesOf(t, apart)); diff != "" {
		t.Errorf("(-at once +apart before)\n%s", diff)
	}
}

// tablesOf are the files of a data set, without what says how it came about.
func tablesOf(t *testing.T, dir string) map[string]string {
	files := treeOf(t, dir)
	for name := range files {
		if strings.HasPrefix(filepath.ToSlash(name), "/_gprof/") {
			delete(files, name)
		}
	}
	return files
}

// globbed are the files below a directory that have such names.
func globbed(t *testing.T, dir, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
	if err != nil {
		t.Fatal(err)
	}
	return names
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
