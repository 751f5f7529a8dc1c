package chunks

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"
)

// vanishing lists a file that is gone when it is opened.
type vanishing struct {
	fstest.MapFS
	name string
}

func (v vanishing) Open(name string) (fs.File, error) {
	if name == v.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return v.MapFS.Open(name)
}

func (v vanishing) Stat(name string) (fs.FileInfo, error) {
	if name == v.name {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return v.MapFS.Stat(name)
}

// A chunk file is removed while the directory is read, because its ring, or a process that
// looks after the remains of a dead one, gave it back. That is neither damage nor a gap.
func TestChunkGoesWhileOpened(t *testing.T) {
	files, _ := four()
	p := mustOpen(t, vanishing{dirOf(files), "p/chunk-00001"})
	problems := withoutMissing(p.Problems)
	if len(p.Chunks) != 3 || len(problems) != 1 || problems[0].Class != Stale || problems[0].Where != "chunk-00001" {
		t.Errorf("%d chunks, problems %+v", len(p.Chunks), problems)
	}
	if _, err := OpenChunk(vanishing{dirOf(files), "p/chunk-00001"}, "p/chunk-00001"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("given by name: %v", err)
	}
}

// The removed chunk may be the only one that says how much was discarded before it.
func TestChunkGoesThatStates(t *testing.T) {
	files, _ := four()
	delete(files, "chunk-00001")
	p := mustOpen(t, vanishing{dirOf(files), "p/chunk-00002"})
	problems := withoutMissing(p.Problems)
	if len(p.Chunks) != 2 || len(problems) != 1 || problems[0].Class != Stale {
		t.Errorf("%d chunks, problems %+v", len(p.Chunks), problems)
	}
}
