package attach

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"gprof/rawformat"
	"gprof/rawformat/jitcode"
	"gprof/recorder/internal/modules"
	"gprof/recorder/internal/record"
)

// madeModule is the module of frames in code that the process has made. Their offsets are addresses.
const madeModule = -3

// madeFrame is such a frame of a dictionary that has no name yet.
type madeFrame struct {
	address uint64
	id      uint32
}

// maxMade bounds how many frames wait for their names.
const maxMade = 1 << 16

// lists are the files in which a process lists the code that it generates. They are read as they grow, as long as there are
// frames to name, because they may disappear with the process or its container.
type lists struct {
	root  *os.File // of the process' file system
	owner uint32
	inner int32     // its pid there
	began time.Time // zero: unknown
	text  list      // perf-PID.map
	dump  list      // jitdump
	read  time.Time // when they were read last
}

// list is one of them.
type list struct {
	functions jitcode.List
	inode     uint64
	offset    int64
	pending   []byte // the beginning of a line
	dump      *jitcode.Dump
	over      bool // there is no more to read
}

// readMadeEvery is how often lists are read, and maxRead how much of one at a time.
const (
	readMadeEvery = time.Second
	maxRead       = 16 << 20
)

// newLists notes what is needed to find the lists of a process when it has ended.
func newLists(pid int32) *lists {
	l := &lists{inner: innerPid(pid), began: beganAt(pid), owner: uint32(os.Geteuid())}
	dir := fmt.Sprintf("/proc/%d", pid)
	if info, err := os.Stat(dir); err == nil {
		l.owner = info.Sys().(*syscall.Stat_t).Uid
	}
	fd, err := unix.Open(dir+"/root", unix.O_PATH|unix.O_CLOEXEC|unix.O_DIRECTORY, 0)
	if err != nil { // it has ended, or is somebody else's: what is named here then is ours
		fd, err = unix.Open("/", unix.O_PATH|unix.O_CLOEXEC|unix.O_DIRECTORY, 0)
	}
	if err == nil {
		l.root = os.NewFile(uintptr(fd), dir)
	}
	return l
}

func (l *lists) close() error {
	if l == nil || l.root == nil {
		return nil
	}
	return l.root.Close()
}

// beganAt is when a process began, zero if unknown.
func beganAt(pid int32) (at time.Time) {
	stat := readLine(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:]) // behind the name, which may have anything in it
	const startTime, tick = 19, time.Second / 100
	if len(fields) <= startTime {
		return at
	}
	n, err := strconv.ParseInt(fields[startTime], 10, 64)
	if err != nil {
		return at
	}
	return time.Now().Add(time.Duration(n)*tick - time.Duration(readClock(unix.CLOCK_BOOTTIME)))
}

// refresh reads what has been added to the lists, and reports whether anything was.
func (l *lists) refresh(all []modules.Module) (news bool) {
	if l.root == nil {
		return false
	}
	news = l.text.refresh(l, "/tmp/"+jitcode.MapName(l.inner))
	for _, m := range all { // its writer maps it, so that it can be found
		if _, ok := jitcode.OfDumpName(filepath.Base(m.Path)); ok {
			return l.dump.refresh(l, m.Path) || news
		}
	}
	return news
}

// open opens a file of the process: a regular one that it, or root, has written since it began.
func (l *lists) open(path string) (*os.File, os.FileInfo, error) {
	how := unix.OpenHow{Flags: unix.O_RDONLY | unix.O_NONBLOCK | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS}
	fd, err := unix.Openat2(int(l.root.Fd()), path, &how)
	if err != nil {
		return nil, nil, err
	}
	f := os.NewFile(uintptr(fd), path)
	info, err := f.Stat()
	if err == nil {
		owner := info.Sys().(*syscall.Stat_t).Uid
		if !info.Mode().IsRegular() || owner != l.owner && owner != 0 || !l.began.IsZero() && info.ModTime().Before(l.began.Add(-time.Second)) {
			err = errNoFile
		}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// refresh reads what has been added to a list.
func (l *list) refresh(of *lists, path string) (news bool) {
	f, info, err := of.open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	if inode := info.Sys().(*syscall.Stat_t).Ino; inode != l.inode || info.Size() < l.offset {
		*l = list{inode: inode} // another one
	}
	if l.over || info.Size() == l.offset {
		return false
	}
	before, end := l.functions.Len(), l.offset+min(info.Size()-l.offset, maxRead)
	b := make([]byte, 256<<10)
	for l.offset < end && !l.over {
		n, _ := f.ReadAt(b[:min(int64(len(b)), end-l.offset)], l.offset)
		if n == 0 {
			break // it was cut short
		}
		l.offset += int64(n)
		l.over = !l.take(b[:n], path)
	}
	return l.functions.Len() > before
}

// take takes the next bytes of a list. False: the rest is unusable.
func (l *list) take(b []byte, path string) bool {
	if _, ok := jitcode.OfDumpName(filepath.Base(path)); ok {
		if l.dump == nil {
			l.dump = &jitcode.Dump{Into: &l.functions}
		}
		_, err := l.dump.Write(b)
		return err == nil
	}
	l.pending = append(l.pending, b...)
	rest := l.pending
	for {
		line, after, ok := bytes.Cut(rest, []byte{'\n'})
		if !ok {
			break
		}
		rest = after
		if f, ok := jitcode.ParseLine(string(line)); ok && !l.functions.Add(f) {
			return false
		}
	}
	l.pending = append(l.pending[:0], rest...)
	return len(rest) <= jitcode.MaxLine
}

// nameMade names frames of code that the process has made, as far as its lists have them by now. At
// other times than the end of the process it is enough to look now and then.
func (p *process) nameMade(now time.Time, atEnd bool) {
	d := p.into.dict
	if len(d.made) == 0 || d.full {
		return
	}
	if p.lists == nil {
		p.lists = newLists(p.pid)
	}
	if !atEnd && now.Sub(p.lists.read) < readMadeEvery {
		return
	}
	p.lists.read = now
	if news := p.lists.refresh(p.modules); !news && d.tried == len(d.made) {
		return
	}
	before := d.file.Size()
	d.made = slices.DeleteFunc(d.made, func(f madeFrame) bool {
		function, ok := p.lists.text.functions.At(f.address)
		if !ok {
			function, ok = p.lists.dump.functions.At(f.address)
		}
		if ok {
			d.name(f, function)
		}
		return ok
	})
	d.tried = len(d.made)
	d.flush()
	p.into.charge(before)
}

// name names a frame.
func (d *dictionary) name(f madeFrame, function *jitcode.Function) {
	file, line := function.Place(f.address)
	name, source := d.string(function.Name), d.string(file)
	d.add(record.New(rawformat.KindDefSymbol).Uint(uint64(f.id)).Uint(0).Uint(uint64(name)).Uint(uint64(source)).Uint(uint64(max(line, 0))))
}
