package main

import (
	"os"
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
