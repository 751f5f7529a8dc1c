package symbols

import (
	"bufio"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gprof/rawformat/buildid"
)

// Errors of a kernel's list of symbols.
var (
	ErrKernelBuild  = errors.New("kallsyms of a kernel whose build id nobody tells: give /proc/kallsyms itself, or what perf keeps in ~/.debug")
	ErrKernelHidden = errors.New("kallsyms without addresses: read it as root, or set kernel.kptr_restrict to 0")
)

// kallsymsName is how such a list is called.
const kallsymsName = "kallsyms"

// kernelNotes is where a running kernel tells its build id.
const kernelNotes = "/sys/kernel/notes"

// kernelID is the build id of the kernel that a list is of: of the one that runs, or
// that whose folder it lies in, as perf keeps them.
func kernelID(name string) (string, error) {
	if name == "/proc/"+kallsymsName {
		notes, err := os.ReadFile(kernelNotes)
		if err != nil {
			return "", ErrKernelBuild
		}
		if id := buildid.InNotes(binary.NativeEndian, notes); id != "" {
			return id, nil
		}
	}
	folder := filepath.Base(filepath.Dir(name))
	if id, err := hex.DecodeString(folder); err == nil && len(id) >= 8 {
		return strings.ToLower(folder), nil
	}
	return "", ErrKernelBuild
}

// maxKernelSymbols bounds how many are read; kernels have some 200,000.
const maxKernelSymbols = 1 << 22

// readKernel reads a list: in each line an address, a kind and a name, and that of
// the module that it is of. Offsets are from the beginning of the kernel's text,
// which lies elsewhere after each boot.
func readKernel(r io.Reader) (*program, error) {
	p := &program{}
	in := bufio.NewScanner(r)
	for in.Scan() && len(p.symbols) < maxKernelSymbols {
		f := strings.Fields(in.Text())
		if len(f) < 3 || !strings.Contains("tTwW", f[1]) {
			continue
		}
		address, err := strconv.ParseUint(f[0], 16, 64)
		if err != nil {
			continue
		}
		if f[2] == "_text" || f[2] == "_stext" && p.kernel == 0 {
			p.kernel = address
		}
		name := f[2]
		if len(f) > 3 { // of a module, in brackets
			name += " " + f[3]
		}
		p.symbols = append(p.symbols, elf.Symbol{Name: name, Value: address})
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	if p.kernel == 0 {
		return nil, ErrKernelHidden
	}
	slices.SortStableFunc(p.symbols, func(a, b elf.Symbol) int { return cmp.Or(cmp.Compare(a.Value, b.Value), byPreference(a, b)) })
	return p, nil
}
