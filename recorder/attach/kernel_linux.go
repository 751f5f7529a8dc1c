package attach

import (
	"math"
	"os"
	"strconv"
	"strings"

	"gprof/rawformat/buildid"
	"gprof/rawformat/kallsyms"
	"gprof/rawformat/perfevent"
	"gprof/recorder/internal/modules"
)

// kernel names places in the kernel by its list of symbols, which is read when the first
// one is needed.
type kernel struct {
	read  bool
	list  *kallsyms.List // nil: it can't be read
	build string

	deepest int // how many calls a chain may have
}

const (
	kernelPath = "[kernel.kallsyms]"

	// kernelHalf is where the addresses of kernels begin.
	kernelHalf = 1 << 63
)

// load reads the list, once.
func (k *kernel) load() {
	if k.read {
		return
	}
	k.read = true
	f, err := os.Open(kallsyms.Path)
	if err != nil {
		return // the addresses are recorded all the same
	}
	defer f.Close()
	if k.list, err = kallsyms.Read(f); err == nil {
		k.build = buildid.OfKernel()
	}
}

// deepestChain is how many calls the kernel gives of a stack.
func deepestChain() int {
	b, err := os.ReadFile("/proc/sys/kernel/perf_event_max_stack")
	if err != nil {
		return perfevent.DefaultDepth
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return perfevent.DefaultDepth
	}
	return n
}

// tells reports whether places in the kernel can be named.
func (k *kernel) tells() bool {
	k.load()
	return k.list != nil
}

// module is the kernel as a module. Offsets are from the beginning of its text, whose
// address changes with each boot.
func (k *kernel) module() modules.Module {
	start := uint64(kernelHalf)
	if k.tells() {
		start = k.list.Text
	}
	return modules.Module{Path: kernelPath, Build: k.build, Start: start, End: math.MaxUint64}
}

// place is where an address lies: in the kernel's module, unless it is below its text, as
// loadable modules are on some machines.
func (k *kernel) place(address uint64) frame {
	if m := k.module(); address >= m.Start {
		return frame{kernelModule, address - m.Start}
	}
	return frame{noModule, address}
}

// name is the name of the function at an offset, "" unknown.
func (k *kernel) name(offset uint64) string {
	if !k.tells() {
		return ""
	}
	s, _ := k.list.At(k.list.Text + offset)
	return s.Name
}
