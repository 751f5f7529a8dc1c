package symbols

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gprof/rawformat/jitcode"
)

const perfMap = `3ef0 10 JS:~main /srv/w.js:1:1
3f00 20 JS:*hot /srv/w.js:2:13
nonsense
3f00 xx no size
3f20 10 old
0x3f20 0x10 py::new:/srv/w.py
`

// Generated code is named by the list of its own process alone, by address.
func TestPerfMap(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"perf-4711.map", "perf-x.map", "perf-47.map.old"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(perfMap), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set, errs := Open([]string{dir})
	if errs[0] != nil {
		t.Fatal(errs[0])
	}
	for address, want := range map[uint64]string{0x3eef: "", 0x3ef0: "JS:~main /srv/w.js:1:1", 0x3f1f: "JS:*hot /srv/w.js:2:13", 0x3f20: "py::new:/srv/w.py", 0x3f30: "", 1<<64 - 1: ""} {
		got := ""
		for _, f := range set.Lookup(jitcode.OfProcess(4711), address) {
			got += f.Name
		}
		if got != want {
			t.Errorf("at %#x is %q, want %q", address, got, want)
		}
	}
	if got := set.Lookup(jitcode.OfProcess(47), 0x3f00); got != nil {
		t.Errorf("of another process: %v", got)
	}
}

func FuzzPerfMap(f *testing.F) {
	f.Add(perfMap, uint64(0x3f00))
	f.Fuzz(func(t *testing.T, text string, address uint64) {
		p, _ := readPerfMap(strings.NewReader(text))
		p.lookup(address)
	})
}
