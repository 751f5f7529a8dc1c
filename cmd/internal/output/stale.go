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

// temporaryName is what an output is called until it is whole. The number is of
// this process, so that others can tell when nobody will finish it.
func temporaryName(name string) string {
	return "." + filepath.Base(name) + "." + strconv.Itoa(os.Getpid()) + "-*"
}

// RemoveStale removes, below a directory, the unfinished outputs of processes
// that were killed and so could not do it themselves. What cannot be removed is
// in nobody's way.
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

// abandoned reports whether a name is a temporary one of a process that is dead.
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

// zombie reports whether a process is dead, but its parent does not know yet, as
// in containers whose first process waits for none.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, ok := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	return err == nil && ok && bytes.HasPrefix(state, []byte("Z"))
}
