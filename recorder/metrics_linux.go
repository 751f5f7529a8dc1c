package recorder

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"gprof/rawformat"
)

const (
	// maxThreads bounds the counters of threads: Go programs rarely have more that
	// do work, and each is a row on screen.
	maxThreads = 64

	// maxThreadsEver bounds their definitions where threads come and go.
	maxThreadsEver = 4 * maxThreads
)

// systemMetrics are counters of the operating system.
type systemMetrics struct {
	kernel  kernel
	threads map[int]bool // that have a counter
	ever    int          // threads that had one
}

// systemGauges are what there is to be read, by the names under which meta says
// what is absent. A gauge that gives no error is in use.
var systemGauges = []struct {
	name string
	open func(*kernel) (*gauge, error)
}{
	{"resident memory", (*kernel).openMemory},
	{"memory of the cgroup", (*kernel).openGroupMemory},
	{"input and output", (*kernel).openIO},
	{"network", (*kernel).openNetwork},
	{"CPU throttling", (*kernel).openThrottling},
	{"pressure of the cgroup", (*kernel).openGroupPressure},
	{"pressure of the system", (*kernel).openPressure},
	{"power", (*kernel).openPower},
}

// openSystem finds the operating system's counters below a root directory.
func (m *meter) openSystem(root string) {
	s := &m.system
	s.kernel.root, s.threads = root, map[int]bool{}
	m.add(&gauge{
		specs: []counterSpec{{name: "process CPU", category: "CPU", description: "CPU time of all threads", unit: UnitNanoseconds, mode: 1}},
		read:  cpuClock(unix.CLOCK_PROCESS_CPUTIME_ID),
	})
	for _, g := range systemGauges {
		if gauge, err := g.open(&s.kernel); err != nil {
			m.miss(g.name, err)
		} else {
			m.add(gauge)
		}
	}
}

// attend gives threads counters that have none, and the recorder one of its own.
// It is called by the housekeeper's thread.
func (m *meter) attend() {
	s := &m.system
	if s.ever == 0 {
		m.add(&gauge{
			specs: []counterSpec{{name: "recorder CPU", category: "CPU", description: "CPU time of the recorder's housekeeping", unit: UnitNanoseconds, mode: 1}},
			read:  cpuClock(threadClock(unix.Gettid())),
		})
	}
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	for _, task := range tasks {
		tid, err := strconv.Atoi(task.Name())
		if err == nil && !s.threads[tid] && len(s.threads) < maxThreads && s.ever < maxThreadsEver {
			s.ever++
			s.threads[tid] = true
			m.add(s.thread(tid))
		}
	}
}

// thread is the gauge of a thread's CPU time. It is gone with the thread.
func (s *systemMetrics) thread(tid int) *gauge {
	id := strconv.Itoa(tid)
	comm, _ := os.ReadFile("/proc/self/task/" + id + "/comm") // the thread may be gone: no name
	read := cpuClock(threadClock(tid))
	return &gauge{
		specs: []counterSpec{{name: "thread " + id + " " + string(bytes.TrimSpace(comm)), category: "CPU", description: "CPU time of one thread", unit: UnitNanoseconds, mode: 1}},
		read: func(v []count) bool {
			if read(v) {
				return true
			}
			delete(s.threads, tid)
			return false
		},
	}
}

// threadClock is the CPU clock of a thread: the kernel's encoding of a dynamic
// clock id, 6 being "thread" and "scheduler".
func threadClock(tid int) int32 { return int32(^tid<<3 | 6) }

// cpuClock reads a CPU clock in ns. When its thread is gone it can't.
func cpuClock(id int32) func([]count) bool {
	return func(v []count) bool {
		var t unix.Timespec
		err := unix.ClockGettime(id, &t)
		v[0] = count{value: t.Nano(), known: err == nil}
		return err == nil
	}
}

// openMemory reads the second number of statm, in pages.
func (k *kernel) openMemory() (*gauge, error) {
	f, err := k.keep("proc/self/statm")
	if err != nil {
		return nil, err
	}
	page := int64(os.Getpagesize())
	return &gauge{
		specs: []counterSpec{{name: rawformat.CounterRSS, category: "Memory", description: "resident memory", unit: UnitBytes}},
		read: func(v []count) bool {
			_, rest, _ := cutNumber(f.read())
			pages, _, ok := cutNumber(rest)
			v[0] = count{value: pages * page, known: ok}
			return true
		},
	}, nil
}

// openIO reads what system calls of the process, and the disk for them, have read
// and written.
func (k *kernel) openIO() (*gauge, error) {
	f, err := k.keep("proc/self/io")
	if err != nil {
		return nil, err
	}
	keys := [...]struct{ bytes, calls string }{{"rchar", "syscr"}, {"wchar", "syscw"}, {"read_bytes", ""}, {"write_bytes", ""}}
	return &gauge{
		specs: []counterSpec{
			{name: "read", category: "I/O", description: "bytes that the process read from files, pipes and connections", unit: UnitBytes, mode: 1},
			{name: "written", category: "I/O", description: "bytes that the process wrote to files, pipes and connections", unit: UnitBytes, mode: 1},
			{name: "disk read", category: "I/O", description: "bytes that were fetched from disks for the process", unit: UnitBytes, mode: 1},
			{name: "disk written", category: "I/O", description: "bytes that the process has caused to be written to disks", unit: UnitBytes, mode: 1},
		},
		read: func(v []count) bool {
			text := f.read()
			for i, key := range keys {
				v[i].value, v[i].known = keyed(text, key.bytes)
				v[i].number, _ = keyed(text, key.calls)
			}
			return true
		},
	}, nil
}

// openNetwork sums up the interfaces of the process' network namespace: in a
// container these are the container's. What goes through several of them, such as
// a bridge and what it connects, counts in each. Loopback stands apart: all that is
// sent there is received there.
func (k *kernel) openNetwork() (*gauge, error) {
	f, err := k.keep("proc/self/net/dev")
	if err != nil {
		return nil, err
	}
	return &gauge{
		specs: []counterSpec{
			{name: "network received", category: "Network", description: "bytes that all interfaces of the network namespace but loopback have received", unit: UnitBytes, mode: 1},
			{name: "network sent", category: "Network", description: "bytes that all interfaces of the network namespace but loopback have sent", unit: UnitBytes, mode: 1},
			{name: "loopback", category: "I/O", description: "bytes that were sent within the network namespace", unit: UnitBytes, mode: 1},
		},
		read: func(v []count) bool {
			sumInterfaces(f.read(), v)
			return true
		},
	}, nil
}

// sumInterfaces reads /proc/net/dev. Behind its name an interface has eight numbers
// of what it received, and eight of what it sent: bytes and packets are the first.
func sumInterfaces(text []byte, v []count) {
	for len(text) > 0 {
		var line []byte
		line, text, _ = bytes.Cut(text, newline)
		name, rest, ok := bytes.Cut(line, colon)
		var n [10]int64
		for i := range n {
			if ok {
				n[i], rest, ok = cutNumber(rest)
			}
		}
		switch {
		case !ok: // a heading
		case string(bytes.TrimLeft(name, " ")) == "lo":
			v[2] = count{n[8], n[9], true}
			v[0].known, v[1].known = true, true
		default:
			v[0] = count{v[0].value + n[0], v[0].number + n[1], true}
			v[1] = count{v[1].value + n[8], v[1].number + n[9], true}
		}
	}
}

func (m *systemMetrics) close() { m.kernel.close() }
