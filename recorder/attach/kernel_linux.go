package attach

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"gprof/rawformat/buildid"
)

// kernel names places in the kernel, by its list of symbols. That is read when the
// first place is met.
type kernel struct {
	read    bool
	text    uint64 // where its code begins; 0: it does not tell
	build   string
	symbols []symbol // by address
}

type symbol struct {
	address uint64
	name    string
}

const (
	kallsyms    = "/proc/kallsyms"
	kernelNotes = "/sys/kernel/notes"
	kernelPath  = "[kernel.kallsyms]"

	// kernelHalf is where the addresses of kernels begin.
	kernelHalf = 1 << 63

	maxKernelSymbols = 1 << 22 // kernels have some 200,000
)

// load reads the list, once.
func (k *kernel) load() {
	if k.read {
		return
	}
	k.read = true
	f, err := os.Open(kallsyms)
	if err != nil {
		return // the addresses are recorded all the same
	}
	defer f.Close()
	k.parse(f)
	if notes, err := os.ReadFile(kernelNotes); err == nil && k.text != 0 {
		k.build = buildid.InNotes(binary.NativeEndian, notes)
	}
}

// parse reads the list: in each line an address, a kind and a name. Where addresses are
// hidden they are all 0.
func (k *kernel) parse(r io.Reader) {
	in := bufio.NewScanner(r)
	for in.Scan() && len(k.symbols) < maxKernelSymbols {
		f := strings.Fields(in.Text())
		if len(f) < 3 || !strings.Contains("tTwW", f[1]) {
			continue
		}
		address, err := strconv.ParseUint(f[0], 16, 64)
		if err != nil || address == 0 {
			continue
		}
		if f[2] == "_text" || f[2] == "_stext" && k.text == 0 {
			k.text = address
		}
		k.symbols = append(k.symbols, symbol{address, f[2]})
	}
	slices.SortStableFunc(k.symbols, func(a, b symbol) int {
		switch {
		case a.address < b.address:
			return -1
		case a.address > b.address:
			return 1
		}
		return 0
	})
}

// tells reports whether places in the kernel can be named.
func (k *kernel) tells() bool {
	k.load()
	return k.text != 0
}

// module is the kernel as a file. Offsets are from the beginning of its text, which
// lies elsewhere after each boot.
func (k *kernel) module() module {
	k.load()
	start := k.text
	if start == 0 {
		start = kernelHalf
	}
	return module{path: kernelPath, build: k.build, start: start, end: math.MaxUint64}
}

// place is where an address lies: in the kernel, if it does not lie below its text as
// modules of some machines do.
func (k *kernel) place(address uint64) frame {
	if m := k.module(); address >= m.start {
		return frame{kernelModule, address - m.start}
	}
	return frame{noModule, address}
}

// name is that of the function at an offset, "" unknown.
func (k *kernel) name(offset uint64) string {
	k.load()
	address := k.module().start + offset
	i, found := slices.BinarySearchFunc(k.symbols, address, func(s symbol, a uint64) int {
		switch {
		case s.address < a:
			return -1
		case s.address > a:
			return 1
		}
		return 0
	})
	if !found {
		i--
	}
	if i < 0 {
		return ""
	}
	for i > 0 && k.symbols[i-1].address == k.symbols[i].address {
		i-- // of several names the first
	}
	return k.symbols[i].name
}
