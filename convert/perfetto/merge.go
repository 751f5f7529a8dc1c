package perfetto

import (
	"cmp"
	"container/heap"
	"encoding/binary"
	"io"
	"math"

	"gprof/stream"
	"gprof/stream/spill"
)

// marks collects the markers of a track, event by event, and gives them out in the order of time.
type marks struct {
	file   *spill.File
	runs   []run // of an event each
	series stream.Series
	form   eventForm // of the series

	body, annotation, row []byte // scratch
}

// run is where the markers of a series are in the file.
type run struct{ from, to int64 }

// mark is a marker.
type mark struct {
	start, end stream.Time
	phase      stream.Phase
	owner      int64  // a goroutine, a thread below 0, or 0: only what is of the same may enclose it
	match      uint64 // of its name: a start and its end have the same
	run        int
	body       []byte // fields of its TrackEvent, but type and track
}

// headSize is that of the numbers of a mark in the file: the size of the rest, start, end, owner, match and phase.
const headSize = 4 + 4*8 + 1

// begin begins the run of a series, unless that is there.
func (m *marks) begin(s stream.Series) bool {
	if len(m.runs) > 0 && m.series == s {
		return false
	}
	m.series = s
	m.runs = append(m.runs, run{m.file.Size(), m.file.Size()})
	return true
}

// add adds a mark to the last run. The file keeps the error.
func (m *marks) add(k *mark) {
	le := binary.LittleEndian
	row := le.AppendUint32(m.row[:0], uint32(len(k.body)))
	for _, n := range []uint64{uint64(k.start), uint64(k.end), uint64(k.owner), k.match} {
		row = le.AppendUint64(row, n)
	}
	row = append(row, byte(k.phase))
	m.row = append(row, k.body...)
	m.file.Write(m.row)
	m.runs[len(m.runs)-1].to = m.file.Size()
}

// merge gives all marks to lanes, and forgets them.
func (m *marks) merge(to *lanes) {
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
		to.place(&next[0].mark)
		if next[0].read() {
			heap.Fix(&next, 0)
		} else {
			heap.Pop(&next)
		}
	}
	to.finish()
	m.runs, m.series = m.runs[:0], stream.Series{}
	m.file.Reset()
}

// maxBuffers bounds the buffers of all runs together, as a rule.
const maxBuffers = 4 << 20

// cursor reads a run.
type cursor struct {
	mark mark
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
	k.start, k.end = stream.Time(le.Uint64(head[4:])), stream.Time(le.Uint64(head[12:]))
	k.owner, k.match = int64(le.Uint64(head[20:])), le.Uint64(head[28:])
	k.phase = stream.Phase(head[36])
	k.body = c.take(n)
	return k.body != nil
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
	return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.last(), a.last()), cmp.Compare(a.run, b.run)) < 0
}
func (c cursors) Swap(i, k int) { c[i], c[k] = c[k], c[i] }
func (c *cursors) Push(any)     { panic("internal error: nothing is pushed") }
func (c *cursors) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

// last is when a mark ends, as far as it is known at its beginning.
func (m *mark) last() stream.Time {
	if m.phase == stream.PhaseStart {
		return math.MaxInt64
	}
	return m.end
}
