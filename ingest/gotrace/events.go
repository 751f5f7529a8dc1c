package gotrace

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"unsafe"

	"gprof/ingest/internal/damage"
)

// events reads the events of a generation, and those of CPU samples, by time. Where the clocks of threads disagree
// about what comes first, the runtime's numbers decide.
//
//  1. The heads of all batches are read, and the tables, which come last.
//  2. A heap has the next event of each thread, whose batches are read one at a time.
//  3. The earliest event is taken if the state of the program allows it, else the next one that it does allow.
type events struct {
	r       io.ReaderAt
	tables  *tables
	order   order
	heap    []next
	threads []*lineage
	bytes   int64 // of threads
	sampled int   // of the samples
	begun   bool  // the event that begins the generation was told
	last    int64 // time of the last event
	taken   int64 // events
	vain    int64 // threads looked at because the earliest event could not be taken
}

// next is the time of a thread's next event.
type next struct {
	time int64
	of   *lineage
}

// lineage is the events of a thread, one after the other.
type lineage struct {
	thread  *thread
	batches []piece
	largest int32 // size of a batch
	at      int   // the batch after the current one
	data    []byte
	rest    []byte // of data
	last    int64
	kind    byte // of the next event
	arguments
}

// piece is the data of a batch in the file.
type piece struct {
	off   int64
	size  int32
	ticks uint64
}

// newEvents reads all tables of a generation. Claim is told how much memory is taken; its error is that there is
// not so much.
func newEvents(r io.ReaderAt, version int, g *generation, claim func(bytes int64) error) (*events, error) {
	e := &events{r: r, tables: newTables()}
	e.order = newOrder(e.tables)
	if err := e.index(version, g, claim); err != nil {
		return nil, err
	}
	if err := e.tables.finish(version); err != nil {
		return nil, err
	}
	for _, l := range e.threads {
		ok, err := e.advance(l)
		if err != nil {
			return nil, err
		}
		if ok {
			e.push(next{l.last, l})
		}
	}
	return e, claim(e.held())
}

// claimEvery is by how many bytes memory grows until it is claimed.
const claimEvery = 1 << 18

