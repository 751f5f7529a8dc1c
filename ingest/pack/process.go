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
)

// Process is the directory of one recorded process, wherever it lies.
type Process struct {
	Instance uint64
	FS       fs.FS
	Dir      string // path in FS
	// Live: a recorder may be writing there. What is packed then is how it was
	// at one moment, as far as it has not been reused since.
	Live bool
	// Snapshot: a recorder was writing there when the files were copied, which
	// are at rest now.
	Snapshot bool
	// Only, if not nil, are the names of the chunk files and stack rings that count;
	// others are treated as if they were not there.
	Only []string
}

// Session returns the processes in a session directory: its folders that bear
// the name of an instance, in order.
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
		found = append(found, Process{Instance: instance, FS: os.DirFS(at), Dir: ".", Live: chunks.Alive(at) && !ended(at)})
	}
	return found, nil
}

// ended reports whether a process' exit was written. Who buries the dead holds
// their lock meanwhile, as the living do.
func ended(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, chunks.ExitFile.FileName(0)))
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

// list returns the files of p that are to be packed; others than ours are
// passed over. What is ours and no regular file goes to report.
func (p *Process) list(report func(error)) ([]file, error) {
	entries, err := fs.ReadDir(p.FS, p.Dir)
	if err != nil && len(entries) == 0 {
		return nil, err
	}
	var files []file
	for _, e := range entries {
		kind, number, ok := sections.Named(e.Name())
		switch {
		case !ok || (kind == sections.Chunk || kind == sections.Stacks) && p.Only != nil && !slices.Contains(p.Only, e.Name()):
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

// open opens a file of p. What cannot be read in parts is read into memory, up
// to limit bytes.
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

// read fills dst with the bytes at off and returns those that the file has.
func (s *source) read(dst []byte, off int64) ([]byte, error) {
	n, err := s.ReadAt(dst, off)
	if n == len(dst) || errors.Is(err, io.EOF) {
		err = nil
	}
	return dst[:n], err
}
