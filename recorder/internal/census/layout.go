//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package census

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"gprof/recorder/internal/modules"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/variables"
)

// The first words of a g are known to the linker and to debuggers; sched is guessed and then
// checked; all else is searched for.
const (
	offHi    = 8
	offSched = 56
	offPC    = offSched + 8
	offBP    = offSched + 40
)

// The statuses of goroutines that the search looks for, as debuggers know them, too.
const (
	statusRunnable = 1
	statusRunning  = 2
	statusSyscall  = 3
	statusWaiting  = 4
	statusScan     = 0x1000 // added while the garbage collector has the stack
)

// pointer is the address of a g. The runtime never frees one.
type pointer = unsafe.Pointer

// layout says where the runtime keeps things.
type layout struct {
	list                uintptr // the address of the slice of all goroutines
	goid, status, turns uintptr // offsets in a g; turns counts how often the goroutine stopped running, modulo 256
	fetched             uintptr // makes the compiler keep the reads
}

// glance is what tells whether a goroutine has moved: as long as it stands still, its turns and its
// stack pointer do not change.
type glance struct {
	goroutine uint64
	sp        uintptr
	status    uint32
	turns     uint8
}

// waits reports whether the goroutine does not run, and its stack does not move.
func (s *glance) waits() bool {
	return s.status == statusWaiting || s.status == statusRunnable || s.status == statusSyscall
}

// state is what a g says about its goroutine.
type state struct {
	glance
	lo, hi, pc, bp uintptr
}

// doing is what a goroutine does that waits.
func (s *glance) doing() Doing {
	switch s.status {
	case statusRunnable:
		return Ready
	case statusSyscall:
		return Calls
	}
	return Waits
}

// holds reports whether the goroutine has stood still since, if its state is the same. System calls
// are not counted.
func (s *glance) holds() bool { return s.status != statusSyscall }

func (s *state) onStack(at uintptr) bool { return s.lo <= at && at+8 <= s.hi }

// glance reads the g. The runtime may change it meanwhile; whoever relies on more than one word
// reads it twice.
//
//go:norace
//go:nocheckptr
func (l *layout) glance(g pointer) (s glance) {
	s.status = atomic.LoadUint32((*uint32)(unsafe.Add(g, l.status)))
	if !s.waits() {
		return glance{status: s.status}
	}
	s.goroutine = atomic.LoadUint64((*uint64)(unsafe.Add(g, l.goid)))
	s.sp = word(g, offSched)
	s.turns = *(*uint8)(unsafe.Add(g, l.turns))
	return s
}

// fetch reads what glance will read of some g. Nothing depends on what is read, so the processor
// waits for all of them at once.
//
//go:norace
//go:nocheckptr
func (l *layout) fetch(all []pointer) {
	for _, g := range all {
		l.fetched += uintptr(atomic.LoadUint32((*uint32)(unsafe.Add(g, l.status)))) + word(g, offSched) + uintptr(*(*uint8)(unsafe.Add(g, l.turns)))
	}
}

// state reads more of the g.
func (l *layout) state(g pointer) state {
	return state{l.glance(g), word(g, 0), word(g, offHi), word(g, offPC), word(g, offBP)}
}

//go:norace
//go:nocheckptr
func word(g pointer, offset uintptr) uintptr {
	return atomic.LoadUintptr((*uintptr)(unsafe.Add(g, offset)))
}

// length is how long the runtime's list is. The list never gets shorter.
//
//go:norace
func (l *layout) length() int {
	return int(atomic.LoadUintptr((*uintptr)(static(l.list + 8))))
}

// goroutines is the runtime's list of all goroutines, as far as length, which must have been read
// before: the runtime may be moving the list to a larger array, and stores its address before the
// new length.
//
//go:norace
//go:nocheckptr
func (l *layout) goroutines(length int) []pointer {
	first := (*pointer)(atomic.LoadPointer((*unsafe.Pointer)(static(l.list))))
	return unsafe.Slice(first, length)
}

// static converts an address outside of Go's heap.
func static(at uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&at)) }

var (
	errGoroutine = errors.New("the goroutine's number is not found")
	errStatus    = errors.New("the goroutine's status is not found")
	errTurns     = errors.New("the count of the goroutine's turns is not found")
	errParked    = errors.New("goroutines that wait do not say where")
	errList      = errors.New("the list of goroutines is not found")
)

