package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/cmd/internal/batch"
	"gprof/fixtures"
	"gprof/fixtures/judges"
)

// convertIn runs the program, which must do all that it is asked.
func convertIn(t *testing.T, args ...string) (stderr string) {
	t.Helper()
	var said bytes.Buffer
	if code := run(args, strings.NewReader(""), &said, &said); code != 0 {
		t.Fatalf("gprof-convert %s: exit code %d\n%s", strings.Join(args, " "), code, said.String())
	}
	return said.String()
}

// live is a recording that goes on between snapshots, whose ring is short.
type live struct {
	t       *testing.T
	r       *fixtures.Recording
	session string
	written int
}

func newLive(t *testing.T) *live {
	t.Helper()
	l := &live{t: t, session: filepath.Join(t.TempDir(), "shop")}
	var err error
	if l.r, err = fixtures.New(l.session, fixtures.Options{Instance: 7, Limit: 4 << 16}); err != nil {
		t.Fatal(err)
	}
	l.check(l.r.Define(`def-event id=1 category=0 name="order" display=3 chart="" tooltip="" table=""`,
		`def-field event=1 position=0 name="n" label="" wire=0 format=0 privacy=0 flags=0`))
	return l
}

func (l *live) check(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// write adds markers, which count on.
func (l *live) write(n int) {
	l.t.Helper()
	for range n {
		l.check(l.r.Lines(fmt.Sprintf("instant event=1 stack=0 time=+1000 args=(%d)", l.written)))
		l.written++
	}
	l.check(l.r.Maintain())
}

// orders are the markers in tables, each with how often it is there.
func orders(t *testing.T, tables string) map[string]string {
	t.Helper()
	answers, err := judges.DuckDB(t.Context(), t.TempDir(), `SELECT n, count(*) AS count FROM '`+tables+`/typed_markers/**/*.parquet' WHERE n IS NOT NULL GROUP BY n`)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]string{}
	for _, row := range answers[0] {
		counts[fmt.Sprint(row["n"])] = fmt.Sprint(row["count"])
	}
	return counts
}

// once are markers each of which is there once.
func once(from, to int) map[string]string {
	counts := map[string]string{}
	for i := range to - from {
		counts[fmt.Sprint(from+i)] = "1"
	}
	return counts
}

// Packs of a running process overlap. The tables of a batch have each of its
// events once, also those that only an earlier pack has. If a pack goes away,
// events that others have as well stay.
func TestOverlap(t *testing.T) {
	t.Parallel()
	l, dir := newLive(t), t.TempDir()
	in, out, alone, rest := filepath.Join(dir, "in"), filepath.Join(dir, "out"), filepath.Join(dir, "alone"), filepath.Join(dir, "rest")
	for _, name := range []string{in, alone, rest} {
		l.check(os.Mkdir(name, 0o700))
	}
	for i, n := range []int{20_000, 14_000, 500} {
		l.write(n)
		convertIn(t, "pack", l.session, "-o", filepath.Join(in, fmt.Sprintf("%d.gprof", i)))
	}
	for i := range 3 {
		pack := filepath.Join(in, fmt.Sprintf("%d.gprof", i))
		convertIn(t, pack, "-q", "-o", "parquet="+filepath.Join(alone, fmt.Sprint(i)))
	}
	again := orders(t, alone+"/*")
	if again["0"] != "1" {
		t.Fatal("the later packs still have the first event")
	}
	maps.DeleteFunc(again, func(_, count string) bool { return count == "1" })
	if len(again) < 100 {
		t.Fatalf("%d events are in several packs: they do not overlap", len(again))
	}
	convertIn(t, "batch", in, "-q", "-f", "parquet", "-o", out)
	if diff := cmp.Diff(once(0, l.written), orders(t, out)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}

	// Any number of jobs writes the same.
	convertIn(t, "batch", in, "-q", "-f", "parquet", "-o", out+"4", "--jobs", "4")
	if diff := cmp.Diff(treeOf(t, out), treeOf(t, out+"4")); diff != "" {
		t.Errorf("with 4 jobs: %s", diff)
	}

	// A snapshot that comes later adds what is new; again, nothing.
	l.write(700)
	convertIn(t, "pack", l.session, "-o", filepath.Join(in, "3.gprof"))
	if said := convertIn(t, "batch", in, "-f", "parquet", "-o", out); !strings.Contains(said, "4 of 4 converted") { // all are of one process
		t.Error(said)
	}
	if said := convertIn(t, "batch", in, "-f", "parquet", "-o", out); !strings.Contains(said, "0 of 4 converted") {
		t.Error(said)
	}
	if diff := cmp.Diff(once(0, l.written), orders(t, out)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}

	// Rows of an input that is gone go, too, and come again from other inputs that
	// have them.
	l.check(os.Remove(filepath.Join(in, "1.gprof")))
	convertIn(t, "batch", in, "-q", "-f", "parquet", "-o", out)
	convertIn(t, filepath.Join(in, "0.gprof"), filepath.Join(in, "2.gprof"), filepath.Join(in, "3.gprof"), "-q", "-o", "parquet="+filepath.Join(rest, "all"))
	if diff := cmp.Diff(orders(t, rest+"/all"), orders(t, out)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// treeOf are the files below a directory, without the journal, which says when
// they were made.
func treeOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == batch.JournalName {
			return err
		}
		text, err := os.ReadFile(path)
		sum := sha256.Sum256(text)
		files[strings.TrimPrefix(path, dir)] = hex.EncodeToString(sum[:])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
