package pack

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gprof/chunks"
	"gprof/chunks/sections"
	"gprof/chunks/session"
)

// Process is the directory of a recorded process.
type Process struct {
	Instance uint64
	FS       fs.FS
	Dir      string // path in FS
	// Live says that a recorder may be writing there. The archive then has the state of one
	// moment, but for chunks that were used again meanwhile.
	Live bool
	// Snapshot says that a recorder was writing when the files were copied; they are at rest now.
	Snapshot bool
	// Only, if not nil, are the chunk files and stack rings that count; others are ignored.
	Only []string
	// Without are the names of other files that are ignored.
	Without []string
}

// Session returns the processes in a session directory: folders named like instances, sorted.
func Session(dir string) ([]Process, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var found []Process
	for _, e := range entries {
		instance, ok := parseInstance(e.Name())
		if !ok || !e.IsDir() {
			continue
		}
		at := filepath.Join(dir, e.Name())
		found = append(found, Process{Instance: instance, FS: os.DirFS(at), Dir: ".", Live: session.Alive(at) && !ended(at)})
	}
	return found, nil
}

// ended reports whether an exit record was written. A process that buries another holds its lock
// meanwhile, as if it were alive.
func ended(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, chunks.ExitName))
	return err == nil
}

// instanceName is the name of an instance's directory.
func instanceName(instance uint64) string { return fmt.Sprintf("%016x", instance) }

func parseInstance(name string) (uint64, bool) {
	v, err := strconv.ParseUint(name, 16, 64)
	return v, err == nil && instanceName(v) == name
}

// file is one file of a process' directory.
type file struct {
	kind   sections.Kind
	number uint32
}

// list returns the files of p to pack, ignoring others than ours. Ours that are not regular files
// are reported.
func (p *Process) list(report func(error)) ([]file, error) {
	entries, err := fs.ReadDir(p.FS, p.Dir)
	if err != nil && len(entries) == 0 {
		return nil, err
	}
	var files []file
	for _, e := range entries {
		kind, number, ok := sections.Named(e.Name())
		switch {
		case !ok || slices.Contains(p.Without, e.Name()) || (kind == sections.Chunk || kind == sections.Stacks) && p.Only != nil && !slices.Contains(p.Only, e.Name()):
		case !e.Type().IsRegular():
			report(fmt.Errorf("%s: is no regular file; left out", p.where(e.Name())))
		default:
			files = append(files, file{kind, number})
		}
	}
	slices.SortFunc(files, compareFiles)
	return files, nil
}

func compareFiles(a, b file) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.number, b.number))
}

// where names a file in messages.
func (p *Process) where(name string) string { return path.Join(instanceName(p.Instance), name) }

// open opens a file of p. A file without random access is read into memory, up to limit bytes.
func (p *Process) open(f file, limit uint32) (*source, error) {
	name := path.Join(p.Dir, sections.FileName(f.kind, f.number))
	in, err := p.FS.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := in.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: errors.New("not a regular file")}
	}
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	if at, ok := in.(io.ReaderAt); ok {
		return &source{at, in, info.Size()}, nil
	}
	data, err := io.ReadAll(io.LimitReader(in, int64(limit)))
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return &source{strings.NewReader(string(data)), in, max(info.Size(), int64(len(data)))}, nil
}

// source is an open file.
type source struct {
	io.ReaderAt
	io.Closer
	size int64
}

// read fills dst with the bytes at off and returns those that exist.
func (s *source) read(dst []byte, off int64) ([]byte, error) {
	n, err := s.ReadAt(dst, off)
	if n == len(dst) || errors.Is(err, io.EOF) {
		err = nil
	}
	return dst[:n], err
}

// Unpack writes the files of a process into a folder of dir, which must exist, bit for bit. It
// overwrites nothing, and the folder gets its name when it is complete. An unreadable file is
// reported to report, which may be nil, and left out; the error is the disk's. File names are only
// those that a recorder gives, so nothing is written outside of dir.
func Unpack(dir string, p Process, report func(error)) error {
	if report == nil {
		report = func(error) {}
	}
	files, err := p.list(report)
	if err != nil {
		report(err)
		return nil
	}
	to := filepath.Join(dir, instanceName(p.Instance))
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return cmp.Or(err, error(&fs.PathError{Op: "unpack", Path: to, Err: fs.ErrExist}))
	}
	at, err := os.MkdirTemp(dir, ".unpack-")
	if err != nil {
		return err
	}
	if err = p.copyTo(at, files, report); err == nil {
		err = os.Rename(at, to)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(at))
	}
	return nil
}

// copyTo writes the readable files.
func (p *Process) copyTo(dir string, files []file, report func(error)) error {
	for _, f := range files {
		data, err := p.read(f)
		if err != nil {
			report(fmt.Errorf("%s: %w", p.where(sections.FileName(f.kind, f.number)), err))
			continue
		}
		if err := writeNew(filepath.Join(dir, sections.FileName(f.kind, f.number)), data); err != nil {
			return err
		}
	}
	return nil
}

// writeNew writes a file that must not exist.
func writeNew(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