func (l *layout) find() error {
	if l.goid = rt.FindGoroutine(); l.goid == 0 {
		return errGoroutine
	}
	var probes [rt.Probes]*probe
	for i := range probes {
		probes[i] = newProbe()
	}
	defer func() {
		for _, p := range probes {
			p.end()
		}
	}()
	var status, turns candidates
	for _, p := range probes {
		if err := p.meet(&status, &turns); err != nil {
			return err
		}
	}
	var ok bool
	if l.status, ok = status.only(); !ok || l.status%4 != 0 {
		return errStatus
	}
	if l.turns, ok = turns.only(); !ok {
		return errTurns
	}
	return l.findList(probes[:])
}

// candidates are the offsets in a g that fit so far.
type candidates struct {
	not  [rt.SizeOfG]bool
	seen bool
}

// keep drops the offsets that don't fit.
func (c *candidates) keep(fits func(offset int) bool) {
	c.seen = true
	for i := range c.not {
		c.not[i] = c.not[i] || !fits(i)
	}
}

// only is the offset if there is one only.
func (c *candidates) only() (at uintptr, ok bool) {
	for i, not := range c.not {
		if !not && ok {
			return 0, false
		}
		if !not {
			at, ok = uintptr(i), true
		}
	}
	return at, ok && c.seen
}

// probe is a goroutine whose state is known.
type probe struct {
	g     uintptr
	steps chan bool      // it goes on to the next step; closed: it ends
	ran   chan [2][]byte // with room, so that a probe waits for nothing but a step
}

func newProbe() *probe {
	p := &probe{steps: make(chan bool), ran: make(chan [2][]byte, 1)}
	go p.run()
	<-p.ran
	return p
}

// run tells what its g looks like while it runs, and in a system call, and waits, again and again.
func (p *probe) run() {
	p.g = rt.OwnG()
	p.ran <- [2][]byte{}
	for range p.steps {
		p.ran <- [2][]byte{rt.CopyOfG().Bytes(), bytesAt(p.g)}
	}
}

func (p *probe) end() { close(p.steps) }

// meet drops the offsets that contradict what the probe does.
func (p *probe) meet(status, turns *candidates) error {
	const steps, maxStops = 8, 4
	last := p.parked()
	for step := 0; step < steps; step++ {
		p.steps <- true
		ran := <-p.ran
		waiting := p.parked()
		if last == nil || ran[1] == nil || waiting == nil {
			return errParked
		}
		status.keep(func(i int) bool {
			is := func(g []byte, status uint32) bool { return i%4 == 0 && word32(g, i)&^statusScan == status }
			return is(ran[0], statusRunning) && is(ran[1], statusSyscall) && is(waiting, statusWaiting)
		})
		// It stopped running to wait for the next step, and perhaps to let others run.
		turns.keep(func(i int) bool {
			d := waiting[i] - last[i]
			return 1 <= d && d <= maxStops
		})
		last = waiting
	}
	return nil
}

// bytesAt copies a g by a system call.
func bytesAt(g uintptr) []byte { return rt.ReadMemory(g, rt.SizeOfG).Bytes() }

func word32(b []byte, i int) uint32 { return *(*uint32)(unsafe.Pointer(&b[i])) }

// parkPatience is how long to wait for a goroutine that is about to park, on a busy machine, and
// parkPause how long between two looks.
const (
	parkPatience = rt.Time(500e6)
	parkPause    = 50 * time.Microsecond
)

// parked waits until the probe waits in gopark, on its own stack, and copies its g; nil: it does not.
func (p *probe) parked() []byte {
	for deadline := rt.Now() + parkPatience; rt.Now() < deadline; time.Sleep(parkPause) {
		b := bytesAt(p.g)
		if b == nil {
			return nil
		}
		at := func(i int) uintptr { return *(*uintptr)(unsafe.Pointer(&b[i])) }
		on := func(a uintptr) bool { return at(0) <= a && a < at(offHi) }
		f := runtime.FuncForPC(at(offPC) - 1) // it returns there
		if on(at(offSched)) && on(at(offBP)) && f != nil && f.Name() == "runtime.gopark" {
			return b
		}
	}
	return nil
}

