package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/term"
)

// output is a file that is there only once it is whole: it is written beside
// its name and renamed. The name "-" is stdout.
type output struct {
	io.Writer
	file *os.File // nil for stdout
	name string
	mode fs.FileMode

	unfinished *unfinished // where file is listed
}

// create begins an output of inputs that let those read. binary output to a terminal is
// refused.
func (s *streams) create(name string, binary bool, inputs fs.FileMode) (*output, error) {
	if name == "-" {
		if binary && s.terminal {
			return nil, errors.New("will not write binary data to a terminal; use -o FILE or a pipe")
		}
		return &output{Writer: s.stdout, name: name}, nil
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: is not a regular file; give -o the name of a file to write", name)
	}
	if _, err := os.Stat(filepath.Dir(name)); err != nil {
		return nil, fmt.Errorf("%s: its directory: %w", name, err)
	}
	if err := refuseLinks(filepath.Dir(name)); err != nil {
		return nil, err
	}
	out := &output{name: name, mode: fileMode(inputs), unfinished: &s.unfinished}
	err := s.unfinished.add(func() (_ path, err error) {
		if out.file, err = os.CreateTemp(filepath.Dir(name), temporaryName(name)); err != nil {
			return path{}, err
		}
		return path{name: out.file.Name()}, nil
	})
	if err != nil {
		return nil, fmt.Errorf("cannot write beside the output: %w", err)
	}
	out.Writer = out.file
	return out, nil
}

// commit gives the output its name; discard removes what was written. One of
// them must be called.
func (o *output) commit() error {
	if o.file == nil {
		return nil
	}
	return o.unfinished.commit(o)
}

func (o *output) discard() {
	if o.file != nil {
		o.unfinished.discard(o)
	}
}

// temporary implements [product].
func (o *output) temporary() string {
	if o.file == nil {
		return ""
	}
	return o.file.Name()
}

func (o *output) close() error {
	if o.file == nil {
		return nil
	}
	return errors.Join(o.file.Chmod(o.mode), o.file.Close())
}

func (o *output) place(p *placing) error {
	if o.file == nil {
		return nil
	}
	return p.move(o.file.Name(), o.name)
}

func (o *output) drop() {
	if o.file != nil {
		o.file.Close()
		os.Remove(o.file.Name())
	}
}

// inDirectory is the directory that temporary files of this output belong in.
func (o *output) inDirectory() string {
	if o.file == nil {
		return temporary()
	}
	return filepath.Dir(o.name)
}

// temporary is a directory for temporary files that lies on a disk: what
// os.TempDir says is often memory.
func temporary() string {
	const disk = "/var/tmp"
	if info, err := os.Stat(disk); err == nil && info.IsDir() && os.Getenv("TMPDIR") == "" {
		return disk
	}
	return os.TempDir()
}

// width is how many characters fit into a line of stdout, 0 if it is no terminal.
func (s *streams) width() int {
	return columns(s.stdout.w)
}

// columns is how many characters fit into a line of w, 0 if it is no terminal.
func columns(w any) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
