package stream

import (
	"encoding/binary"
	"math"
	"slices"

	"gprof/stream/internal/pack"
	"gprof/stream/internal/runs"
)

const (
	// A batch of less than firstRows rows that is the first of its series is mixed with others: the series may have no more.
	firstRows = looseRows

	// Parts of mixtures of less than fewRows rows are mixed, because a block of each would take about as much as the rows.
	fewRows = 24

	// mixedBlock is how many rows a block of a mixed run has at most. While such runs are read, a block of each is in memory.
	mixedBlock = 256

	// runRows is how many rows a mixed run has at least, unless memory is short. Many runs would have to be merged.
	runRows = 8 << 10

	// mixedRowBytes is about how much memory a row of a mix takes without its arguments, and packedRow how much one does
	// in a block.
	mixedRowBytes = 64
	packedRow     = 12

	// Batches with more bytes of arguments than shortArgs are not mixed. A mix has at most mixedArgs, but for the last batch.
	shortArgs = 16 << 10
	mixedArgs = 1 << 20
)

// shape is what rows must have in common to be in one mix: their columns.
type shape struct {
	kind  Kind
	args  int
	byRow bool // of samples of mixtures: blocks are of packed rows, because a group has two or three of them
}

// piece is rows of a mix, one after the other, that are of one series.
type piece struct {
	series     int32 // its number
	begin, end int32
}

// mix is rows of many series. It becomes a mixed run, in the order of series, of blocks
//
//	groups   U (ULEB128)
//	series   packed: the number of each group's
//	rows     packed: how many each group has
//	block    of all rows, see appendBlock, or packed rows
type mix struct {
	shape  shape
	rows   Batch
	pieces []piece
	args   int // bytes

	order    batchSorter // of groups
	keys     Batch
	descents int // how often a group came after one that follows it
	out      mixWriter
}

func newMix(of shape) *mix {
	m := &mix{shape: of}
	m.reset()
	return m
}

// reset empties m, keeping its memory.
func (m *mix) reset() {
	m.rows.Reset(Series{Kind: m.shape.kind}, m.shape.args)
	m.pieces, m.args = m.pieces[:0], 0
}

// add adds the rows that a function appends.
func (m *mix) add(series int32, appendTo func(*Batch)) {
	begin := m.rows.Len()
	appendTo(&m.rows)
	m.pieces = append(m.pieces, piece{series, int32(begin), int32(m.rows.Len())})
}

// full reports whether m has enough rows for a run, if rows may take so much memory.
func (m *mix) full(memory int64) bool {
	return m.args > mixedArgs || m.rows.Len() >= min(runRows, max(mixedBlock, int(memory/mixedRowBytes)))
}

// sort finds the order of the groups, which is that of the ranks of their series.
func (m *mix) sort(rank func(series int32) int64) {
	m.keys.Time, m.keys.Index = m.keys.Time[:0], m.keys.Index[:0]
	m.descents = 0
	last := Time(math.MinInt64)
	for i := range m.pieces {
		at := Time(rank(m.pieces[i].series))
		m.keys.Time, m.keys.Index = append(m.keys.Time, at), append(m.keys.Index, uint64(i))
		if at < last {
			m.descents++
		}
		last = at
	}
	if m.descents > 0 {
		m.order.find(&m.keys)
	} else {
		m.order.keep(len(m.pieces))
	}
}

// arrangedShare is of how many groups one may be out of order without asking for another order.
const arrangedShare = 8

// arrange asks for the order of the groups, which are parts of a mixture, if it is far from the one in which they came.
func (m *mix) arrange(of Mixture) {
	if m.descents*arrangedShare < len(m.pieces) {
		return
	}
	parts := make([]int32, len(m.pieces))
	for i, n := range m.order.order {
		parts[i] = m.pieces[n].begin
	}
	of.Arrange(parts)
}

// first and last are series, in order.
func (m *mix) first() int32 { return m.pieces[m.order.order[0]].series }
func (m *mix) last() int32  { return m.pieces[m.order.order[len(m.pieces)-1]].series }

// encode calls each with the blocks of a run, valid until it returns. The groups were sorted.
func (m *mix) encode(each func(block []byte) error) error {
	w := &m.out
	w.begin(m.shape, each)
	for _, i := range m.order.order {
		g := &m.pieces[i]
		if err := w.add(g.series, &m.rows, int(g.begin), int(g.end)); err != nil {
			return err
		}
	}
	return w.flush()
}

// mixWriter makes blocks of groups that come in order.
type mixWriter struct {
	shape   shape
	block   Batch       // the next one
	samples []pack.Row  // instead, by row
	rows    int         // that it will have
	of      []SampleRow // that those that wait are of
	waiting []int32     // rows that belong into the block
	series  []int32
	counts  []int32
	encoder pack.Encoder
	out     []byte
	each    func(block []byte) error // called with each; valid until it returns
}

func (w *mixWriter) begin(of shape, each func(block []byte) error) {
	w.shape, w.each = of, each
	w.reset()
}

func (w *mixWriter) reset() {
	w.block.Reset(Series{Kind: w.shape.kind}, w.shape.args)
	w.series, w.counts, w.samples, w.waiting, w.rows = w.series[:0], w.counts[:0], w.samples[:0], w.waiting[:0], 0
}

// add adds a group: rows from to to-1 of b.
func (w *mixWriter) add(series int32, b *Batch, from, to int) error {
	for from < to {
		n := w.group(series, to-from)
		if w.shape.byRow {
			for i := from; i < from+n; i++ {
				b.packSample(i, w.sample())
			}
		} else {
			w.block.AppendRows(b, from, from+n)
		}
		if err := w.flushFull(); err != nil {
			return err
		}
		from += n
	}
	return nil
}

