package parquet

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/fixtures/judges"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// filesOf lists the tables' files below a directory.
func filesOf(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".parquet") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// ask lets DuckDB answer queries about a directory.
func ask(t *testing.T, dir string, queries ...string) [][]judges.Row {
	t.Helper()
	answers, err := judges.DuckDB(t.Context(), dir, queries...)
	if err != nil {
		t.Fatal(err)
	}
	return answers
}

// number is an integer of an answer.
func number(t *testing.T, v any) int64 {
	t.Helper()
	switch v := v.(type) {
	case string:
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			return n
		}
	case float64:
		return int64(v)
	case nil:
		return 0
	}
	t.Fatalf("%v (%T) is no integer", v, v)
	return 0
}

// tableOf is the table of a file.
func tableOf(dir, file string) string {
	rel, _ := filepath.Rel(dir, file)
	return strings.Split(filepath.ToSlash(rel), "/")[0]
}

// eventTableOf are the tables of events.
var eventTableOf = map[stream.Kind]string{
	stream.Samples: "samples", stream.Markers: "markers", stream.Delays: "delays", stream.Allocations: "allocations", stream.Waits: "waits", stream.Measurements: "measurements", stream.Counts: "counters",
	stream.Pauses: "pauses", stream.Overheads: "overheads", stream.Logs: "logs", stream.Pages: "pages",
}

// All cases, read by DuckDB and by a strict reader: each table is there, both
// see the same rows, and those of events are as many as were written.
func TestReadersSeeCases(t *testing.T) {
	t.Parallel()
	var dirs, files, queries []string
	var counts []*stream.Count
	for _, c := range streamtest.Cases {
		b := streamtest.NewBuilder()
		c.Build(b)
		dir, count := convert(t, b.Source())
		dirs, counts, files = append(dirs, dir), append(counts, count), append(files, filesOf(t, dir)...)
		for _, table := range allTables { // a hash of rows needs all columns
			queries = append(queries, fmt.Sprintf(`SELECT count(*) AS n, bit_xor(hash(t)) FROM '%s/%s/**/*.parquet' t`, dir, table))
		}
	}
	strict, err := judges.Hyparquet(t.Context(), files...)
	if err != nil {
		t.Fatal(err)
	}
	answers := ask(t, t.TempDir(), queries...)
	for i, dir := range dirs {
		name := streamtest.Cases[i].Name
		rows := map[string]int64{}
		for k, file := range files {
			if strings.HasPrefix(file, dir+string(filepath.Separator)) {
				rows[tableOf(dir, file)] += int64(len(strict[k]))
			}
		}
		for k, table := range allTables {
			if n := number(t, answers[i*len(allTables)+k][0]["n"]); n != rows[table] {
				t.Errorf("%s: %s: DuckDB sees %d rows, hyparquet %d", name, table, n, rows[table])
			}
		}
		if typed := rows["typed_markers"]; typed > rows["markers"] {
			t.Errorf("%s: %d typed markers of %d", name, typed, rows["markers"])
		}
		delete(rows, "typed_markers")
		if len(rows) != len(allTables) {
			t.Errorf("%s: tables %v, want %v", name, rows, allTables)
		}
		for kind, table := range eventTableOf {
			want := counts[i].Sum(func(s stream.Series) bool { return s.Kind == kind }).Rows
			if rows[table] != want {
				t.Errorf("%s: %s has %d rows, want %d", name, table, rows[table], want)
			}
		}
	}
}

var allTables = []string{"allocations", "attributes", "clocks", "counters", "coverage", "delays", "events", "frames", "logs", "losses", "markers",
	"measurements", "overheads", "pages", "pauses", "processes", "samples", "stacks", "strings", "tracks", "waits"}

// Every query that is delivered runs, on whatever there is.
func TestQueriesRun(t *testing.T) {
	t.Parallel()
	for _, c := range streamtest.Cases {
		if !slices.Contains([]string{"empty", "all kinds", "same names"}, c.Name) {
			continue
		}
		b := streamtest.NewBuilder()
		c.Build(b)
		dir, _ := convert(t, b.Source())
		_, texts, err := judges.QueriesOf(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := judges.DuckDB(t.Context(), dir, texts...); err != nil {
			t.Errorf("%q: %v", c.Name, err)
		}
	}
}

// query is one that lies beside the tables.
func query(t *testing.T, dir, name string) string {
	t.Helper()
	names, texts, err := judges.QueriesOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	return texts[slices.Index(names, name)]
}

// The queries of docs/sql.md run on tables of the demo.
func TestDocs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/sql.md")
	if err != nil {
		t.Fatal(err)
	}
	b := streamtest.NewBuilder()
	front := b.Process(stream.Process{Instance: 1, Pid: 1, Service: "demo", Start: begin})
	b.Process(stream.Process{Instance: 2, Pid: 7, Service: "demo-worker", Start: begin, Exit: stream.Exit{Known: true, Reason: "found dead"}})
	forward := b.Event(stream.Event{Name: "forward", Fields: []stream.EventField{{Name: "package", Type: stream.Text}, {Name: "worker", Type: stream.Int}}})
	front.Main.Interval(begin, 5_000_000, forward, "net", 7)
	dir, _ := convert(t, b.Source())
	queries := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(queries) == 0 {
		t.Fatal("docs/sql.md has no query")
	}
	want := []judges.Row{{"worker": "7", "ended": "found dead", "requests": "1", "p99_ms": 5.0, "last": "2026-11-18 11:06:40.000000123"}}
	if diff := cmp.Diff(want, ask(t, dir, queries[0][1])[0]); diff != "" {
		t.Error(diff)
	}
}
