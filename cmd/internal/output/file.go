package output

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file that appears when it is whole: it is written beside its name and
// renamed. The name "-" is stdout.
type File struct {
	io.Writer
	Handle *os.File // nil for stdout
	name   string
	mode   fs.FileMode

	set *Set // where file is listed
}

// Create begins an output of inputs with these permissions. It refuses to write binary
// output to a terminal.
func (u *Set) Create(name string, binary bool, inputs fs.FileMode) (*File, error) {
	if name == "-" {
		if binary && u.Terminal {
			return nil, errors.New("will not write binary data to a terminal; use -o FILE or a pipe")
		}
		return &File{Writer: u.Stdout, name: name}, nil
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: is not a regular file; give -o the name of a file to write", name)
	}
	if _, err := os.Stat(filepath.Dir(name)); err != nil {
		return nil, fmt.Errorf("%s: its directory: %w", name, atPlace(err))
	}
	if err := RefuseLinks(filepath.Dir(name)); err != nil {
		return nil, err
	}
	out := &File{name: name, mode: fileMode(inputs), set: u}
	err := u.add(func() (_ path, err error) {
		if out.Handle, err = os.CreateTemp(filepath.Dir(name), temporaryName(name)); err != nil {
			return path{}, err
		}
		return path{name: out.Handle.Name()}, nil
	})
	if err != nil {
		return nil, fmt.Errorf("cannot write beside the output: %w", atPlace(err))
	}
	out.Writer = out.Handle
	return out, nil
}

// Commit gives the output its name; discard removes it. One of them must be called.
func (o *File) Commit() error {
	if o.Handle == nil {
		return nil
	}
	return o.set.Commit(o)
}

func (o *File) Discard() {
	if o.Handle != nil {
		o.set.Discard(o)
	}
}

// stagedAs implements [product].
func (o *File) stagedAs() string {
	if o.Handle == nil {
		return ""
	}
	return o.Handle.Name()
}

func (o *File) close() error {
	if o.Handle == nil {
		return nil
	}
	return errors.Join(o.Handle.Chmod(o.mode), o.Handle.Close())
}

func (o *File) place(p *placing) error {
	if o.Handle == nil {
		return nil
	}
	return p.move(o.Handle.Name(), o.name)
}

func (o *File) drop() {
	if o.Handle != nil {
		o.Handle.Close()
		os.Remove(o.Handle.Name())
	}
}

// Beside is the directory for temporary files of this output.
func (o *File) Beside() string {
	if o.Handle == nil {
		return TempDir()
	}
	return filepath.Dir(o.name)
}

// TempDir is a directory for temporary files on a disk: os.TempDir is often in memory.
func TempDir() string {
	const disk = "/var/tmp"
	if info, err := os.Stat(disk); err == nil && info.IsDir() && os.Getenv("TMPDIR") == "" {
		return disk
	}
	return os.TempDir()
}
