package pack

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"gprof/bench/corpus"
)

func TestColumnsUsed(t *testing.T) {
	dir := t.TempDir()
	if _, err := corpus.Write(dir, corpus.Options{Samples: 60_000, Markers: 200, Counts: 10, Stacks: 5000}); err != nil {
		t.Fatal(err)
	}
	names, _ := filepath.Glob(dir + "/*/*")
	e := newEncoder()
	for _, name := range names {
		kind, _, _ := parseName(filepath.Base(name))
		raw, _ := os.ReadFile(name)
		if kind != typeChunk && kind != typeDict {
			continue
		}
		ok := e.columns(kind, raw)
		t.Log(name, len(raw), len(e.buf), ok)
		if !ok {
			t.Log(e.check.join(e.checked, e.buf), bytes.Equal(e.checked, raw))
		}
		for _, c := range e.splitter.used {
			tr := c.choose()
			n := len(c.tokens[0])
			var m [10][]byte
			var sz []int
			if tr <= difference {
				appendPlanes(&m, c.tokens[tr])
				for _, p := range m {
					if len(p) > 0 {
						sz = append(sz, len(e.appendPlane(nil, p)))
					}
				}
			}
			t.Log(c.id>>8, c.id&255, tr, n, len(c.bytes), sz)
		}
	}
}
