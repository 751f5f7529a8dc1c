package output

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// temporaryName is the name of an output until it is whole. It has the number of this
// process, so that others can tell when it will never be finished.
func temporaryName(name string) string {
	return "." + filepath.Base(name) + "." + strconv.Itoa(os.Getpid()) + "-*"
}

// RemoveStale removes, below a directory, the unfinished outputs of processes that were
// killed. Those that can't be removed do no harm.
func RemoveStale(dir string) {
	filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir || !abandoned(e.Name()) {
			return nil
		}
		os.RemoveAll(path)
		if e.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
}

// abandoned reports whether a name is the temporary one of a dead process.
func abandoned(name string) bool {
	dot := strings.LastIndexByte(name, '.')
	pid, number, ok := strings.Cut(name[dot+1:], "-")
	n, err1 := strconv.Atoi(pid)
	_, err2 := strconv.ParseUint(number, 10, 64)
	if !ok || dot <= 0 || name[0] != '.' || err1 != nil || n <= 0 || err2 != nil {
		return false
	}
	p, err := os.FindProcess(n)
	return err != nil || errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone) || zombie(n)
}

// zombie reports whether a process is dead but its parent has not waited for it, as in
// containers whose first process never does.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, ok := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	return err == nil && ok && bytes.HasPrefix(state, []byte("Z"))
}
