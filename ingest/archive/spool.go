package archive

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"

	"gprof/stream/spill"
)

// Spool holds what can't be read in place in one file, unlinked where possible, so that it goes
// with the process. It is for concurrent use.
type Spool struct {
	dir string

	mu   sync.Mutex
	file *spill.Temp
	end  int64
}

// NewSpool returns a spool whose file is made in dir on first use; "" is a directory for temporary
// files on a disk.
func NewSpool(dir string) *Spool { return &Spool{dir: dir} }

// Close frees the room on the disk.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}

// reserve returns the offset of size bytes for the caller. Unwritten bytes take no space.
func (s *Spool) reserve(size int64) (*spill.Temp, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		if err := s.make(); err != nil {
			return nil, 0, fmt.Errorf("%w: %w", ErrSpool, err)
		}
	}
	off := s.end
	s.end += size
	return s.file, off, nil
}

func (s *Spool) make() (err error) {
	dir := s.dir
	if dir == "" {
		dir = tempDir()
	}
	s.file, err = spill.Create(dir)
	return err
}

// tempDir is $TMPDIR if set, else the directory that by custom is on a disk: /tmp is often memory.
func tempDir() string {
	const disk = "/var/tmp"
	if info, err := os.Stat(disk); os.Getenv("TMPDIR") == "" && err == nil && info.IsDir() {
		return disk
	}
	return os.TempDir()
}

func (s *Spool) open() (io.ReaderAt, io.Closer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil, nil, fs.ErrClosed
	}
	return s.file, noCloser{}, nil
}

type noCloser struct{}

func (noCloser) Close() error { return nil }

// put copies at most size bytes of r and returns their place. After an error of r, the bytes
// before it are there.
func (s *Spool) put(r io.Reader, size int64) (off, n int64, err error) {
	f, off, err := s.reserve(size)
	if err != nil {
		return 0, 0, err
	}
	w := &spoolWriter{f: f, at: off}
	n, err = io.Copy(w, io.LimitReader(r, size))
	w.end()
	if w.err != nil {
		err = fmt.Errorf("%w: %w", ErrSpool, w.err)
	}
	return off, n, err
}

// spoolWriter tells errors of the spool from those of the input. It leaves holes for zeros: most of
// a young ring is unused.
type spoolWriter struct {
	f    *spill.Temp
	at   int64
	hole bool // after what was written
	err  error
}

func (w *spoolWriter) Write(p []byte) (n int, err error) {
	if w.hole = !slices.ContainsFunc(p, func(b byte) bool { return b != 0 }); w.hole {
		w.at += int64(len(p))
		return len(p), nil
	}
	n, err = w.f.WriteAt(p, w.at)
	w.at += int64(n)
	w.err = err
	return n, err
}

// end extends the file over a final hole.
func (w *spoolWriter) end() {
	if w.hole && w.err == nil {
		_, w.err = w.f.WriteAt([]byte{0}, w.at-1)
	}
}

// Store copies a stream to a spool of its own and returns a file system of the one file name, of at
// most limit bytes. The FS is usable as far as the stream went, even with an error. The spool,
// which is never nil, must be closed.
func Store(r io.Reader, name, dir string, limit int64) (*FS, *Spool, error) {
	s, f := NewSpool(dir), newFS()
	off, n, err := s.put(r, limit)
	if err == nil && n == limit {
		err = ErrTooBig
	}
	f.add(&node{path: name, size: n, from: s, off: off})
	return f, s, err
}
