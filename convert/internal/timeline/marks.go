// Package timeline puts the markers of a track in the order of time, and on lanes whose slices enclose each other or don't overlap,
// for formats that show nothing else; and numbers processes and threads, for formats that know them by that.
package timeline

import (
	"cmp"
	"container/heap"
	"encoding/binary"
	"io"
	"math"

	"gprof/stream"
	"gprof/stream/spill"
)

// Marks collects the markers of a track, event by event, and gives them out in the order of time. They wait in a
// temporary file.
type Marks struct {
	file   *spill.File
	runs   []run // of an event each
	series stream.Series
	row    []byte // scratch
}

// NewMarks returns Marks whose temporary file is in dir, "" is the system's directory for those.
func NewMarks(dir string) *Marks { return &Marks{file: spill.New(dir)} }

// Err is the first error of the file.
func (m *Marks) Err() error { return m.file.Err() }

// Close removes the file.
func (m *Marks) Close() error { return m.file.Close() }

// run is where the markers of a series are in the file.
type run struct{ from, to int64 }

// Mark is a marker.
type Mark struct {
	Start, End stream.Time
	Phase      stream.Phase
	Owner      int64  // a goroutine, a thread below 0, or 0: only what is of the same may enclose it
	Match      uint64 // a start and its end have the same, besides the event
	Body       []byte // what else the output says of it

	run int
}

// MarkAt is row i of a batch, without what is the output's.
func MarkAt(b *stream.Batch, i int) Mark {
	owner := b.Owner(i)
	m := Mark{Start: b.Time[i], End: b.Time[i], Phase: b.Phase[i], Owner: owner.Goroutine}
	if owner.Goroutine == 0 {
		m.Owner = -owner.Thread
	}
	if m.Phase == stream.Interval {
		m.End = after(m.Start, b.Duration[i])
	}
	return m
}

// after is the time so many ns later, at most the last there is.
func after(at stream.Time, ns int64) stream.Time {
	if ns <= 0 {
		return at
	}
	if int64(at) > math.MaxInt64-ns {
		return math.MaxInt64
	}
	return at + stream.Time(ns)
}

// headSize is that of the numbers of a mark in the file: the size of the rest, start, end, owner, match and phase.
const headSize = 4 + 4*8 + 1

// Begin begins the run of a series. It reports whether that was not there.
func (m *Marks) Begin(s stream.Series) bool {
	if len(m.runs) > 0 && m.series == s {
		return false
	}
	m.series = s
	m.runs = append(m.runs, run{m.file.Size(), m.file.Size()})
	return true
}

// Add adds a mark to the last run, in the order of their start. The file keeps the error.
func (m *Marks) Add(k *Mark) {
	le := binary.LittleEndian
	row := le.AppendUint32(m.row[:0], uint32(len(k.Body)))
	for _, n := range []uint64{uint64(k.Start), uint64(k.End), uint64(k.Owner), k.Match} {
		row = le.AppendUint64(row, n)
	}
	row = append(row, byte(k.Phase))
	m.row = append(row, k.Body...)
	m.file.Write(m.row)
	m.runs[len(m.runs)-1].to = m.file.Size()
}

// Merge gives out all marks, in the order of their start, of equal ones those first that last longer, and forgets them. A mark
// is valid until place returns.
func (m *Marks) Merge(place func(*Mark)) {
	var next cursors
	size := min(max(maxBuffers/max(1, len(m.runs)), 512), 64<<10)
	for i, r := range m.runs {
		c := &cursor{file: m.file, at: r.from, to: r.to, size: size}
		c.mark.run = i
		if c.read() {
			next = append(next, c)
		}
	}
	heap.Init(&next)
	for len(next) > 0 {
		place(&next[0].mark)
		if next[0].read() {
			heap.Fix(&next, 0)
		} else {
			heap.Pop(&next)
		}
	}
	m.runs, m.series = m.runs[:0], stream.Series{}
	m.file.Reset()
}

// maxBuffers bounds the buffers of all runs together, as a rule.
const maxBuffers = 4 << 20

// cursor reads a run.
type cursor struct {
	mark Mark
	file *spill.File
	at   int64 // of what is not in buf
	to   int64
	size int
	buf  []byte // the next mark, and more
	rest []byte // of buf
}

// read reads the next mark, if there is one. The file keeps the error.
func (c *cursor) read() bool {
	head := c.take(headSize)
	if head == nil {
		return false
	}
	le := binary.LittleEndian
	n, k := int(le.Uint32(head)), &c.mark
	k.Start, k.End = stream.Time(le.Uint64(head[4:])), stream.Time(le.Uint64(head[12:]))
	k.Owner, k.Match = int64(le.Uint64(head[20:])), le.Uint64(head[28:])
	k.Phase = stream.Phase(head[36])
	k.Body = c.take(n)
	return k.Body != nil
}

// take returns the next n bytes, valid until the next call.
func (c *cursor) take(n int) []byte {
	if len(c.rest) < n {
		kept := copy(c.buf, c.rest)
		size := int(min(int64(max(n, c.size)), int64(kept)+c.to-c.at))
		if size < n {
			return nil
		}
		if cap(c.buf) < size {
			c.buf = append(make([]byte, 0, size), c.buf[:kept]...)
		}
		c.buf = c.buf[:size]
		if _, err := c.file.ReadAt(c.buf[kept:], c.at); err != nil && err != io.EOF {
			return nil
		}
		c.at += int64(size - kept)
		c.rest = c.buf
	}
	out := c.rest[:n:n]
	c.rest = c.rest[n:]
	if n == 0 {
		return []byte{}
	}
	return out
}

// cursors is a heap of them: what begins first comes first, then what lasts longer.
type cursors []*cursor

func (c cursors) Len() int { return len(c) }
func (c cursors) Less(i, k int) bool {
	a, b := &c[i].mark, &c[k].mark
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.last(), a.last()), cmp.Compare(a.run, b.run)) < 0
}
func (c cursors) Swap(i, k int) { c[i], c[k] = c[k], c[i] }
func (c *cursors) Push(any)     { panic("internal error: nothing is pushed") }
func (c *cursors) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

// last is when a mark ends, as far as it is known at its beginning.
func (m *Mark) last() stream.Time {
	if m.Phase == stream.PhaseStart {
		return math.MaxInt64
	}
	return m.End
}
