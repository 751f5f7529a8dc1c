package spill

import (
	"os"

	"golang.org/x/sys/unix"
)

// create makes a file in dir that nobody else sees and that goes with the
// process. Some file systems can't make a file that never had a name.
func create(dir string) (*Temp, error) {
	f, err := os.OpenFile(dir, os.O_RDWR|unix.O_TMPFILE, 0o600)
	if err != nil {
		return createNamed(dir)
	}
	return &Temp{File: f}, nil
}

// reserve asks for disk space. If there is none, writing will fail and say so.
func reserve(f *os.File, from, size int64) {
	unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, from, size)
}
