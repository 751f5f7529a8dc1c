package ingest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"gprof/chunks/session"
	"gprof/fixtures"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// expireOptions are the options with which each case is read.
var expireOptions = []struct {
	name string
	o    Options
}{
	{"default", Options{}},
	{"keep-expired", Options{KeepExpired: true, ExpireCrashed: true, ExpireAfter: time.Second}},
	{"expire-crashed", Options{ExpireCrashed: true}},
	{"expire-after-2m0s", Options{ExpireAfter: 2 * time.Minute}},
}

// Each case is a session, and which of its processes have expired by which
// options. The order of the inputs must not matter.
func TestExpire(t *testing.T) {
	eachCase(t, "expire", func(t *testing.T, session string) []txtar.File {
		var got []txtar.File
		for _, c := range expireOptions {
			data := family(t, c.o, session)
			got = append(got, txtar.File{Name: "expect/" + c.name, Data: data})
			if again := family(t, c.o, backwards(t, session)...); !bytes.Equal(data, again) {
				t.Errorf("%s: inputs in another order give\n%s", c.name, again)
			}
			if want, apart := withoutParents(data), apart(t, c.o, session); apart != want {
				t.Errorf("%s: each process by itself, with the others at hand, gives\n%swant\n%s", c.name, apart, want)
			}
		}
		return got
	})
}

// family converts inputs to a line for each process that is left, with its
// parent and how many events it has, and what the ledger says of the others.
func family(t *testing.T, o Options, inputs ...string) []byte {
	t.Helper()
	found := find(t, inputs, o)
	return familyOf(t, found.Source())
}

func familyOf(t *testing.T, src stream.Source) []byte {
	t.Helper()
	var c stream.Count
	if err := stream.Copy(streamtest.Validate(&c), src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for i, p := range c.Tables.Processes {
		line := fmt.Sprintf("%x", p.Instance)
		if p.Parent != 0 {
			line += fmt.Sprintf(" of %x", c.Tables.Process(p.Parent).Instance)
		}
		rows := c.Sum(func(s stream.Series) bool { return s.Process == stream.ProcessID(i+1) }).Rows
		lines = append(lines, fmt.Sprintf("%s: %d events\n", line, rows))
	}
	slices.Sort(lines)
	return append([]byte(strings.Join(lines, "")), ledgerText(c.Tables, stream.ReasonExpired)...)
}

// apart is what converting each process alone gives, in the order of lines.
func apart(t *testing.T, o Options, session string) string {
	t.Helper()
	var lines []string
	for _, p := range find(t, []string{session}, o).Processes {
		found := find(t, []string{session}, o)
		found.Keep(func(name string) bool { return name == p.Name() }, false)
		lines = append(lines, strings.SplitAfter(withoutParents(familyOf(t, found.Source())), "\n")...)
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// withoutParents are the lines of a family, sorted, without what a process alone does not know.
func withoutParents(family []byte) string {
	lines := strings.SplitAfter(regexp.MustCompile(` of [0-9a-f]+:`).ReplaceAllString(string(family), ":"), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// A process that an exit record expires is not read, so its missing files are
// no loss.
func TestExpiredIsNotRead(t *testing.T) {
	ar, err := txtar.ParseFile("testdata/expire/boundary.txtar")
	if err != nil {
		t.Fatal(err)
	}
	session := t.TempDir()
	if err := fixtures.Build(session, ar); err != nil {
		t.Fatal(err)
	}
	found, err := Find([]string{session}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	for _, child := range []string{"00000000000000b1", "00000000000000b2"} {
		if err := os.Remove(filepath.Join(session, child, "chunk-00000")); err != nil {
			t.Fatal(err)
		}
	}
	var c stream.Count
	if err := stream.Copy(&c, found.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	missed := map[string]stream.Reason{}
	for _, l := range c.Tables.Ledger.Lines() {
		missed[l.Process] = l.Reason
	}
	if missed["00000000000000b1"] != stream.ReasonExpired || missed["00000000000000b2"] != stream.ReasonStale {
		t.Errorf("ledger %+v", c.Tables.Ledger.Lines())
	}
}

// A process that lives does not expire, however long ago it recorded anything.
func TestTheLivingDoNotExpire(t *testing.T) {
	ar, err := txtar.ParseFile("testdata/expire/unclean.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := fixtures.Build(dir, ar); err != nil {
		t.Fatal(err)
	}
	lock, err := session.Lock(filepath.Join(dir, "00000000000000b4"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	got := family(t, Options{ExpireCrashed: true, ExpireAfter: time.Second}, dir)
	if !bytes.Contains(got, []byte("b4 of a1: 1 events\n")) || bytes.Contains(got, []byte("b1 of a1")) {
		t.Errorf("left are\n%s", got)
	}
}