// index notes where each thread's batches are, and reads the tables.
func (e *events) index(version int, g *generation, claim func(bytes int64) error) error {
	heads, threads, claimed := scan{r: e.r, version: version}, map[uint64]*lineage{}, int64(0)
	for off := g.from; off < g.to; {
		b, err := heads.batch(off)
		if err != nil {
			return &damage.Error{Off: off, Err: err}
		}
		if b.kind == kindEnd {
			break
		}
		if t := e.tables; t.first == 0 || b.ticks < t.first {
			t.first = b.ticks
		}
		at := piece{off + b.head, int32(b.size), b.ticks}
		off = at.off + b.size
		switch {
		case b.experiment:
		case b.isTable(version):
			err = e.table(version, b, at)
		default:
			e.add(threads, b, at)
		}
		if held := e.held(); err == nil && held-claimed >= claimEvery {
			claimed, err = held, claim(held)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isTable reports whether a batch is no events of a thread.
func (b *batch) isTable(version int) bool {
	switch b.first {
	case evStrings, evStacks, evCPUSamples:
		return true
	case kindFrequency:
		return version < version25
	}
	return b.first == kindSync && version >= version25
}

func (e *events) table(version int, b batch, at piece) error {
	data := make([]byte, at.size)
	if err := readAll(e.r, data, at.off); err != nil {
		return err
	}
	if err := e.tables.add(version, b, data); err != nil {
		return &damage.Error{Off: at.off, Err: err}
	}
	return nil
}

// readAll reads data at an offset.
func readAll(r io.ReaderAt, data []byte, off int64) error {
	if n, err := r.ReadAt(data, off); n == len(data) {
		return nil
	} else if err != nil && err != io.EOF {
		return err
	}
	return &damage.Error{Off: off, Err: fmt.Errorf("%w: a batch of %d bytes", damage.ErrTorn, len(data))}
}

// add adds a batch of events to those of its thread.
func (e *events) add(threads map[uint64]*lineage, b batch, at piece) {
	l := threads[b.thread]
	if l == nil {
		l = &lineage{thread: e.order.thread(int64(b.thread))}
		threads[b.thread] = l
		e.threads = append(e.threads, l)
		e.bytes += int64(unsafe.Sizeof(lineage{})+unsafe.Sizeof(thread{})) + 128 // of two maps
	}
	if at.size == 0 {
		return
	}
	l.batches = append(l.batches, at)
	e.bytes += 2*int64(unsafe.Sizeof(at)) + int64(max(at.size-l.largest, 0)) // slices grow by doubling
	l.largest = max(l.largest, at.size)
}

// held is about how much memory the events take, apart from the state of the program.
func (e *events) held() int64 { return e.bytes + e.tables.held() }

// next reads an event into ev, io.EOF after the last one.
func (e *events) next(ev *event) error {
	if err := e.find(ev); err != nil {
		return err
	}
	ev.time = max(ev.time, e.last+1)
	if ev.time > maxTime {
		return fmt.Errorf("%w: an event at %d ns", damage.ErrDamaged, ev.time)
	}
	e.last = ev.time
	return nil
}

func (e *events) find(ev *event) error {
	if n := len(e.order.more); n > 0 {
		*ev = e.order.more[0]
		e.order.more = append(e.order.more[:0], e.order.more[1:]...)
		return nil
	}
	if !e.begun {
		e.begun = true
		*ev = event{kind: kindGeneration, time: e.tables.time(e.tables.first), goroutine: none, processor: none, thread: none, anchor: e.tables.anchor}
		return nil
	}
	if e.sampled < len(e.tables.samples) {
		if s := &e.tables.samples[e.sampled]; len(e.heap) == 0 || s.time < e.heap[0].time {
			e.sampled++
			*ev = event{kind: kindSample, time: s.time, goroutine: s.goroutine, processor: s.processor, thread: s.thread, context: s.stack}
			return nil
		}
	}
	if len(e.heap) == 0 {
		return io.EOF
	}
	ok, err := e.take(0, ev)
	if ok || err != nil {
		return err
	}
	return e.search(ev)
}

// search takes the first event that can be taken, of those that are not the earliest.
func (e *events) search(ev *event) error {
	slices.SortFunc(e.heap, func(a, b next) int { return cmp.Compare(a.time, b.time) }) // that is a heap, too
	if e.vain += int64(len(e.heap)); e.vain > patience*(e.taken+patience) {
		return fmt.Errorf("%w: the times of %d threads do not say in which order their events come", damage.ErrDamaged, len(e.heap))
	}
	for i := 1; i < len(e.heap); i++ {
		if ok, err := e.take(i, ev); ok || err != nil {
			return err
		}
	}
	return fmt.Errorf("%w: of the next events of %d threads each must come after another", damage.ErrDamaged, len(e.heap))
}

// patience is how many threads may be looked at for each event.
const patience = 1 << 12

// take takes the event of the heap at i, if the state of the program allows it.
func (e *events) take(i int, ev *event) (ok bool, err error) {
	l := e.heap[i].of
	ok, err = e.order.take(l.kind, l.thread, l.last, &l.arguments, ev)
	if err != nil {
		return false, l.error(err)
	}
	if !ok {
		return false, nil
	}
	e.taken++
	more, err := e.advance(l)
	if err != nil {
		return false, err
	}
	if more {
		e.heap[i].time = l.last
		e.update(i)
	} else {
		e.remove(i)
	}
	return true, nil
}

// advance reads the next event of a thread; not ok if there is none.
func (e *events) advance(l *lineage) (ok bool, err error) {
	for len(l.rest) == 0 {
		if l.at == len(l.batches) {
			return false, nil
		}
		l.at++
		if err := e.load(l, l.batches[l.at-1]); err != nil {
			return false, err
		}
	}
	if l.last == 0 {
		l.last = e.tables.time(l.batches[l.at-1].ticks)
	}
	ticks, err := l.read()
	l.last += e.tables.time(ticks)
	return true, err
}

// load reads a batch of a thread.
func (e *events) load(l *lineage, p piece) error {
	if l.data == nil {
		l.data = make([]byte, l.largest)
	}
	l.rest, l.last = l.data[:p.size], 0
	return readAll(e.r, l.rest, p.off)
}

// read reads an event but for its time, which it returns.
func (l *lineage) read() (ticks uint64, err error) {
	l.kind = l.rest[0]
	r := &rules[l.kind]
	if r.take == nil {
		return 0, l.error(fmt.Errorf("there is no event %d", l.kind))
	}
	at := 1
	for i := -1; i < int(r.arguments); i++ {
		if at < len(l.rest) && l.rest[at] < 0x80 {
			v := uint64(l.rest[at])
			at++
			if i < 0 {
				ticks = v
			} else {
				l.arguments[i] = v
			}
			continue
		}
		v, n := binary.Uvarint(l.rest[at:])
		if n <= 0 {
			return 0, l.error(fmt.Errorf("an event %d ends within a number", l.kind))
		}
		at += n
		if i < 0 {
			ticks = v
		} else {
			l.arguments[i] = v
		}
	}
	l.rest = l.rest[at:]
	return ticks, nil
}

// error is an error of the next event of a thread, or in it.
func (l *lineage) error(err error) error {
	b := l.batches[l.at-1]
	return &damage.Error{Off: b.off + int64(b.size) - int64(len(l.rest)), Err: fmt.Errorf("%w: an event of thread %d: %w", damage.ErrDamaged, l.thread.id, err)}
}

// The heap is that of golang.org/x/exp/trace, so that events at the same time come in the same order.

func (e *events) push(n next) {
	e.heap = append(e.heap, n)
	e.up(len(e.heap) - 1)
}

func (e *events) update(i int) {
	if e.up(i) == i {
		e.down(i)
	}
}

func (e *events) remove(i int) {
	for ; i > 0; i = (i - 1) / 2 {
		e.heap[(i-1)/2], e.heap[i] = e.heap[i], e.heap[(i-1)/2]
	}
	last := len(e.heap) - 1
	e.heap[0] = e.heap[last]
	e.heap[last] = next{}
	e.heap = e.heap[:last]
	e.down(0)
}

func (e *events) up(i int) int {
	for i > 0 && e.heap[(i-1)/2].time > e.heap[i].time {
		e.heap[(i-1)/2], e.heap[i] = e.heap[i], e.heap[(i-1)/2]
		i = (i - 1) / 2
	}
	return i
}

func (e *events) down(i int) {
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(e.heap); c++ {
			if e.heap[c].time < e.heap[least].time {
				least = c
			}
		}
		if least == i {
			return
		}
		e.heap[i], e.heap[least] = e.heap[least], e.heap[i]
		i = least
	}
}
