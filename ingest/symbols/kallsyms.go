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

// perfMapOf is the pid of a list of JIT functions, by perf's name for it, perf-PID.map.
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

// maxName bounds a line: names may contain paths and types.
const maxName = 1 << 20

// readPerfMap reads such a list: lines of address and size in hex, and a name. Of two functions at
// one address the later is newer. Malformed lines are ignored.
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
