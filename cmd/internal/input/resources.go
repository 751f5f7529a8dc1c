package input

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"

	"gprof/cmd/internal/human"
)

// Resources are the flags for how much of the machine a command may use. Outputs don't
// depend on them.
type Resources struct {
	Jobs Cores  `short:"j" placeholder:"N" help:"Cores to use. Default: all."`
	Mem  Memory `default:"256MiB" placeholder:"SIZE" help:"Memory to use: 64MiB, 1G. Rows that do not fit are spilled to a file; tables that do not fit end the run with the size they need. Default: ${default}."`
}

// Cores is a number of cores, 0 for all of them.
type Cores int

// Validate refuses invalid numbers. Kong calls it.
func (c Cores) Validate() error {
	if c < 0 {
		return fmt.Errorf("%d cores: want a number, or 0 for all", int(c))
	}
	return nil
}

// Number is how many cores to use.
func (c Cores) Number() int {
	if c == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return int(c)
}

// Memory is the number of bytes that a run may take.
type Memory int64

// Size is a number of bytes.
type Size int64

// UnmarshalText reads a size.
func (z *Size) UnmarshalText(text []byte) error {
	n, err := parseSize(string(text))
	*z = Size(n)
	return err
}

// minMemory is the least memory for the rows on their way through a run.
const minMemory = 16 << 20

// UnmarshalText reads a size.
func (m *Memory) UnmarshalText(text []byte) error {
	n, err := parseSize(string(text))
	if err == nil && n < minMemory {
		err = fmt.Errorf("%s: want at least %s", text, human.Bytes(minMemory))
	}
	*m = Memory(n)
	return err
}

// heapGrowth is by how many hundredths the heap may grow beyond what is alive;
// with the default of 100 it takes half as much again. A small heap may grow by
// smallGrowth bytes instead: otherwise a run begins with dozens of collections,
// which take a tenth of its time.
const (
	heapGrowth  = 20
	smallGrowth = 12 << 20
)

// Apply makes the collector let the heap grow less, and work harder when the memory in
// use comes near the limit. It keeps Go's runtime, the collector included, to the cores that were asked for.
func (r *Resources) Apply() {
	if n := int(r.Jobs); n > 0 && n < runtime.GOMAXPROCS(0) {
		runtime.GOMAXPROCS(n)
	}
	debug.SetMemoryLimit(int64(r.Mem))
	new(pacer).pace()
}

// pacer is an object that nothing refers to, so that each collection calls its
// finalizer. It is too large to be allocated together with others.
type pacer struct {
	growth int
	live   [1]metrics.Sample
}

// pace sets how far the heap may grow until the next collection, and arranges to be
// called after that.
func (p *pacer) pace() {
	p.live[0].Name = "/gc/heap/live:bytes"
	metrics.Read(p.live[:])
	live := max(p.live[0].Value.Uint64(), 1<<20)
	if growth := max(heapGrowth, int(100*smallGrowth/live)); growth != p.growth {
		p.growth = growth
		debug.SetGCPercent(growth)
	}
	runtime.SetFinalizer(p, (*pacer).pace)
}

// parseSize reads a number of bytes as people write it: digits, and a unit of K, M or G,
// also as KB or KiB, in any case. All are powers of 1,024.
func parseSize(s string) (int64, error) {
	number := strings.TrimRight(s, "bBiIkKmMgG")
	shifts := map[string]int{"": 0, "b": 0, "k": 10, "kb": 10, "kib": 10, "m": 20, "mb": 20, "mib": 20, "g": 30, "gb": 30, "gib": 30}
	shift, ok := shifts[strings.ToLower(s[len(number):])]
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || !ok || n < 0 || n > 1<<62>>shift {
		return 0, fmt.Errorf("size %q: want a number and K, M or G, as in 256MiB", s)
	}
	return n << shift, nil
}
