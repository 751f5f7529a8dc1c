package symbols

import (
	"bufio"
	"cmp"
	"debug/elf"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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

// perfMapOf is the process of whose functions a file is a list: those that it made as it
// ran. The name is the one that perf looks for, perf-PID.map.
func perfMapOf(name string) (pid int32, ok bool) {
	text, isMap := strings.CutPrefix(filepath.Base(name), "perf-")
	text, ends := strings.CutSuffix(text, ".map")
	n, err := strconv.ParseInt(text, 10, 32)
	return int32(n), isMap && ends && err == nil && n > 0
}

func openPerfMap(name string) (*program, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readPerfMap(io.LimitReader(f, maxTable))
}

// maxName bounds a line: names may hold paths and types.
const maxName = 1 << 20

// readPerfMap reads such a list: lines of an address, a size, both in hex, and a name. Of
// two functions at one address the process made the last one later. What is no such line
// names nothing.
func readPerfMap(r io.Reader) (*program, error) {
	p := &program{loads: []elf.ProgHeader{{Filesz: math.MaxUint64}}} // an address is its own offset
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxName)
	for lines.Scan() {
		start, rest, _ := strings.Cut(lines.Text(), " ")
		size, function, _ := strings.Cut(rest, " ")
		from, err1 := strconv.ParseUint(strings.TrimPrefix(start, "0x"), 16, 64)
		n, err2 := strconv.ParseUint(strings.TrimPrefix(size, "0x"), 16, 64)
		if err1 == nil && err2 == nil && n > 0 && function != "" {
			p.symbols = append(p.symbols, elf.Symbol{Name: function, Value: from, Size: n})
		}
	}
	slices.SortStableFunc(p.symbols, func(a, b elf.Symbol) int { return cmp.Compare(a.Value, b.Value) })
	return p, lines.Err()
}
