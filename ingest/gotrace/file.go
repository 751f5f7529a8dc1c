package gotrace

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"

	"gprof/ingest/internal/damage"
	"gprof/stream"
)

// File is an execution trace: what is known of it before its events are read.
type File struct {
	open     func() (io.ReadCloser, error)
	version  int
	size     int64
	all      []generation // at least one
	trimmed  []generation // those before them, which another file has
	instance uint64
}

// Open looks at the file that open opens: at the heads of its batches, of which
// there is one for each 64 KiB. What open returns must be an [io.ReaderAt], and
// tell its size.
//
// If the file can't be read to its end, that is an error, an [*damage.Error] that tells
// the offset, and there is a File of what comes before, unless it is nothing.
func Open(open func() (io.ReadCloser, error)) (*File, error) {
	r, closer, size, err := places(open)
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	f := &File{open: open, size: size}
	head := make([]byte, instanceBytes)
	n, err := r.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if f.version, err = readable(head[:n]); err != nil {
		return nil, &damage.Error{Off: 0, Err: err}
	}
	sum := sha256.Sum256(head[:n])
	f.instance = binary.BigEndian.Uint64(sum[:])
	return f.scan(r)
}

// readable is the version that a head tells, if it is one that can be read.
func readable(head []byte) (int, error) {
	v, err := versionOf(head)
	switch {
	case err != nil:
		return 0, err
	case v < version22:
		return 0, fmt.Errorf("%w: it is of Go 1.%d, and those from Go 1.22 on can be; `go tool trace` reads it", ErrVersion, v)
	case v > newest:
		return 0, fmt.Errorf("%w: it is of Go 1.%d, and those up to Go 1.%d can be; a later gprof-convert may read it", ErrVersion, v, newest)
	}
	return v, nil
}

// instanceBytes is how much of the front of a file names it. It holds times of
// a clock of nanoseconds, so no other trace begins like that; and one that was
// cut short is the same.
const instanceBytes = 4096

// scan finds the generations.
func (f *File) scan(r io.ReaderAt) (*File, error) {
	s := scan{r: r, size: f.size, version: f.version}
	all, torn := s.generations()
	f.all = all
	switch {
	case len(all) == 0 && torn != nil:
		return nil, fmt.Errorf("%w: %w", ErrEmpty, torn)
	case len(all) == 0:
		return nil, &damage.Error{Off: headerSize, Err: ErrEmpty}
	case torn != nil:
		return f, torn
	}
	return f, nil
}

// places opens a file of which any place can be read.
func places(open func() (io.ReadCloser, error)) (r io.ReaderAt, closer io.Closer, size int64, err error) {
	c, err := open()
	if err != nil {
		return nil, nil, 0, err
	}
	at, ok := c.(interface {
		io.ReaderAt
		Stat() (fs.FileInfo, error)
	})
	if !ok {
		c.Close()
		return nil, nil, 0, fmt.Errorf("internal error: a %T can't be read at any place", c)
	}
	info, err := at.Stat()
	if err != nil {
		c.Close()
		return nil, nil, 0, err
	}
	return at, c, info.Size(), nil
}

// Process returns the process that a trace is of. place is the moment of a
// monotonic time; nil: the trace's own readings of the clocks tell it. Where there
// are none its times are those of its own clock, and Clock.By is "".
func (f *File) Process(place func(mono uint64) stream.Time) stream.Process {
	c := clock{place: place}
	first, last := &f.all[0], &f.all[len(f.all)-1]
	c.turn(first.anchor)
	p := stream.Process{Instance: f.instance, Name: "Go program", Start: c.at(first.first), CPU: "execution trace", Go: f.lowestGo(), Clock: f.placed()}
	c.turn(last.anchor)
	p.End = max(p.Start, c.at(last.last))
	return p
}

// Anchor is the first reading of the clocks; not ok if there is none.
func (f *File) Anchor() (a Anchor, ok bool) { return f.all[0].anchor, f.all[0].anchor.usable() }

// lowestGo is what the version of a trace says of the version of Go.
func (f *File) lowestGo() string { return fmt.Sprintf("go1.%d or later", f.version) }

// PlacedBySnapshots is what placed the times of a trace that tells real time.
const PlacedBySnapshots = "the trace's readings of the real time"

// placed says how well the clock of the trace tells real time.
func (f *File) placed() stream.Clock {
	var c clock
	row := stream.Clock{Pieces: 1}
	for i := range f.all {
		a := f.all[i].anchor
		if !a.usable() {
			continue
		}
		c.turn(a)
		at := c.at(a.Trace)
		if row.Anchors == 0 {
			row.By, row.First = PlacedBySnapshots, at
		}
		row.Anchors++
		row.Last = at
		row.Uncertainty = max(row.Uncertainty, int64(at)-a.Wall, a.Wall-int64(at))
	}
	if row.Anchors == 0 {
		row.Uncertainty = -1
	}
	return row
}

// Lacks says what a trace does not tell.
func (f *File) Lacks() string {
	lacks := "heap samples, the names of program, service and host"
	if !f.all[0].anchor.usable() {
		lacks += "; of the real time (Go 1.25 and later tell it)"
	}
	return lacks
}
