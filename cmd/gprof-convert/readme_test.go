//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
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
	_, section, _ := strings.Cut(string(readme), "\n### Several outputs, many files\n")
	section, _, _ = strings.Cut(section, "\n#")
	commands := regexp.MustCompile(`(?m)^bin/gprof-convert SESSION (.*?)(?: +#.*)?$`).FindAllStringSubmatch(section, -1)
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
