package counters

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// kernel is where the kernel shows its files.
type kernel struct {
	root string // directory; tests have one that looks like it
	open []int  // descriptors of files that are read in each round
	buf  []byte // of what is being read

	rooms *Rooms // the meter's
}

// kernelFile is a file that is kept open. It is no os.File: some of these can be polled,
// and the runtime would wait for them along with the program's connections.
type kernelFile struct {
	k  *kernel
	fd int
}

const (
	// maxKernelFile is the length of the longest of these files, on a machine with a
	// thousand network interfaces.
	maxKernelFile = 128 << 10

	// wholeRead: a read that returns less has reached the end of the file. The kernel
	// returns whole lines, about a page of them, and none of these files has a longer line.
	wholeRead = 2048
)

// keep opens a file, and reads it once to see whether that is permitted.
func (k *kernel) keep(path ...string) (f kernelFile, err error) {
	name := filepath.Join(append([]string{k.root}, path...)...)
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return f, &os.PathError{Op: "open", Path: name, Err: err}
	}
	k.open = append(k.open, fd)
	if f = (kernelFile{k, fd}); f.read() == nil {
		return f, fmt.Errorf("%s: can't be read", name)
	}
	return f, nil
}

// read returns what the file holds now, nil if it can't be read. It is valid until the
// next file is read. Once the longest file has been read nothing is allocated.
func (f kernelFile) read() []byte {
	if f.k == nil { // could not be opened
		return nil
	}
	n := 0
	for {
		if n == len(f.k.buf) {
			if n == maxKernelFile {
				return nil
			}
			f.k.buf = append(f.k.buf, make([]byte, max(4096, n))...)
		}
		got, err := unix.Pread(f.fd, f.k.buf[n:], int64(n))
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return nil
		}
		if n += max(0, got); got < wholeRead {
			return f.k.buf[:n:n]
		}
	}
}

// number reads a file that holds one number and nothing else.
func (f kernelFile) number() (int64, bool) {
	n, rest, ok := cutNumber(f.read())
	return n, ok && len(bytes.TrimSpace(rest)) == 0
}

// close closes all files.
func (k *kernel) close() {
	for _, fd := range k.open {
		unix.Close(fd) // nothing was written
	}
	k.open = nil
}

// keyed is the number behind a key at the beginning of a line: "key 12" or "key: 12".
func keyed(text []byte, key string) (int64, bool) {
	for len(text) > 0 {
		var line []byte
		line, text, _ = bytes.Cut(text, newline)
		if rest, ok := bytes.CutPrefix(line, []byte(key)); ok {
			if n, _, ok := cutNumber(bytes.TrimPrefix(rest, colon)); ok && len(rest) > 0 && (rest[0] == ' ' || rest[0] == ':') {
				return n, true
			}
		}
	}
	return 0, false
}

var newline, colon = []byte("\n"), []byte(":")

// cutNumber takes a number from the beginning of a text, behind blanks. It is not ok if
// the number is too large for 64 bits.
func cutNumber(text []byte) (n int64, rest []byte, ok bool) {
	text = bytes.TrimLeft(text, " \t")
	i := 0
	for ; i < len(text) && '0' <= text[i] && text[i] <= '9'; i++ {
		digit := int64(text[i] - '0')
		if n > (1<<63-1-digit)/10 {
			return 0, text, false
		}
		n = 10*n + digit
	}
	return n, text[i:], i > 0
}
