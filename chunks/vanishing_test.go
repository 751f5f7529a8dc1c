package chunks

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"gprof/rawformat"
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

// reduced is a directory that becomes a tomb after it was listed once.
type reduced struct {
	fstest.MapFS
	tomb   fstest.MapFS
	listed bool
}

func (r *reduced) ReadDir(name string) ([]fs.DirEntry, error) {
	if r.listed {
		return r.tomb.ReadDir(name)
	}
	r.listed = true
	return r.MapFS.ReadDir(name)
}

func (r *reduced) Open(name string) (fs.File, error)     { return r.tomb.Open(name) }
func (r *reduced) Stat(name string) (fs.FileInfo, error) { return r.tomb.Stat(name) }

// The last files of a dead process are removed while the directory is read: it is looked at
// again, and nothing is damaged.
func TestTombWhileOpened(t *testing.T) {
	files, _ := four()
	files[DictFile.FileName(1)] = testRecords(rawformat.MagicDict, 1)
	left := map[string][]byte{
		MetaName: testRecords(rawformat.MagicMeta, 0, metaBody("k", "v")),
		ExitName: testRecords(rawformat.MagicExit, 0, exitBody(1+4*smallCapacity, 1+4*smallCapacity, 4*smallCapacity)),
	}
	for name, data := range left {
		files[name] = data
	}
	p := mustOpen(t, &reduced{MapFS: dirOf(files), tomb: dirOf(left)})
	if !p.Removed() || len(p.Problems) > 0 {
		t.Errorf("removed: %v, problems %+v", p.Removed(), p.Problems)
	}
	if _, err := OpenProcess(&reduced{MapFS: dirOf(files), tomb: dirOf(nil)}, "p"); !errors.Is(err, ErrNoRecording) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("all is gone: %v", err)
	}
}
