package gotrace

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"gprof/ingest/internal/damage"
)

// reader reads the events of a trace, each generation as a trace of its own: a library reader that
// goes from one to the next would hold both. An unreadable generation costs the rest of it.
type reader struct {
	r       io.ReaderAt
	version int
	all     []generation
	at      int      // current generation
	lib     *library // its reader; nil: not begun
	told    int      // begin and end events of the generation so far
	before  uint64   // number of the generation before; 0: none, or lost
	last    int64    // time of the last event
}

// lostError is an unreadable part of a file. Reading may go on, but the program's state is unknown.
type lostError struct {
	at    damage.Error
	count int64 // generations
	size  int64 // bytes of them
}

func (e *lostError) Error() string { return e.at.Error() }
func (e *lostError) Unwrap() error { return &e.at }

// next reads an event into ev, in ascending time. The error is io.EOF at the end, or a *lostError.
func (r *reader) next(ev *event) error {
	if r.lib == nil {
		if err := r.begin(); err != nil {
			return err
		}
	}
	err := r.lib.next(ev)
	switch {
	case err == io.EOF && r.told == 2:
		r.at = len(r.all)
		return io.EOF
	case err == io.EOF: // in a table
		return r.lose(fmt.Errorf("%w: %w", damage.ErrDamaged, io.ErrUnexpectedEOF))
	case err != nil:
		return r.lose(err)
	}
	if ev.kind == kindGeneration {
		r.told++
	}
	if r.told == 2 && r.at < len(r.all)-1 {
		r.turn(ev)
		return nil
	}
	ev.time = max(ev.time, r.last+1)
	r.last = ev.time
	return nil
}

func (r *reader) begin() (err error) {
	if r.at == len(r.all) {
		return io.EOF
	}
	g := &r.all[r.at]
	if before := r.before; before != 0 && g.number != before+1 {
		r.before = 0
		return missing(g, before)
	}
	r.told = 0
	if r.lib, err = newLibrary(newFeed(r.r, r.version, g)); err != nil {
		return r.lose(err)
	}
	return nil
}

// turn ends a generation when the library reports the end of its trace.
func (r *reader) turn(ev *event) {
	r.before = r.all[r.at].number
	r.at, r.lib = r.at+1, nil
	*ev = event{kind: kindOver, time: r.last, goroutine: none, processor: none, thread: none}
}

// lose gives up the generation in which the library failed.
func (r *reader) lose(err error) error {
	g := &r.all[r.at]
	r.at, r.lib, r.before = r.at+1, nil, 0
	return &lostError{damage.Error{Off: g.from, Err: err}, 1, g.to - g.from}
}

// missing reports that generations between before and g are missing.
func missing(g *generation, before uint64) error {
	count := int64(1)
	if g.number > before {
		count = int64(min(g.number-before-1, maxGenerations))
	}
	return &lostError{damage.Error{Off: g.from, Err: fmt.Errorf("%w: generation %d follows %d", damage.ErrDamaged, g.number, before)}, count, 0}
}

// done is the approximate number of bytes read.
func (r *reader) done() int64 {
	if r.at == len(r.all) {
		return r.all[len(r.all)-1].to
	}
	return r.all[r.at].from
}

// firstLine is the first line of a library error, which continues with a dump.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimSuffix(line, ":")
}

// feed presents a generation as a file of its own: the file's header, and the generation's batches.
//
// golang.org/x/exp/trace reads a batch into a [bytes.Buffer] of its size, which doubles, and stays,
// only to find that nothing follows. So where a batch's data is read at once, io.EOF comes with it
// even if more follows: that halves a generation's memory.
type feed struct {
	batches  scan
	from, to int64 // the generation
	off      int64 // in the file
	left     int64 // bytes of the current piece: header, head or data
	data     int64 // bytes of data after that head
}

// feedBuffer is the size of the library's read buffer, which larger reads bypass.
const feedBuffer = 4096

func newFeed(r io.ReaderAt, version int, g *generation) *bufio.Reader {
	f := &feed{batches: scan{r: r, version: version}, from: g.from, to: g.to, left: headerSize}
	return bufio.NewReaderSize(f, feedBuffer)
}

// Read implements [io.Reader].
func (f *feed) Read(p []byte) (n int, err error) {
	if f.left == 0 {
		if err := f.turn(); err != nil {
			return 0, err
		}
	}
	n, err = f.batches.r.ReadAt(p[:min(int64(len(p)), f.left)], f.off)
	f.off, f.left = f.off+int64(n), f.left-int64(n)
	if err == io.EOF && n > 0 {
		err = nil
	}
	if n == len(p) && n > feedBuffer && f.left == 0 { // heads are shorter
		err = io.EOF
	}
	return n, err
}

// turn goes to the next piece.
func (f *feed) turn() error {
	if f.data > 0 {
		f.left, f.data = f.data, 0
		return nil
	}
	f.off = max(f.off, f.from)
	if f.off >= f.to {
		return io.EOF
	}
	b, err := f.batches.batch(f.off)
	f.left, f.data = b.head, b.size
	return err
}
