package recorder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"gprof/chunks/folder"
	"gprof/chunks/mapping"
	"gprof/chunks/session"
	"gprof/recorder/internal/rt"
)

// Modes of directories. A recording may hold private data, so by default they are private.
// With GroupAccess everything that is made in a session belongs to its group.
const (
	privateMode = 0o700
	passMode    = os.ModeSetgid | 0o750 // above the session
	groupMode   = os.ModeSetgid | 0o770
)

// makeDirs makes the directory of the session, if it is missing, and dir in it. A session
// that was made without GroupAccess is opened to the group if it is ours. A session that
// somebody else could change is refused, see [folder.MakeSession].
func (p *plan) makeDirs(dir string) error {
	above, mode := fs.FileMode(privateMode), fs.FileMode(privateMode)
	if p.GroupAccess {
		above, mode = passMode, groupMode
	}
	if err := makeDir(filepath.Dir(p.session), above); err != nil {
		return err
	}
	if dir := filepath.Dir(p.session); !p.GroupAccess && isShared(dir) {
		if err := checkShared(dir); err != nil {
			return err
		}
	}
	if err := folder.MakeSession(p.session, mode); err != nil {
		return err
	}
	return folder.MakeInstance(dir, mode)
}

// makeDir makes dir and missing directories above it, whatever the umask is. Existing
// directories keep their modes.
func makeDir(dir string, mode os.FileMode) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	if above := filepath.Dir(dir); above != dir {
		if err := makeDir(above, mode); err != nil {
			return err
		}
	}
	err := os.Mkdir(dir, mode.Perm())
	if errors.Is(err, fs.ErrExist) {
		return os.MkdirAll(dir, mode.Perm()) // another process has made it just now, or it is no directory
	}
	if err != nil {
		return err
	}
	return os.Chmod(dir, mode)
}

// DirInMemory as [Options.Dir], or in GPROF_DIR, records in the memory of this process: for
// containers whose file system is read-only, and for systems that map no files. The ring,
// its limit and all that is recorded are the same, but nothing outlives the process. The
// handler of package debug, [Recorder.Files] and [Recorder.Snapshot] read the recording
// while it goes on, and Stop copies it to [Options.Dump]. The process has a session of its
// own, which other processes and gprof-record do not see; its children record where their
// own settings say. GPROF_SESSION overrides it. The memory belongs to the process, not to
// Go's heap, except on systems that have no anonymous mappings. Stop frees it.
const DirInMemory = ":memory:"

var errInMemory = errors.New("recorded in memory")

// Files returns the files of this recording, from [Recorder.Dir] or from memory, to be read
// while it goes on; nil for nil. A recording in memory has no files after Stop.
func (r *Recorder) Files() fs.FS {
	if r == nil {
		return nil
	}
	return r.files
}

// catchFaults has faults in mappings of files caught, if there will be such mappings. The
// error says why they are not caught.
func (p *plan) catchFaults() error {
	if p.memory {
		return nil
	}
	if err := rt.Faults.Err(); err != nil {
		return err
	}
	return mapping.CatchFaults()
}

// place decides where the recording's files lie.
func (r *Recorder) place(p *plan) {
	if p.memory {
		r.files = folder.NewMemory()
		return
	}
	r.dir = filepath.Join(r.session, folder.InstanceName(r.rec.Instance()))
	r.files = folder.Dir(r.dir)
}

// makeDir makes the directory and locks it.
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
