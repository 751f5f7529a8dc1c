//go:build unix

package output

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// umask is that of the process. It can only be read by setting it, so this is done once,
// before there are goroutines.
var umask = func() fs.FileMode {
	mask := syscall.Umask(0o077)
	syscall.Umask(mask)
	return fs.FileMode(mask)
}()

// RefuseLinks returns an error if the path leads through a link of another user, who
// could make it lead anywhere. Links of root belong to the system.
func RefuseLinks(path string) error {
	at := Absolute(path)
	for ; at != filepath.Dir(at); at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			continue // missing directories are made
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 && int(st.Uid) != os.Geteuid() {
			return fmt.Errorf("%s is a link of user %d, and nothing is written through it; remove it, or give -o another directory", at, st.Uid)
		}
	}
	return nil
}
