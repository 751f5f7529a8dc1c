package ingest

import (
	"os"
	"path/filepath"
	"testing"
)

// A processed profile has time deltas, as V8's profiles have, maybe near its beginning. It is none of them.
func TestFirefoxIsNotV8(t *testing.T) {
	const text = `{"threads":[{"name":"GeckoMain","pid":"1","tid":1,"samples":{"stack":[null],"timeDeltas":[1],"length":1},"markers":{"length":0}}],` +
		`"meta":{"preprocessedProfileVersion":70,"startTime":0,"interval":1},"shared":{"stringArray":[]}}`
	path := filepath.Join(t.TempDir(), "profile.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := Find([]string{path}, Options{})
	if err != nil || len(found.Processes) != 1 {
		t.Fatal(found, err)
	}
	found.Close()
}