const (
	searches    = 20 // for the list, at most
	searchPause = 50 * time.Millisecond
)

// findList searches the program's variables for the one slice that has all probes. While the
// garbage collector is at work it may have a copy of the slice; so what is found must be found
// again later.
func (l *layout) findList(probes []*probe) error {
	var found []uintptr
	for try := range searches {
		again, err := l.lists(probes)
		if err != nil {
			return err
		}
		if try > 0 {
			again = slices.DeleteFunc(again, func(at uintptr) bool { return !slices.Contains(found, at) })
		}
		if found = again; len(found) == 0 || len(found) == 1 && try > 0 {
			break
		}
		time.Sleep(searchPause)
	}
	if len(found) != 1 {
		return fmt.Errorf("%w: %d", errList, len(found))
	}
	l.list = found[0]
	return nil
}

// lists are the addresses of slices that have all probes.
func (l *layout) lists(probes []*probe) (found []uintptr, err error) {
	err = variables.Each(func(at uintptr, words rt.Memory) bool {
		for i := 0; i+2 < len(words); i++ {
			array, n, room := words[i], words[i+1], words[i+2]
			if n < uint64(len(probes)) || n > room || room > 1<<28 || array%8 != 0 || array < 1<<16 || array>>47 != 0 {
				continue
			}
			if hasAll(uintptr(array), int(n), probes) {
				found = append(found, at+uintptr(8*i))
			}
		}
		return true
	})
	return found, err
}

// hasAll reports whether an array consists of pointers, among them all probes.
func hasAll(array uintptr, n int, probes []*probe) bool {
	left := len(probes)
	piece := make(rt.Memory, 512)
	for from := 0; from < n; from += len(piece) {
		piece = piece[:min(len(piece), n-from)]
		if piece.Read(array+uintptr(8*from)) != nil {
			return false
		}
		for _, w := range piece {
			if w == 0 || w%8 != 0 || w>>47 != 0 {
				return false
			}
			for _, p := range probes {
				if w == uint64(p.g) {
					left--
				}
			}
		}
	}
	return left == 0
}

// textRange is where the program's code lies.
func textRange() (start, end uintptr) {
	here := uint64(reflect.ValueOf(textRange).Pointer())
	m := modules.Find(func(m *modules.Module) bool { return m.Start <= here && here < m.End })
	return uintptr(m.Start), uintptr(m.End)
}

// test looks at a goroutine that waits, and one in a system call, whose stacks are known.
func (c *Census) test() error {
	c.length = c.layout.length()
	p := newProbe()
	defer p.end()
	if err := c.checkSoon(p.g, statusWaiting, ".run"); err != nil {
		return err
	}
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		return err
	}
	called, ended := make(chan uintptr), make(chan bool)
	go func() {
		called <- rt.OwnG()
		inSystemCall(pipe[0])
		close(ended)
	}()
	g := <-called
	err := c.checkSoon(g, statusSyscall, ".inSystemCall")
	unix.Close(pipe[1])
	<-ended
	unix.Close(pipe[0])
	return err
}

//go:noinline
func inSystemCall(file int) {
	var b [1]byte
	unix.Read(file, b[:]) // it ends when the other side is closed
}

// checkSoon is check, once that holds.
func (c *Census) checkSoon(g uintptr, status uint32, function string) (err error) {
	for deadline := rt.Now() + parkPatience; rt.Now() < deadline; time.Sleep(parkPause) {
		if err = c.check(g, status, function); err == nil {
			return nil
		}
	}
	return err
}

// check looks at a goroutine, and expects a status, and a function that ends so on its stack.
func (c *Census) check(g uintptr, status uint32, function string) error {
	s := c.layout.state(static(g))
	if s.status != status {
		return errStatus
	}
	calls, err := c.stack.read(&s)
	if err != nil {
		return err
	}
	frames := runtime.CallersFrames(rt.Expand(calls))
	root, found := "", false
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		root = f.Function
		found = found || len(root) >= len(function) && root[len(root)-len(function):] == function
	}
	if !found || root != "runtime.goexit" {
		return fmt.Errorf("%w: it ends with %s", errStack, root)
	}
	return nil
}
