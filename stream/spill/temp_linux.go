package spill

import (
	"os"

	"golang.org/x/sys/unix"
)

// create makes a file without a name in dir, which ends with the process. On file systems
// that can't do that it makes one with a name.
func create(dir string) (*Temp, error) {
	f, err := os.OpenFile(dir, os.O_RDWR|unix.O_TMPFILE, 0o600)
	if err != nil {
		return createNamed(dir)
	}
	return &Temp{File: f}, nil
}

// reserve reserves disk space. If there is none, writing will say so.
func reserve(f *os.File, from, size int64) {
	unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, from, size)
}
