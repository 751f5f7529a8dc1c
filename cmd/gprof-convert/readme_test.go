//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"runtime/trace"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// What README.md shows of a command is what its script sees.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for begin, script := range map[string]string{
		"base  6 processes": "diff", "722.40ms of CPU time": "top", "  count   time": "top",
	} {
		seen, err := os.ReadFile("testdata/script/" + script + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		_, shown, found := strings.Cut(string(readme), "```\n"+begin)
		shown, _, _ = strings.Cut(begin+shown, "```")
		if !found || !strings.Contains(string(seen), shown) {
			t.Errorf("README.md shows\n%s\nwhich testdata/script/%s.txtar does not hold", shown, script)
		}
	}
}

// What README.md says of several outputs works as it stands there.
func TestReadmeOutputs(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := commandsOf(string(readme), "Several outputs, many files", "SESSION")
	if len(commands) < 4 {
		t.Fatalf("README.md has %d commands", len(commands))
	}
	session := sessionOf(t, 100)
	t.Chdir(t.TempDir())
	for _, command := range commands {
		args := append([]string{session}, strings.Fields(strings.ReplaceAll(command[1], "'", ""))...)
		var stderr bytes.Buffer
		if code := run(args, nil, &stderr, &stderr); code != exitOK {
			t.Errorf("%s: exit code %d\n%s", command[1], code, &stderr)
		}
	}
	for _, want := range []string{"all.json.gz", "all.pb.gz", "tables/queries/top-functions.sql", "losses.json", "whole.html", "timed.pb.gz"} {
		if _, err := os.Stat(filepath.FromSlash(want)); err != nil {
			t.Error(err)
		}
	}
}

// commandsOf are the commands of a section of README.md that begin with an input:
// the rest of each.
func commandsOf(readme, title, input string) [][]string {
	_, section, _ := strings.Cut(readme, "\n### "+title+"\n")
	section, _, _ = strings.Cut(section, "\n#")
	return regexp.MustCompile(`(?m)^bin/gprof-convert `+regexp.QuoteMeta(input)+` (.*?)(?: +#.*)?$`).FindAllStringSubmatch(section, -1)
}

// What README.md says of execution traces works as it stands there.
func TestReadmeTrace(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := commandsOf(string(readme), "You have a trace.out", "trace.out")
	if len(commands) < 5 {
		t.Fatalf("README.md has %d commands", len(commands))
	}
	session := sessionOf(t, 100)
	t.Chdir(t.TempDir())
	traceTo(t, "trace.out")
	for _, command := range commands {
		args := append([]string{"trace.out"}, strings.Fields(strings.NewReplacer("'", "", "SESSION", session).Replace(command[1]))...)
		var stderr bytes.Buffer
		if code := run(args, nil, &stderr, &stderr); code != exitOK {
			t.Errorf("%s: exit code %d\n%s", command[1], code, &stderr)
		}
	}
	for _, want := range []string{"trace.json.gz", "procs.json.gz", "second.json.gz", "slow.pb.gz", "both.json.gz", "traced/queries/waits-by-reason.sql"} {
		if _, err := os.Stat(filepath.FromSlash(want)); err != nil {
			t.Error(err)
		}
	}
}

// Who asks for what happened during a marker is told that it had no waits of its own.
func TestNoWaitsDuring(t *testing.T) {
	t.Chdir(t.TempDir())
	traceTo(t, "trace.out")
	for _, c := range []struct {
		flags string
		told  bool
	}{{"--during region", true}, {"--during region --during-all", false}, {"-q --during region", false}, {"", false}} {
		var stderr bytes.Buffer
		code := run(append([]string{"trace.out", "-o", "trace.folded"}, strings.Fields(c.flags)...), nil, &stderr, &stderr)
		if told := strings.Contains(stderr.String(), "--during-all keeps"); code != exitOK || told != c.told {
			t.Errorf("%s: exit code %d\n%s", c.flags, code, &stderr)
		}
	}
}

// traceTo traces this process until there is a region of a few milliseconds in
// more than a second.
func traceTo(t *testing.T, name string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := trace.Start(f); err != nil {
		t.Fatal(err)
	}
	defer trace.Stop()
	for end := time.Now().Add(1100 * time.Millisecond); time.Now().Before(end); {
		trace.WithRegion(context.Background(), "wait", func() { <-time.After(20 * time.Millisecond) })
	}
}

// What README.md says of Firefox's profiles works as it stands there.
func TestReadmeFirefox(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := commandsOf(string(readme), "You have a profile from Firefox", "firefox.json.gz")
	if len(commands) < 5 {
		t.Fatalf("README.md has %d commands", len(commands))
	}
	profile, err := txtar.ParseFile("../../ingest/gecko/testdata/gecko-31.txtar")
	if err != nil {
		t.Fatal(err)
	}
	session := sessionOf(t, 100)
	t.Chdir(t.TempDir())
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(profile.Files[0].Data)
	z.Close()
	if err := os.WriteFile("firefox.json.gz", packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range commands {
		args := append([]string{"firefox.json.gz"}, strings.Fields(strings.NewReplacer("'", "", "SESSION", session).Replace(command[1]))...)
		var stderr bytes.Buffer
		if code := run(args, nil, &stderr, &stderr); code != exitOK {
			t.Errorf("%s: exit code %d\n%s", command[1], code, &stderr)
		}
	}
	for _, want := range []string{"firefox.pb.gz", "firefox/markers", "web.json.gz", "part.json.gz", "both.json.gz"} {
		if _, err := os.Stat(filepath.FromSlash(want)); err != nil {
			t.Error(err)
		}
	}
}
