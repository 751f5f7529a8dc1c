package symbols

import (
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"gprof/rawformat/buildid"
	"gprof/rawformat/kallsyms"
)

// ErrKernelBuild means that it can't be told which kernel a list of symbols is of.
var ErrKernelBuild = errors.New("kallsyms of a kernel whose build id nobody tells: give /proc/kallsyms itself, or what perf keeps in ~/.debug")

// kernelID is the build id of the kernel that a list is of: of the one that runs, or
// that whose folder it lies in, as perf keeps them.
func kernelID(name string) (string, error) {
	if name == kallsyms.Path {
		if id := buildid.OfKernel(); id != "" {
			return id, nil
		}
		return "", ErrKernelBuild
	}
	folder := filepath.Base(filepath.Dir(name))
	if id, err := hex.DecodeString(folder); err == nil && len(id) >= 8 {
		return strings.ToLower(folder), nil
	}
	return "", ErrKernelBuild
}

// openKernel reads such a list. Offsets are from the beginning of the kernel's text.
func openKernel(name string) (*program, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := kallsyms.Read(f)
	if err != nil {
		return nil, err
	}
	return &program{kernel: list}, nil
}

// inKernel is the function at an offset in the kernel, nil if there is none, or if it is
// one of a module and those are not wanted: where they lie says nothing in another boot.
func (p *program) inKernel(offset uint64, modules bool) []Function {
	s, ok := p.kernel.At(p.kernel.Text + offset)
	switch {
	case !ok || s.Module != "" && !modules:
		return nil
	case s.Module != "":
		return []Function{{Name: s.Name + " [" + s.Module + "]"}}
	}
	return []Function{{Name: s.Name}}
}
