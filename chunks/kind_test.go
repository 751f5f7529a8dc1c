package chunks

import (
	"slices"
	"testing"
	"testing/fstest"
)

// Files that hold what was recorded are known by their names; other names are not ours.
func TestFileKinds(t *testing.T) {
	for kind := MetaFile; kind < ControlFile; kind++ {
		name := kind.FileName(7)
		if got, _ := Named(name); got != kind {
			t.Errorf("%s is taken for a %v", name, got)
		}
		if recorded := slices.Contains(Recorded(), kind); recorded != (kind.MaxSize() > 0) {
			t.Errorf("%v: recorded %v, at most %d bytes", kind, recorded, kind.MaxSize())
		}
	}
	for _, name := range []string{"control", "chunk-1", "stacks-", "stacks-007", "stacks--1", "trace-001", "dict-001 (copy)", "meta.new", "x"} {
		if kind, _ := Named(name); kind != NoFile {
			t.Errorf("%s is taken for a %v", name, kind)
		}
	}
}

// The reader of a directory opens every kind of file that holds what was recorded: it
// reports damage, or lists the file.
func TestEveryKindIsRead(t *testing.T) {
	for _, kind := range Recorded() {
		name := kind.FileName(7)
		o := opening{fsys: fstest.MapFS{"p/" + name: {Data: []byte("none of ours")}}, p: &Process{Dir: "p"}}
		o.file("p/" + name)
		if len(o.p.Problems)+len(o.p.Traces)+len(o.odd) == 0 {
			t.Errorf("%s: nobody looked at it", name)
		}
	}
}
