package harvest

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gprof/chunks"
	"gprof/chunks/folder"
	chunksession "gprof/chunks/session"
	"gprof/cmd/internal/session"
	"gprof/ingest/pack"
	"gprof/rawformat"
)

// state is how far a process has come.
type state int

const (
	live state = iota // or it has left nothing yet
	dead              // and to be saved
	done              // saved, or not wanted
)

// process is a directory in which a process records, or recorded, or a file in which its trigger kept that.
type process struct {
	root, rel string // the directory that was given, and the way from there
	kept      string // the name of the file; "": it is a directory
	instance  uint64
	state     state
	since     time.Time // it was first seen dead
	look      int       // that saw it last
	failures  int

	service string
	pid     uint32
	ended   time.Time // its last sign of life; zero: not known
	how     string    // it ended
	told    bool      // its session says how it ended
	gone    bool      // nothing is left of it but that
}

// dir is the path of the directory, or of the file.
func (p *process) dir() string { return filepath.Join(p.root, p.rel) }

// event is something that happened to the process.
func (p *process) event(what What) Event {
	return Event{What: what, Service: p.service, Instance: p.instance, Pid: p.pid, Ended: p.ended, How: p.how}
}

// alive reports whether somebody may be writing in a directory.
func alive(dir string) bool {
	if chunksession.Alive(dir) {
		return true
	}
	if _, err := os.Lstat(filepath.Join(dir, chunks.LockName)); err == nil {
		return false
	}
	// It has no lock: it is a copy, all but gone, or about to be locked.
	if _, err := os.Lstat(filepath.Join(dir, chunks.ExitName)); err == nil {
		return false
	}
	info, err := os.Lstat(dir)
	return err != nil || time.Since(info.ModTime()) < time.Minute
}

// read reads what a dead process says about itself, and decides whether it is to be saved.
// One that has left nothing stays as it is: whoever finds it removes it.
func (p *process) read(root *os.Root, all bool) error {
	files, err := root.OpenRoot(p.rel)
	if err != nil {
		return err
	}
	defer files.Close()
	r, err := chunks.OpenProcess(confined{files}, ".")
	if errors.Is(err, chunks.ErrNoRecording) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	p.service, p.pid, p.how = r.Value(rawformat.MetaService), r.Pid, session.End(r)
	ended := r.LastCommit().Realtime
	if r.Exit != nil {
		ended = r.Exit.Realtime
	}
	if ended > 0 {
		p.ended = time.Unix(0, ended).UTC()
	}
	p.told = r.Exit != nil && r.Exit.Reason != rawformat.ExitUnknown
	p.gone = r.Removed()
	p.state = done
	if holds := len(r.Images()) > 0 || len(r.Traces) > 0 || len(r.Problems) > 0 || p.gone; holds && (all || !inOrder(r.Exit)) {
		p.state = dead
	}
	return nil
}

// readKept reads what a kept file says about the process whose trigger kept it.
func (p *process) readKept(root *os.Root) error {
	a, err := openKept(root, p.rel)
	if err != nil {
		return err
	}
	defer a.file.Close()
	r, err := chunks.OpenProcess(a, folder.InstanceName(p.instance))
	if err != nil {
		return err
	}
	p.service, p.pid = r.Value(rawformat.MetaService), r.Pid
	return nil
}

// archive is a kept file that is open.
type archive struct {
	*pack.Archive
	file *os.File
}

func openKept(root *os.Root, rel string) (a archive, err error) {
	if a.file, err = root.OpenFile(rel, os.O_RDONLY|folder.OpenCarefully, 0); err != nil {
		return a, err
	}
	info, err := a.file.Stat()
	if err == nil {
		a.Archive, err = pack.Open(a.file, info.Size())
	}
	if err != nil {
		return a, errors.Join(err, a.file.Close())
	}
	return a, nil
}

// inOrder reports whether a process stopped recording, or exited with status 0.
func inOrder(e *chunks.Exit) bool {
	return e != nil && (e.Reason == rawformat.ExitStopped || e.Reason == rawformat.ExitNormal && e.Code == 0)
}

// name is that of the file: SERVICE/DAY/INSTANCE.gprof, or what the trigger called it. The day, in UTC, is that of
// the last sign of life. It follows from the recording alone.
func (p *process) name() string {
	day := "undated"
	if !p.ended.IsZero() {
		day = p.ended.Format(time.DateOnly)
	}
	return plain(p.service) + "/" + day + "/" + cmp.Or(p.kept, folder.InstanceName(p.instance)+".gprof")
}

// plain makes a part of a path of a name that a program has chosen.
func plain(name string) string {
	const most = 100
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r) {
			return r
		}
		return '_'
	}, name)
	name = strings.TrimLeft(name[:min(len(name), most)], ".-")
	return cmp.Or(name, "unnamed")
}

// confined are the files of a process. Links don't lead out of its directory, and a pipe in the
// place of a file does not wait for its other end.
type confined struct{ root *os.Root }

// Open implements [fs.FS].
func (c confined) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	f, err := c.root.OpenFile(name, os.O_RDONLY|folder.OpenCarefully, 0)
	if err != nil {
		return nil, err // and no *os.File
	}
	return f, nil
}
