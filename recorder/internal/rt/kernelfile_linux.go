package rt

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// ReadKernel reads a small file that the kernel makes as it is read. The runtime's poller, to which os.ReadFile gives
// each file, takes more system calls than that.
func ReadKernel(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd) // nothing was written
	text := make([]byte, 0, 512)
	for {
		switch n, err := unix.Read(fd, text[len(text):cap(text)]); {
		case err == unix.EINTR:
		case err != nil:
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		case n == 0:
			return text, nil
		default:
			if text = text[:len(text)+n]; len(text) == cap(text) {
				text = append(text, make([]byte, len(text))...)[:len(text)]
			}
		}
	}
}
