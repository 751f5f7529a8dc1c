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

// ErrKernelBuild says that a symbol list's kernel is unknown.
var ErrKernelBuild = errors.New("kallsyms of a kernel whose build id nobody tells: give /proc/kallsyms itself, or what perf keeps in ~/.debug")

// kernelID is the build id of a symbol list's kernel: the running one, or that in the name of the
// folder, as perf keeps them.
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

// openKernel reads such a list. Offsets are relative to the kernel's text.
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

// inKernel is the function at an offset in the kernel, nil if there is none, or if it is an
// unwanted module's, whose place differs in each boot.
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