// sample is the next row of the block.
func (w *mixWriter) sample() *pack.Row {
	n := len(w.samples)
	w.samples = slices.Grow(w.samples, 1)[:n+1]
	return &w.samples[n]
}

// addGroup adds the group that r is at.
func (w *mixWriter) addGroup(r *mixedReader) error {
	series, from, to := r.where()
	if !w.shape.byRow {
		return w.add(series, &r.rows, from, to)
	}
	for from < to {
		n := w.group(series, to-from)
		for i := from; i < from+n; i++ {
			r.samples.Read(i, w.sample())
		}
		if err := w.flushFull(); err != nil {
			return err
		}
		from += n
	}
	return nil
}

// addPart adds a group: rows of a mixture. They are taken when the block is full, since each is far from the last one in memory,
// and a loop over many waits for several at a time.
func (w *mixWriter) addPart(series int32, rows []int32) error {
	for len(rows) > 0 {
		n := w.group(series, len(rows))
		w.waiting = append(w.waiting, rows[:n]...)
		if err := w.flushFull(); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// group begins a group, and returns how many of its rows fit into the block.
func (w *mixWriter) group(series int32, rows int) int {
	n := min(rows, mixedBlock-w.rows)
	w.rows += n
	w.series, w.counts = append(w.series, series), append(w.counts, int32(n))
	return n
}

// flushFull ends the block, if it is full.
func (w *mixWriter) flushFull() error {
	if w.rows < mixedBlock {
		return nil
	}
	return w.flush()
}

// flush ends the block, if it has any rows.
func (w *mixWriter) flush() error {
	if w.rows == 0 {
		return nil
	}
	w.out = binary.AppendUvarint(w.out[:0], uint64(len(w.series)))
	w.out = pack.Append(w.out, w.series)
	w.out = pack.Append(w.out, w.counts)
	if w.shape.byRow {
		for _, row := range w.waiting {
			w.of[row].pack(w.sample())
		}
		w.out = pack.AppendRows(w.out, w.samples)
	} else {
		w.out = appendBlock(w.out, &w.encoder, &w.block, selection{to: w.block.Len()})
	}
	err := w.each(w.out)
	w.reset()
	return err
}

// mixedReader reads a mixed run group by group.
type mixedReader struct {
	blocks  runs.Reader
	shape   shape
	rows    Batch     // of the block
	samples pack.Rows // instead, by row
	series  []int32
	counts  []int32
	group   int // the next one of the block
	at      int // its first row
}

// begin begins with the first block of a run, and reads ahead bytes at a time.
func (r *mixedReader) begin(run *runs.Run, of shape, ahead int) {
	r.blocks.Reset(run, ahead)
	r.shape = of
	r.rows.Reset(Series{Kind: of.kind}, of.args)
	r.series, r.counts, r.group, r.at = r.series[:0], r.counts[:0], 0, 0
}

// next goes to the next group. It returns false if there is none.
func (r *mixedReader) next() (more bool, err error) {
	if r.group < len(r.counts) {
		r.at += int(r.counts[r.group])
		r.group++
	}
	if r.group < len(r.counts) {
		return true, nil
	}
	block, err := r.blocks.Next()
	if err != nil || block == nil {
		return false, err
	}
	return true, r.read(block)
}

// read takes a block apart. Samples stay packed until they are appended to others.
func (r *mixedReader) read(block []byte) error {
	in := blockReader{Reader: pack.NewReader(block)}
	n := int(in.AtMost(mixedBlock))
	r.series = pack.Read(r.series[:0], &in.Reader, n)
	r.counts = pack.Read(r.counts[:0], &in.Reader, n)
	all := 0
	for i, n := range r.counts {
		if n <= 0 || n > mixedBlock || r.series[i] < 0 {
			return runs.ErrDamaged
		}
		all += int(n)
	}
	if all == 0 || all > mixedBlock {
		return runs.ErrDamaged
	}
	r.group, r.at = 0, 0
	if r.shape.byRow {
		if r.samples = in.Rows(all); in.Bad() || in.Left() > 0 {
			return runs.ErrDamaged
		}
		return nil
	}
	r.rows.Reset(r.rows.Series, len(r.rows.Args))
	if err := in.rows(&r.rows); err != nil {
		return err
	}
	if all != r.rows.Len() {
		return runs.ErrDamaged
	}
	return nil
}

// where is the series of the group, and its rows.
func (r *mixedReader) where() (series int32, from, to int) {
	return r.series[r.group], r.at, r.at + int(r.counts[r.group])
}

// appendTo appends the rows of the group to b.
func (r *mixedReader) appendTo(b *Batch) {
	_, from, to := r.where()
	if r.shape.byRow {
		n := b.moreSamples(to - from)
		var row pack.Row
		for i := range to - from {
			r.samples.Read(from+i, &row)
			b.setPacked(n+i, &row)
		}
	} else {
		b.AppendRows(&r.rows, from, to)
	}
}

// appendRows appends the rows of the group, which are samples, to others.
func (r *mixedReader) appendRows(rows *[]pack.Row) {
	_, from, to := r.where()
	n := len(*rows)
	all := slices.Grow(*rows, to-from)[:n+to-from]
	for i := from; i < to; i, n = i+1, n+1 {
		r.samples.Read(i, &all[n])
	}
	*rows = all
}
