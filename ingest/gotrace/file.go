package gotrace

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"

	"gprof/ingest/internal/damage"
	"gprof/stream"
)

// File is an open execution trace: what is known of it before its events are read.
type File struct {
	open     func() (io.ReadCloser, error)
	version  int
	size     int64
	all      []generation // at least one
	copies   []generation // generations before them that another file has
	instance uint64
}

// Open scans the heads of a file's batches, one for each 64 KiB. The result of open must be
// an [io.ReaderAt] that tells its size. If the file can't be read to its end, the error is a
// [*damage.Error] with the offset, and the File, if any, has what comes before.
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

// readable is the version in a head, if supported.
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

// instanceBytes is how much of a file's beginning identifies it: it has times of a nanosecond
// clock. A trace that was cut short has the same identity.
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

// places opens a file for random access.
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

// Process returns the trace's process. place maps monotonic times; nil: by the trace's own
// readings. Without any its times are those of its own clock, and Clock.By is "".
func (f *File) Process(place func(mono uint64) stream.Time) stream.Process {
	c := clock{place: place}
	first, last := &f.all[0], &f.all[len(f.all)-1]
	c.turn(first.anchor)
	p := stream.Process{Instance: f.instance, Name: "Go program", Start: c.at(first.first), CPU: "execution trace", Go: f.lowestGo(), Clock: f.placed()}
	c.turn(last.anchor)
	p.End = max(p.Start, c.at(last.last))
	return p
}

// Anchor is the first clock reading; not ok if there is none.
func (f *File) Anchor() (a Anchor, ok bool) { return f.all[0].anchor, f.all[0].anchor.usable() }

// lowestGo is the oldest version of Go that writes this format.
func (f *File) lowestGo() string { return fmt.Sprintf("go1.%d or later", f.version) }

// PlacedBySnapshots is the clock of a trace that has real time.
const PlacedBySnapshots = "the trace's readings of the real time"

// placed says how well the trace's clock tells real time.
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

// Lacks names what a trace does not tell.
func (f *File) Lacks() string {
	lacks := "heap samples, the names of program, service and host"
	if !f.all[0].anchor.usable() {
		lacks += "; of the real time (Go 1.25 and later tell it)"
	}
	return lacks
}

// Overlap knows the generations of the files it was given. Snapshots of a flight recorder share
// some.
type Overlap struct{ known map[generationID]bool }

// generationID identifies a generation by its size and first bytes, which have times of a
// nanosecond clock.
type generationID [sha256.Size]byte

// identify identifies the generation that ends before an offset.
func (s *scan) identify(from, to int64) (id generationID, err error) {
	head := binary.BigEndian.AppendUint64(make([]byte, 0, 8+instanceBytes), uint64(to-from))
	n, err := s.r.ReadAt(head[8:8+min(instanceBytes, to-from)], from)
	if err == io.EOF {
		err = nil
	}
	return sha256.Sum256(head[:8+n]), err
}

// Compare orders files for an Overlap: by beginning, longer ones first.
func Compare(a, b *File) int {
	return cmp.Or(cmp.Compare(a.all[0].first, b.all[0].first), cmp.Compare(len(b.all), len(a.all)), cmp.Compare(a.instance, b.instance))
}

// Trim removes from the front of f the generations of earlier files. If that is all of them it
// returns false, and leaves f alone.
func (o *Overlap) Trim(f *File) (left bool) {
	if o.known == nil {
		o.known = map[generationID]bool{}
	}
	n := 0
	for n < len(f.all) && o.known[f.all[n].id] {
		n++
	}
	if n == len(f.all) {
		return false
	}
	f.copies, f.all = f.all[:n], f.all[n:]
	for i := range f.all {
		o.known[f.all[i].id] = true
	}
	return true
}

// clock maps times of the trace to moments. Each generation reads the clocks anew, which bounds the
// drift of the trace's clock. Real time counts only at the first reading; from then on monotonic
// time goes on, so setting the wall clock has no effect.
type clock struct {
	// place maps monotonic times; nil: by the first reading.
	place func(mono uint64) stream.Time
	shift stream.Time // added to all moments
	wall  int64       // from monotonic to real time
	mono  int64       // from the trace's time to monotonic
	known bool        // wall and mono are known
}

// usable reports whether clocks can show that.
func (a Anchor) usable() bool {
	return a.Mono > 0 && a.Mono < maxTime/2 && a.Wall > 0 && a.Wall < maxTime/2 && a.Trace >= 0 && a.Trace < maxTime/2
}

// turn sets the clock by a usable reading.
func (c *clock) turn(a Anchor) {
	if !a.usable() {
		return
	}
	if !c.known {
		c.wall, c.known = a.Wall-int64(a.Mono), true
	}
	c.mono = int64(a.Mono) - a.Trace
}

// at is the moment of a time of the trace; before any reading, that time itself.
func (c *clock) at(trace int64) stream.Time {
	moment := stream.Time(trace + c.mono)
	switch {
	case !c.known:
	case c.place != nil:
		moment = c.place(uint64(max(trace+c.mono, 0)))
	default:
		moment += stream.Time(c.wall)
	}
	return min(max(moment+c.shift, 0), maxTime)
}
