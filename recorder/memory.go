package recorder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"gprof/chunks/folder"
	"gprof/chunks/mapping"
	"gprof/chunks/session"
	"gprof/recorder/internal/counters"
)

// DirInMemory as [Options.Dir], or GPROF_DIR, records in this process' memory: in a
// container whose file system is read-only, or on a system that maps no files. The ring,
// its limit and all that is recorded are the same, but nothing outlives the process: it is
// fetched by the handler of package debug, by [Recorder.Files], [Recorder.Snapshot], or
// when Stop copies it to [Options.Dump]. The process has a session of its own, that
// other processes and gprof-record do not see; its children record where their own
// settings say. GPROF_SESSION goes before it. The memory counts for the process, not for
// Go's heap; where systems have no anonymous mappings, it is of the heap. Stop gives it back.
const DirInMemory = ":memory:"

var errInMemory = errors.New("recorded in memory")

// Files are the files of this recording, to be read while it goes on: as they lie in
// [Recorder.Dir], or in memory. Of one in memory nothing is left after Stop. It is nil for
// nil.
func (r *Recorder) Files() fs.FS {
	if r == nil {
		return nil
	}
	return r.files
}

// catchFaults has faults in mappings of files caught, where there are any. The error
// says why they are not.
func (p *plan) catchFaults() error {
	if p.memory {
		return nil
	}
	return mapping.CatchFaults()
}

// place says where the recording's files lie.
func (r *Recorder) place(p *plan) {
	if p.memory {
		r.files = folder.NewMemory()
		return
	}
	r.dir = filepath.Join(r.session, instanceName(r.rec.Instance()))
	r.files = folder.Dir(r.dir)
}

// makeDir makes the directory, and locks it.
func (r *Recorder) makeDir(p *plan) (err error) {
	if p.memory {
		return nil
	}
	if err = p.makeDirs(r.dir); err != nil {
		return err
	}
	r.lock, err = session.Lock(r.dir)
	return err
}

// erase removes the directory.
func (r *Recorder) erase() error {
	if r.dir == "" {
		return nil
	}
	return os.RemoveAll(r.dir)
}

// affordable is the default limit by what memory there is.
func affordable() int64 {
	limit := int64(defaultLimit)
	if memory := counters.MemoryLimit(); memory > 0 {
		limit = min(limit, memory/memoryShare)
	}
	return limit
}
