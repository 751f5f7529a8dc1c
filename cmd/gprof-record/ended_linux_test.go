package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A Go program that its runtime ends for lack of memory ended by itself: nobody killed
// it. The command that waited for it says so, and without that status says no more than
// is known.
func TestOutOfMemoryIsNoKill(t *testing.T) {
	dir := t.TempDir()
	code, _, _ := runTest(t, "memory", "run", "--dir", dir, "--limit", "2MiB", "--", os.Args[0])
	session := filepath.Join(dir, filepath.Base(os.Args[0]))
	_, stdout, _ := runTest(t, "", "status", session)
	if want := "exited with status 2, as Go programs do after a panic or a fatal error such as out of memory"; code != 2 || !strings.Contains(stdout, want) {
		t.Errorf("status %d, want %q in\n%s", code, want, stdout)
	}
	exits, err := filepath.Glob(filepath.Join(session, "*", "exit"))
	if err != nil || len(exits) != 1 {
		t.Fatalf("%v, %v", exits, err)
	}
	if err := os.Remove(exits[0]); err != nil { // as if nobody had waited for it
		t.Fatal(err)
	}
	if _, stdout, _ = runTest(t, "", "status", session); !strings.Contains(stdout, "found dead: killed, or ended by itself") {
		t.Errorf("of an end that nobody saw:\n%s", stdout)
	}
}
