package debug

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/chunks/sections"
	"gprof/chunks/session"
	"gprof/rawformat"
	"gprof/recorder"
)

// process is a process that recorded in the session.
type process struct {
	files        fs.FS
	instance     uint64
	service, pid string
	bytes        int64  // of its files
	start        moment // 0 where its meta file does not say
	live         bool
	crashed      bool // it is dead, did not end in order, and left something
}

// moment is one moment on two clocks: CLOCK_MONOTONIC, and ns since the Unix epoch.
type moment struct {
	monotonic uint64
	real      int64
}

// name is that of the process' directory.
func (p *process) name() string { return folder.InstanceName(p.instance) }

// inSession returns the processes of a session, in order of their instance.
func inSession(path string) (found []process, err error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		instance, ok := folder.InstanceOf(e.Name())
		dir := filepath.Join(path, e.Name())
		p := process{files: folder.Dir(dir), instance: instance}
		if ok && e.IsDir() && p.look(func() bool { return session.Alive(dir) }) == nil {
			found = append(found, p)
		}
	}
	return found, nil
}

// inMemory returns the only process of a recording in memory.
func inMemory(rec *recorder.Recorder) ([]process, error) {
	p := process{files: rec.Files(), instance: rec.Instance()}
	if err := p.look(func() bool { return true }); err != nil {
		return nil, err
	}
	return []process{p}, nil
}

// look reads what a process says about itself. The error is that it left nothing.
func (p *process) look(alive func() bool) error {
	read, err := chunks.OpenProcess(p.files, ".")
	if err != nil {
		return err
	}
	for _, m := range read.Meta {
		switch m.Key {
		case rawformat.MetaService:
			p.service = m.Value
		case rawformat.MetaPid:
			p.pid = m.Value
		case rawformat.MetaStartMono:
			p.start.monotonic, _ = strconv.ParseUint(m.Value, 10, 64) // 0 if it is malformed, as if it were missing
		case rawformat.MetaStartReal:
			p.start.real, _ = strconv.ParseInt(m.Value, 10, 64)
		}
	}
	p.bytes = inFiles(p.files)
	p.live = read.Exit == nil && alive() // the lock of a dead one is held while its end is written
	p.crashed = !p.live && !inOrder(read.Exit) && !read.Removed()
	return nil
}

// inOrder reports whether a process stopped recording, or exited with status 0.
func inOrder(e *chunks.Exit) bool {
	return e != nil && (e.Reason == rawformat.ExitStopped || e.Reason == rawformat.ExitNormal && e.Code == 0)
}

// inFiles is how many bytes the files of a recording have.
func inFiles(files fs.FS) (bytes int64) {
	entries, _ := fs.ReadDir(files, ".") // the recording may just have been removed
	for _, e := range entries {
		if _, _, ours := sections.Named(e.Name()); !ours {
			continue
		}
		if info, err := e.Info(); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}

// write copies what a process recorded last into an archive; 0 is all. A recording that
// has been removed meanwhile is no error.
func (p *process) write(w *sections.Writer, last time.Duration) error {
	if err := w.Process(p.instance, p.live); err != nil {
		return err
	}
	err := chunks.Copy(p.files, p.since(last), func(name string, data []byte) error { return w.File(p.instance, name, data) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// since is that long ago on the monotonic clock; 0, the beginning, where the process
// does not say how that runs.
func (p *process) since(last time.Duration) uint64 {
	ago := time.Now().Add(-last).UnixNano() - p.start.real
	if last == 0 || p.start.monotonic == 0 || p.start.real == 0 || ago <= 0 {
		return 0
	}
	return p.start.monotonic + uint64(ago)
}
