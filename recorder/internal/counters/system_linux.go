package counters

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"gprof/rawformat"
	"gprof/recorder/internal/rt"
)

const (
	// maxThreads bounds the counters of threads at a time: Go programs rarely have more
	// threads at work, and each is a row on screen.
	maxThreads = 64

	// maxThreadsEver bounds their definitions, where threads come and go.
	maxThreadsEver = 4 * maxThreads
)

// systemMetrics are counters of the operating system.
type systemMetrics struct {
	kernel  kernel
	threads map[int]bool // that have a counter
	ever    int          // threads that had one
}

// systemGauges are the gauges of the system, and their names in the list of what is
// absent. Those that open are used.
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
	{"open files", (*kernel).openFiles},
	{"major faults", (*kernel).openFaults},
}

// manyFiles is how many files a program must be allowed to open at once for counters to have some.
const manyFiles = 96

// fileLimit is how many files the program may open at once.
func fileLimit() uint64 {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return manyFiles
	}
	return limit.Cur
}

// openSystem finds the operating system's counters, whose files lie below a root directory.
func (m *Meter) openSystem(root string) {
	s := &m.system
	s.kernel.root, s.kernel.rooms, s.threads = root, &m.rooms, map[int]bool{}
	m.add(&gauge{
		specs: []Spec{{Name: rawformat.CounterProcessCPU, Category: "CPU", Description: "CPU time of all threads", Unit: rawformat.FormatNanoseconds, Mode: rawformat.CounterTotal}},
		read:  cpuClock(unix.CLOCK_PROCESS_CPUTIME_ID),
	})
	if n := fileLimit(); n < manyFiles {
		m.miss("the system's", fmt.Errorf("they take a dozen files, and the program may open only %d at once", n))
		return
	}
	for _, g := range systemGauges {
		if gauge, err := g.open(&s.kernel); err != nil {
			m.miss(g.name, err)
		} else {
			m.add(gauge)
		}
	}
	if gauge, err := s.openQueue(); err != nil {
		m.miss("CPU wait", err)
	} else {
		m.add(gauge)
	}
}

