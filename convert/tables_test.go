package convert

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/convert/internal/tables"
	"gprof/fixtures/judges"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// inBoth writes the events of a case as Parquet and as Arrow.
func inBoth(t *testing.T, c streamtest.Case, o Options) (parquet, arrow string) {
	t.Helper()
	dirs := [2]string{}
	for i, name := range []string{"parquet", "arrow"} {
		f, _, err := ByFormat(name)
		if err != nil {
			t.Fatal(err)
		}
		b := streamtest.NewBuilder()
		c.Build(b)
		dirs[i] = t.TempDir()
		if err := stream.Copy(f.NewIn(streamtest.OnDisk(dirs[i]), o), b.Source(), stream.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return dirs[0], dirs[1]
}

// tableFiles lists the files of tables below a directory.
func tableFiles(t *testing.T, dir, extension string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, extension) {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// rowsOf are the different rows of each table, as text, sorted. Sessions are named
// by what is in a file, which is not the same in both formats.
func rowsOf(t *testing.T, dir string, files []string, answers [][]judges.Row) map[string][]string {
	t.Helper()
	rows := map[string][]string{}
	for i, file := range files {
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			t.Fatal(err)
		}
		table, _, _ := strings.Cut(strings.TrimSuffix(filepath.ToSlash(rel), ".arrow"), "/")
		for _, row := range answers[i] {
			delete(row, "session")
			if table == "losses" {
				delete(row, "count") // what is there twice is counted twice
			}
			if row["frames"] == nil {
				delete(row, "frames") // hyparquet leaves out a list that is NULL
			}
			text, err := json.Marshal(row)
			if err != nil {
				t.Fatal(err)
			}
			rows[table] = append(rows[table], string(text))
		}
	}
	for table, list := range rows {
		slices.Sort(list)
		rows[table] = slices.Compact(list) // Parquet has events and code once for each service and day
	}
	return rows
}

// Outside readers see the same rows in both formats, however they are compressed.
func TestSameTables(t *testing.T) {
	t.Parallel()
	type pair struct {
		name  string
		dirs  [2]string
		files [2][]string
	}
	var pairs []pair
	var all [2][]string
	for i, c := range streamtest.Cases {
		compression := []Compression{tables.Zstd, tables.LZ4, tables.None}[i%3] // in turn: none looks at what it compresses, and arrow's own test has another
		p := pair{name: fmt.Sprint(c.Name, " ", compression)}
		p.dirs[0], p.dirs[1] = inBoth(t, c, Options{Compression: compression})
		for f, extension := range []string{".parquet", ".arrow"} {
			p.files[f] = tableFiles(t, p.dirs[f], extension)
			all[f] = append(all[f], p.files[f]...)
		}
		pairs = append(pairs, p)
	}
	var answers [2][][]judges.Row
	var err [2]error
	answers[0], err[0] = judges.Hyparquet(t.Context(), all[0]...)
	answers[1], err[1] = judges.Arrow(t.Context(), all[1]...)
	if err[0] != nil || err[1] != nil {
		t.Fatal(err)
	}
	for _, p := range pairs {
		var rows [2]map[string][]string
		for f := range rows {
			n := len(p.files[f])
			rows[f] = rowsOf(t, p.dirs[f], p.files[f], answers[f][:n])
			answers[f] = answers[f][n:]
		}
		if diff := cmp.Diff(rows[0], rows[1]); diff != "" {
			t.Errorf("%s (-parquet +arrow):\n%s", p.name, diff)
		}
	}
}

// Every query that is delivered gives the same answer on both formats.
func TestQueriesOfBoth(t *testing.T) {
	t.Parallel()
	i := slices.IndexFunc(streamtest.Cases, func(c streamtest.Case) bool { return c.Name == "all kinds" })
	dirs := [2]string{}
	dirs[0], dirs[1] = inBoth(t, streamtest.Cases[i], Options{})
	var texts [2][]string
	for f, dir := range dirs {
		var err error
		if _, texts[f], err = judges.QueriesOf(dir); err != nil || len(texts[f]) < 10 {
			t.Fatal(len(texts[f]), err)
		}
	}
	parquet, err := judges.DuckDB(t.Context(), dirs[0], texts[0]...)
	if err != nil {
		t.Fatal(err)
	}
	arrow, err := judges.DuckDBArrow(t.Context(), dirs[1], texts[1]...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range parquet {
		if diff := cmp.Diff(asText(parquet[i]), asText(arrow[i])); diff != "" {
			t.Errorf("%s\n(-on Parquet +on Arrow)\n%s", texts[0][i], diff)
		}
	}
}

// asText are rows whose numbers are texts: the two ways to DuckDB have different
// types for them. Sessions have different names.
func asText(rows []judges.Row) (all []map[string]string) {
	for _, row := range rows {
		texts := map[string]string{}
		for column, v := range row {
			texts[column] = fmt.Sprint(v)
		}
		all = append(all, texts)
	}
	return all
}

// No event's file has a name that is hidden: shells' patterns and readers of
// directories pass over those.
func TestEventFilesAreSeen(t *testing.T) {
	names := []string{".net", "_gc", ".", ".."}
	_, dir := inBoth(t, streamtest.Case{Build: func(b *streamtest.Builder) {
		p := b.Process(stream.Process{Name: "shop", Pid: 1})
		for _, name := range names {
			p.Main.Interval(1, 1, b.Event(stream.Event{Name: name, Fields: []stream.EventField{{Name: "n", Type: stream.Int}}}), 1)
		}
	}}, Options{})
	files := tableFiles(t, filepath.Join(dir, "typed_markers"), ".arrow")
	for _, file := range files {
		if strings.ContainsAny(filepath.Base(file)[:1], "._") {
			t.Errorf("%s is hidden", file)
		}
	}
	if len(files) != len(names) {
		t.Errorf("%q, want one of each of %q", files, names)
	}
}

// A code is known of processes that exited or were killed, and else NULL: 0 would
// be taken for success.
func TestExitCodes(t *testing.T) {
	dir, _ := inBoth(t, streamtest.Case{Build: func(b *streamtest.Builder) {
		for i, e := range []stream.Exit{{}, {Known: true, Reason: "found dead"}, {Known: true, Reason: stream.Exited}, {Known: true, Reason: "killed", Code: 9}} {
			b.Process(stream.Process{Instance: uint64(i + 1), Name: "shop", Pid: i + 1, Exit: e})
		}
	}}, Options{})
	answers, err := judges.Hyparquet(t.Context(), tableFiles(t, filepath.Join(dir, "processes"), ".parquet")...)
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]any{}
	for _, row := range slices.Concat(answers...) {
		codes[fmt.Sprint(row["instance"])] = row["exit_code"]
	}
	want := map[string]any{"0000000000000001": nil, "0000000000000002": nil, "0000000000000003": "0", "0000000000000004": "9"}
	if diff := cmp.Diff(want, codes); diff != "" {
		t.Error(diff)
	}
}
