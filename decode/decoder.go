package decode

import (
	"fmt"
	"slices"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/stream"
)

// decoder holds the state that entries of one page build on, and the rows that
// are ready.
type decoder struct {
	process stream.ProcessID
	tables  *stream.Tables
	names   *Names
	clock   Clock
	ticks   ticks
	dicts   map[uint32]*dictionary

	// Of the chunk and page being read.
	dict    *dictionary
	chunk   *chunks.Image
	index   uint64 // of the entry
	entry   uint64 // counts entries, to know what "the next" is
	tick    uint64
	context context
	where   stream.TrackID // of the context; 0 until a marker needs it
	stack   inline
	last    map[who]lastSample
	monoTSC bool // ticks need converting

	pending map[stream.Series]*stream.Batch
	recent  *stream.Batch   // the pending batch of the last row
	order   []stream.Series // of pending, as first used
	free    []*stream.Batch

	tracks map[trackKey]stream.TrackID
	roots  map[stream.StackID]stream.TrackID
	lives  map[string]*life // by the program's name for the track
	first  stream.Time      // of all rows; 0 when there are none
	latest stream.Time
	rows   int // since the batches were last handed on

	fields rawformat.Cursor // of the entry; here, so that it is not allocated
	pcs    []uint64
	args   []rawformat.Arg
}

type context struct{ goroutine, track, root uint64 }

// inline is a stack block's stack and the only entry that may use it.
type inline struct {
	id   stream.StackID
	next uint64
}

type who struct{ thread, goroutine uint64 }

type lastSample struct {
	stack stream.StackID
	track uint64
}

// life is when a track began and ended, as far as known. It may begin again.
type life struct{ start, again, end stream.Time }

// enter begins another chunk, or another page after damage.
func (d *decoder) enter(im *chunks.Image) {
	d.chunk, d.dict = im, d.dictionary(uint32(im.Header.Generation))
	d.monoTSC = im.Header.Clock() == rawformat.ClockTSC
	d.tick, d.stack = d.openTick(im), inline{}
	d.setWho(context{})
	clear(d.last)
}

// setWho begins another context.
func (d *decoder) setWho(c context) { d.context, d.where = c, 0 }

// openTick is the time base of a chunk that straddles and so needs no sync.
func (d *decoder) openTick(im *chunks.Image) uint64 {
	if d.monoTSC {
		return im.Header.Open.TSC
	}
	return im.Header.Open.Monotonic
}

// dictionary returns that of a generation, an empty one if it is missing.
func (d *decoder) dictionary(generation uint32) *dictionary {
	dict := d.dicts[generation]
	if dict == nil {
		dict = newDictionary(d.process, d.names)
		d.dicts[generation] = dict // package chunks has said so
	}
	return dict
}

// block decodes one entry.
func (d *decoder) block(b *chunks.Block) {
	d.index = b.Index
	d.entry++
	handle := handlers[b.Kind]
	if handle == nil {
		d.add(stream.Line{Reason: stream.ReasonUnknownKind, What: "blocks", Where: fmt.Sprintf("kind %d", b.Kind), Count: 1, Bytes: int64(b.Fields.Len())})
		return
	}
	d.fields = b.Fields
	if handle(d, &d.fields); d.fields.Err() != nil {
		d.note(stream.ReasonMalformed, "blocks", rawformat.Kinds[b.Kind].Name)
	}
}

// time reads a T and returns its moment.
func (d *decoder) time(c *rawformat.Cursor) stream.Time {
	d.tick += uint64(c.Sint("time"))
	at := d.moment(d.tick)
	if c.Err() == nil {
		d.first, d.latest = min(d.first, at), max(d.latest, at)
	}
	return at
}

func (d *decoder) moment(tick uint64) stream.Time {
	if d.monoTSC {
		tick = d.ticks.monotonic(tick)
	}
	return d.clock.At(tick)
}

// stackOf resolves a stack field.
func (d *decoder) stackOf(field uint64) stream.StackID {
	switch {
	case field == 0:
		return 0
	case field == 1:
		if d.stack.next == d.entry {
			return d.stack.id
		}
		d.note(stream.ReasonUndefined, "stacks", "inline")
		return 0
	}
	id, ok := d.dict.stackID(field - 1)
	if !ok {
		d.note(stream.ReasonUndefined, "stacks", "")
	}
	return id
}

// text resolves a string id.
func (d *decoder) text(id uint64) string {
	s, ok := d.dict.strings[id]
	if !ok && id != 0 {
		d.note(stream.ReasonUndefined, "strings", "")
		return fmt.Sprintf("string %d", id)
	}
	return s
}

func (d *decoder) counterID(id uint64) stream.CounterID {
	k, ok := d.dict.counters[id]
	if !ok {
		d.note(stream.ReasonUndefined, "counters", fmt.Sprintf("counter %d", id))
		k = d.tables.Counters.Intern(stream.Counter{Process: d.process, Name: fmt.Sprintf("counter %d", id)})
	}
	return k
}

// batch returns the pending batch of a series of this process.
func (d *decoder) batch(s stream.Series, args int) *stream.Batch {
	s.Process = d.process
	if d.recent != nil && d.recent.Series == s {
		return d.recent
	}
	b, ok := d.pending[s]
	if !ok {
		b = d.begin(s, args)
	}
	d.recent = b
	return b
}

// begin adds an empty batch to those that are pending.
func (d *decoder) begin(s stream.Series, args int) *stream.Batch {
	b := new(stream.Batch)
	if n := len(d.free); n > 0 {
		b, d.free = d.free[n-1], d.free[:n-1]
	}
	b.Reset(s, args)
	d.pending[s] = b
	d.order = append(d.order, s)
	return b
}

// row begins a row at that time.
func (d *decoder) row(b *stream.Batch, at stream.Time) {
	b.Time = append(b.Time, at)
	b.Index = append(b.Index, d.index)
	d.rows++
}

// take moves the oldest pending batch to b and reports whether there was one.
func (d *decoder) take(b *stream.Batch) bool {
	if len(d.order) == 0 {
		return false
	}
	d.recent = nil
	p := d.pending[d.order[0]]
	delete(d.pending, d.order[0])
	d.order = slices.Delete(d.order, 0, 1)
	*b, *p = *p, *b
	d.free = append(d.free, p)
	return true
}

// note adds one to a line of the ledger, add a whole line.
func (d *decoder) note(r stream.Reason, what, where string) {
	d.add(stream.Line{Reason: r, What: what, Where: where, Count: 1})
}

func (d *decoder) add(l stream.Line) {
	l.Process = instanceName(d.tables.Process(d.process).Instance)
	d.tables.Ledger.Add(l)
}

func instanceName(instance uint64) string { return fmt.Sprintf("%016x", instance) }
