package stream

import (
	"os"

	"golang.org/x/sys/unix"
)

// tempFile makes a file in dir that nobody else sees and that goes with the
// process. Some file systems can't make one that never had a name.
func tempFile(dir string) (f *os.File, name string, err error) {
	f, err = os.OpenFile(dir, os.O_RDWR|unix.O_TMPFILE, 0o600)
	if err != nil {
		return namedTempFile(dir)
	}
	return f, "", nil
}

// reserve asks for room in f. If there is none, writing will tell.
func reserve(f *os.File, from, size int64) {
	unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, from, size)
}
