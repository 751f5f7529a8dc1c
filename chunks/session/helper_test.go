package session

import (
	"os"
	"testing"

	"gprof/rawformat"
)

const testFile = rawformat.ChunkAlign

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func countFiles(t testing.TB, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	return len(entries)
}
