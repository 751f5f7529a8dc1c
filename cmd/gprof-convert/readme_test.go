package main

import (
	"os"
	"strings"
	"testing"
)

// What README.md shows of diff is what a script sees.
func TestReadmeDiff(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("testdata/script/diff.txtar")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(readme), "\nbase  6 processes")
	shown, _, found := strings.Cut("base  6 processes"+shown, "```")
	if !found || !strings.Contains(string(script), shown) {
		t.Errorf("README.md shows of gprof-convert diff\n%s\nwhich testdata/script/diff.txtar does not hold", shown)
	}
}