// Attend gives counters to new threads, and to the calling thread as the recorder's own.
// It is always called by the same thread.
func (m *Meter) Attend() {
	s := &m.system
	if s.ever == 0 {
		m.add(&gauge{
			specs: []Spec{{Name: rawformat.CounterRecorderCPU, Category: "CPU", Description: "CPU time of the recorder's housekeeping", Unit: rawformat.FormatNanoseconds, Mode: rawformat.CounterTotal}},
			read:  m.withSpent(cpuClock(ThreadClock(unix.Gettid()))),
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

// withSpent adds what was spent on other threads to the CPU time of one.
func (m *Meter) withSpent(read func([]Reading) bool) func([]Reading) bool {
	return func(v []Reading) bool {
		known := read(v)
		v[0].Value += m.spent.Load()
		return known
	}
}

// thread is the gauge of a thread's CPU time, until the thread ends.
func (s *systemMetrics) thread(tid int) *gauge {
	id := strconv.Itoa(tid)
	comm, _ := rt.ReadKernel("/proc/self/task/" + id + "/comm") // the thread may be gone: no name
	read := cpuClock(ThreadClock(tid))
	return &gauge{
		specs: []Spec{{Name: "thread " + id + " " + string(bytes.TrimSpace(comm)), Category: "CPU", Description: "CPU time of one thread", Unit: rawformat.FormatNanoseconds, Mode: rawformat.CounterTotal}},
		read: func(v []Reading) bool {
			if read(v) {
				return true
			}
			delete(s.threads, tid)
			return false
		},
	}
}

// ThreadClock is the CPU clock of a thread: the kernel's encoding of a dynamic
// clock id, 6 being "thread" and "scheduler".
func ThreadClock(tid int) int32 { return int32(^tid<<3 | 6) }

// cpuClock reads a CPU clock in ns, until its thread is gone.
func cpuClock(id int32) func([]Reading) bool {
	return func(v []Reading) bool {
		var t unix.Timespec
		err := unix.ClockGettime(id, &t)
		v[0] = Reading{Value: t.Nano(), Known: err == nil}
		return err == nil
	}
}

// openMemory reads statm, which also says how near the process is to its limits.
func (k *kernel) openMemory() (*gauge, error) {
	f, err := k.keep("proc/self/statm")
	if err != nil {
		return nil, err
	}
	rooms := k.openRooms()
	return &gauge{
		specs: []Spec{{Name: rawformat.CounterRSS, Category: "Memory", Description: "resident memory", Unit: rawformat.FormatBytes}},
		read: func(v []Reading) bool {
			size, resident, data, ok := memoryPages(f.read())
			v[0] = Reading{Value: resident * pageSize, Known: ok}
			rooms.note(time.Now(), size*pageSize, resident*pageSize, data*pageSize)
			return true
		},
	}, nil
}

// openIO reads how much the process has read and written, by system calls and on the
// disk.
func (k *kernel) openIO() (*gauge, error) {
	f, err := k.keep("proc/self/io")
	if err != nil {
		return nil, err
	}
	keys := [...]struct{ bytes, calls string }{{"rchar", "syscr"}, {"wchar", "syscw"}, {"read_bytes", ""}, {"write_bytes", ""}}
	return &gauge{
		specs: []Spec{
			{Name: "read", Category: "I/O", Description: "bytes that the process read from files, pipes and connections", Unit: rawformat.FormatBytes, Mode: rawformat.CounterTotal},
			{Name: "written", Category: "I/O", Description: "bytes that the process wrote to files, pipes and connections", Unit: rawformat.FormatBytes, Mode: rawformat.CounterTotal},
			{Name: "disk read", Category: "I/O", Description: "bytes that were fetched from disks for the process", Unit: rawformat.FormatBytes, Mode: rawformat.CounterTotal},
			{Name: "disk written", Category: "I/O", Description: "bytes that the process has caused to be written to disks", Unit: rawformat.FormatBytes, Mode: rawformat.CounterTotal},
		},
		read: func(v []Reading) bool {
			text := f.read()
			for i, key := range keys {
				v[i].Value, v[i].Known = keyed(text, key.bytes)
				v[i].Number, _ = keyed(text, key.calls)
			}
			return true
		},
	}, nil
}

// openNetwork sums up the interfaces of the process' network namespace, which in a
// container are the container's. Traffic through several of them, such as a bridge and
// what it connects, counts in each. Loopback is a counter of its own: all that is sent
// there is received there.
func (k *kernel) openNetwork() (*gauge, error) {
	f, err := k.keep("proc/self/net/dev")
	if err != nil {
		return nil, err
	}
	return &gauge{
		specs: []Spec{
			{Name: "network received", Category: "Network", Description: "bytes that all interfaces of the network namespace but loopback have received", Unit: rawformat.FormatBytes, Mode: rawformat.CounterTotal},
			{Name: "network sent", Category: "Network", Description: "bytes that all interfaces of the network namespace but loopback have sent", Unit: rawformat.FormatBytes, Mode: rawformat.CounterTotal},
			{Name: "loopback", Category: "I/O", Description: "bytes that were sent within the network namespace", Unit: rawformat.FormatBytes, Mode: rawformat.CounterTotal},
		},
		read: func(v []Reading) bool {
			sumInterfaces(f.read(), v)
			return true
		},
	}, nil
}

// sumInterfaces reads /proc/net/dev. Behind its name an interface has eight numbers for
// reception and eight for transmission, of which bytes and packets are the first two.
func sumInterfaces(text []byte, v []Reading) {
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
			v[2] = Reading{n[8], n[9], true}
			v[0].Known, v[1].Known = true, true
		default:
			v[0] = Reading{v[0].Value + n[0], v[0].Number + n[1], true}
			v[1] = Reading{v[1].Value + n[8], v[1].Number + n[9], true}
		}
	}
}

func (m *systemMetrics) close() { m.kernel.close() }
