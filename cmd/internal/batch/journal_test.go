package batch

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gprof/cmd/internal/input"
	"gprof/cmd/internal/output"
)

// reopen opens the journal of a directory and closes it again.
func reopen(t *testing.T, dir string) *journal {
	t.Helper()
	j, err := openJournal(&output.Set{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	return j
}

// Any file is read as far as it is valid, and the same is found when it is opened again.
func FuzzJournal(f *testing.F) {
	whole := `{"input":"a","output":"a.json","fingerprint":"f","settings":"s","size":1,"reasons":["gap"],"incomplete":0}` + "\n"
	for _, text := range []string{"", whole, whole + whole[:50], strings.ReplaceAll(whole, "\n", "\r\n") + whole, "null\n[]\n{}\n", "\x00\xff", strings.Repeat("{", 1000)} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, JournalName), text, 0o600); err != nil {
			t.Fatal(err)
		}
		first, second := reopen(t, dir), reopen(t, dir)
		if !maps.EqualFunc(first.done, second.done, func(a, b outcome) bool { return reflect.DeepEqual(a, b) }) {
			t.Errorf("%q is read as %v, then as %v", text, first.done, second.done)
		}
	})
}

func TestJournal(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.json"), []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := openJournal(&output.Set{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	old := outcome{Input: "a", Output: "a.json", Fingerprint: "old", Settings: "s", Size: 5}
	now := outcome{Input: "a", Output: "a.json", Fingerprint: "new", Settings: "s", Size: 5, Reasons: []string{"gap"}}
	for _, o := range []outcome{old, now} {
		if err := j.add(o); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	j = reopen(t, dir)
	if got, ok := j.unchanged(now); !ok || !reflect.DeepEqual(got, now) {
		t.Errorf("%+v, %v; want %+v", got, ok, now)
	}
	for _, change := range []func(*outcome){
		func(o *outcome) { o.Input = "b" }, func(o *outcome) { o.Output = "a.svg" },
		func(o *outcome) { o.Fingerprint = "old" }, func(o *outcome) { o.Settings = "t" },
	} {
		other := now
		change(&other)
		if _, ok := j.unchanged(other); ok {
			t.Errorf("%v is as before", other)
		}
	}
	if err := os.Truncate(filepath.Join(dir, "a.json"), 4); err != nil {
		t.Fatal(err)
	}
	if _, ok := j.unchanged(now); ok {
		t.Error("an output that was cut is as before")
	}
}

// A forged journal names nothing outside of the directory.
func TestJournalStaysBelow(t *testing.T) {
	dir := t.TempDir()
	lines := ""
	for _, output := range []string{"../a.json", "/a.json", "", "a/../../b", "good.json"} {
		lines += fmt.Sprintf(`{"output":%q,"fingerprint":"f"}`, output) + "\n"
	}
	for _, file := range []string{"../a.parquet", "/a.parquet", "", "good.parquet"} {
		lines += fmt.Sprintf(`{"output":"tables","dataset":true,"input":%q,"files":["b.parquet",%q]}`, file, file) + "\n"
	}
	if err := os.WriteFile(filepath.Join(dir, JournalName), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	var inputs []string
	for _, o := range reopen(t, dir).done {
		inputs = append(inputs, o.Output+" "+o.Input)
	}
	slices.Sort(inputs)
	if want := []string{"good.json ", "tables good.parquet"}; !slices.Equal(inputs, want) {
		t.Errorf("%q, want %q", inputs, want)
	}
}

func TestJournalTriesAgain(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for reason, again := range map[string]bool{"stalled": true, "unreadable": true, "torn": false, "damaged": false} {
		j, err := openJournal(&output.Set{}, dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := j.add(outcome{Input: "a", Output: "a.json", Fingerprint: "f", Incomplete: 1, Reasons: []string{"clock", reason}}); err != nil {
			t.Fatal(err)
		}
		if err := j.close(); err != nil {
			t.Fatal(err)
		}
		if _, done := reopen(t, dir).unchanged(outcome{Input: "a", Output: "a.json", Fingerprint: "f"}); done == again {
			t.Errorf("%s: done is %v", reason, done)
		}
	}
}

func TestFingerprint(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "session", "chunk-00000")
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	all := func(string) bool { return false }
	of := func(skip func(string) bool) string {
		sum, _, err := input.Fingerprint(dir, skip)
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	seen := map[string]string{}
	note := func(state string) {
		sum := of(all)
		if before, ok := seen[sum]; ok {
			t.Errorf("%s looks like %s", state, before)
		}
		seen[sum] = state
	}
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	note("nothing")
	write(name, "header")
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	note("a file")
	write(name, "HEADER")
	if err := os.Chtimes(name, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	note("other bytes of the same time, as in a mapped file")
	if err := os.Rename(name, name+"1"); err != nil {
		t.Fatal(err)
	}
	note("another name")
	before := of(all)
	write(filepath.Join(dir, "output"), "")
	note("another file")
	if err := os.Remove(filepath.Join(dir, "output")); err != nil {
		t.Fatal(err)
	}
	if of(all) != before {
		t.Error("the same files look otherwise")
	}
	if got := of(func(path string) bool { return filepath.Base(path) == "session" }); seen[got] != "nothing" {
		t.Error("what is skipped has a part in it")
	}
	if _, _, err := input.Fingerprint(filepath.Join(dir, "missing"), all); err == nil {
		t.Error("what is missing has a fingerprint")
	}
}
