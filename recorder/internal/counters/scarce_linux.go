package counters

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"

	"gprof/rawformat"
)

// openFiles reads how many files the process has open, and how many it may.
func (k *kernel) openFiles() (*gauge, error) {
	count, err := k.fileCounter("proc/self/fd")
	if err != nil {
		return nil, err
	}
	return &gauge{
		every: slowEvery,
		specs: []Spec{
			{Name: "open files", Category: "I/O", Description: "files, connections and the like that the process has open"},
			{Name: "open files limit", Category: "I/O", Description: "how many it may have open"},
		},
		read: func(v []Reading) bool {
			v[0].Value, v[0].Known = count()
			var limit unix.Rlimit
			err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit)
			v[1] = Reading{Value: int64(min(limit.Cur, 1<<62)), Known: err == nil && limit.Cur != unix.RLIM_INFINITY}
			return true
		},
	}, nil
}

// fileCounter returns how to count the entries of a directory of open files: since Linux 6.2 that is its
// size; before, and elsewhere, they have to be listed.
func (k *kernel) fileCounter(path string) (func() (int64, bool), error) {
	name := filepath.Join(k.root, path)
	dir, err := unix.Open(name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	k.open = append(k.open, dir)
	var s unix.Stat_t
	var fs unix.Statfs_t
	if err := errors.Join(unix.Fstat(dir, &s), unix.Fstatfs(dir, &fs)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if s.Size > 0 && fs.Type == unix.PROC_SUPER_MAGIC {
		return func() (int64, bool) {
			err := unix.Fstat(dir, &s)
			return s.Size, err == nil
		}, nil
	}
	return (&listing{dir: dir}).count, nil
}

// listing counts the entries of a directory, some hundred in a call: a kernel takes more than 1 µs an entry,
// and servers have a hundred thousand.
type listing struct {
	dir   int
	so    int64 // in this round, with "." and ".."
	last  int64 // in the round before
	known bool
	buf   [16 << 10]byte // of struct linux_dirent64
}

// count returns how many there were when all had been counted the last time.
func (l *listing) count() (int64, bool) {
	for range 2 { // the second finds the end of a short one
		n, err := unix.Getdents(l.dir, l.buf[:])
		if err != nil {
			return 0, false
		}
		if n <= 0 {
			l.last, l.known, l.so = max(0, l.so-2), true, 0
			_, err := unix.Seek(l.dir, 0, io.SeekStart)
			return l.last, err == nil
		}
		for rest := l.buf[:n]; len(rest) >= direntLength+2; l.so++ {
			rest = rest[min(len(rest), max(1, int(binary.NativeEndian.Uint16(rest[direntLength:])))):]
		}
	}
	return l.last, l.known
}

// direntLength is where the length of a struct linux_dirent64 stands in it.
const direntLength = 16

// openFaults reads how often threads had to wait for a page that was not in memory.
func (k *kernel) openFaults() (*gauge, error) {
	return &gauge{
		every: slowEvery,
		specs: []Spec{{Name: "major faults", Category: "Memory", Description: "pages of memory that had to be fetched from a disk before a thread could go on", Mode: rawformat.CounterTotal}},
		read: func(v []Reading) bool {
			var u unix.Rusage
			err := unix.Getrusage(unix.RUSAGE_SELF, &u)
			v[0] = Reading{Value: int64(u.Majflt), Known: err == nil}
			return true
		},
	}, nil
}

// queue is for how long the threads of this process were ready to run and waited for a processor.
type queue struct {
	dir   int           // descriptor of the directory of threads
	seen  map[int]int64 // by thread: ns, at the last read
	total int64
	buf   [64]byte // a path, then three numbers
}

// openQueue reads how long threads waited for a processor: those that have a counter of their own.
func (s *systemMetrics) openQueue() (*gauge, error) {
	name := filepath.Join(s.kernel.root, "proc/self/task")
	dir, err := unix.Open(name, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	s.kernel.open = append(s.kernel.open, dir)
	if _, err := os.Stat(filepath.Join(s.kernel.root, "proc/self/schedstat")); err != nil {
		return nil, err
	}
	q := &queue{dir: dir, seen: map[int]int64{}}
	return &gauge{
		every: slowEvery,
		specs: []Spec{{Name: "CPU wait", Category: "CPU", Description: "time for which threads were ready to run and waited for a processor, of all together", Unit: rawformat.FormatNanoseconds, Mode: rawformat.CounterTotal}},
		read: func(v []Reading) bool {
			v[0] = Reading{Value: q.read(s.threads), Known: len(s.threads) > 0}
			return true
		},
	}, nil
}

// read adds up what threads waited; those that have ended keep what they had at the last read.
func (q *queue) read(threads map[int]bool) int64 {
	for tid := range threads {
		if waited, ok := q.waited(tid); ok && waited > q.seen[tid] {
			q.total += waited - q.seen[tid]
			q.seen[tid] = waited
		}
	}
	if len(q.seen) > 2*maxThreads { // threads come and go
		for tid := range q.seen {
			if !threads[tid] {
				delete(q.seen, tid)
			}
		}
	}
	return q.total
}

// waited reads the second number of schedstat, ns: a thread's file is not kept open, because a program
// may open only so many. It is opened without the help of package unix, which allocates.
func (q *queue) waited(tid int) (ns int64, ok bool) {
	path := append(strconv.AppendInt(q.buf[:0], int64(tid), 10), "/schedstat\x00"...)
	fd, _, errno := unix.Syscall6(unix.SYS_OPENAT, uintptr(q.dir), uintptr(unsafe.Pointer(&path[0])), unix.O_RDONLY|unix.O_CLOEXEC, 0, 0, 0)
	if errno != 0 {
		return 0, false // it has ended
	}
	n, err := unix.Pread(int(fd), q.buf[:], 0)
	unix.Close(int(fd)) // nothing was written
	if err != nil {
		return 0, false
	}
	_, rest, ok := cutNumber(q.buf[:max(0, n)])
	if !ok {
		return 0, false
	}
	ns, _, ok = cutNumber(rest)
	return ns, ok
}
