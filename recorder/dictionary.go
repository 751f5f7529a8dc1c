package recorder

import (
	"errors"
	"slices"
	"sync"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder/internal/record"
)

// dictionary writes the definitions of a recording. Each is in the file before
// its id is used. Ids are dense, so that once a definition could not be written
// none follows: the dictionary is full for good.
type dictionary struct {
	mu    sync.Mutex
	file  *chunks.RecordFile
	ring  *chunks.Ring // is charged for the file
	limit int64        // bytes of the file
	full  bool
	cut   bool // the file, by somebody else

	closed bool // no new generation will begin

	batch   [][]byte // records that are not in the file yet
	pending int64    // their bytes, about

	strings ids[string]
	frames  ids[frameKey]
	stacks  ids[stackKey]
	labels  ids[labelKey]

	starts    map[startKey]bool // functions whose first line is defined
	startless map[uint32]bool   // frames with functions whose first line is not
	modules   []module
	unfiled   []codeRange // functions of modules that lie in no file
}

type frameKey struct {
	module uint32
	offset uint64
}

type stackKey struct{ parent, frame uint32 }

// labelKey is a set of labels: one more than another's; key and value are ids of
// strings.
type labelKey struct{ parent, key, value uint32 }

// startKey is a function; both are ids of strings.
type startKey struct{ function, file uint32 }

// symbol is one function of a frame's inline chain.
type symbol struct {
	function, file string
	line           int64
	start          int64 // line of the function, 0 unknown
}

// ids numbers values from 1. Ids above safe are not in the file.
type ids[K comparable] struct {
	of   map[K]uint32
	safe uint32
}

func (t *ids[K]) id(k K) (id uint32, known bool) {
	if id, known = t.of[k]; !known {
		id = uint32(len(t.of) + 1)
		t.of[k] = id
	}
	return id, known
}

func (t *ids[K]) commit() { t.safe = uint32(len(t.of)) }

func newDictionary(file *chunks.RecordFile, ring *chunks.Ring, limit int64) *dictionary {
	ring.Charge(file.Size())
	return &dictionary{file: file, ring: ring, limit: limit,
		strings: ids[string]{of: map[string]uint32{}}, frames: ids[frameKey]{of: map[frameKey]uint32{}}, stacks: ids[stackKey]{of: map[stackKey]uint32{}}, labels: ids[labelKey]{of: map[labelKey]uint32{}}, starts: map[startKey]bool{}, startless: map[uint32]bool{}}
}

// isOutgrown reports whether the dictionary should begin anew: it is full, or half
// full, and not of what would be in the new one, too.
func (d *dictionary) isOutgrown() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.closed && (d.full || d.cut || d.file.Size() > d.limit/2)
}

// inspect sees whether the file holds what was written.
func (d *dictionary) inspect() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cut = d.cut || !d.closed && d.file.IsCut()
}

func (d *dictionary) isCut() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cut
}

func (d *dictionary) size() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.file.Size()
}

// turn goes on in an empty file, with definitions whose ids don't change and the
// modules, and without stacks. On an error, such as that they don't leave it half
// empty, all stays as it was, and the file is closed.
func (d *dictionary) turn(file *chunks.RecordFile, records [][]byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	next := newDictionary(file, d.ring, d.limit)
	for _, r := range records {
		next.add(r)
	}
	for _, m := range d.modules {
		next.addModule(m)
	}
	if next.pending > d.limit/2 || !next.flush() {
		d.ring.Charge(-file.Size())
		d.closed = !next.cut // else it would be the same each time
		return errors.Join(errCrowded, file.Close())
	}
	err := d.file.Close()
	d.file, d.full, d.cut = next.file, false, false
	d.strings, d.frames, d.stacks, d.labels, d.starts, d.startless = next.strings, next.frames, next.stacks, next.labels, next.starts, next.startless
	return err
}

// errCrowded says why stacks are written as pcs from now on.
var errCrowded = errors.New("definitions leave no room for stacks")

// define writes records, as many as there is room for, and returns how many.
func (d *dictionary) define(records ...[]byte) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.full {
		return 0
	}
	n := 0
	for n < len(records) && d.fits(int64(len(records[n]))+recordOverhead) {
		d.add(records[n])
		n++
	}
	if !d.flush() {
		return 0
	}
	d.full = n < len(records)
	return n
}

// fits reports whether that many bytes more have room behind the batch.
func (d *dictionary) fits(bytes int64) bool { return d.file.Size()+d.pending+bytes <= d.limit }

func (d *dictionary) add(b record.Body) {
	d.batch = append(d.batch, b)
	d.pending += int64(len(b)) + recordOverhead
}

// recordOverhead is at most what a record adds to its body: length and CRC.
const recordOverhead = 8

// flush writes the batch. Only then may its ids be used.
func (d *dictionary) flush() bool {
	if d.full = d.full || !d.fits(0); !d.full && len(d.batch) > 0 {
		before := d.file.Size()
		err := d.file.Append(d.batch...)
		d.full, d.cut = err != nil, errors.Is(err, chunks.ErrCut)
		d.ring.Charge(d.file.Size() - before)
	}
	d.batch, d.pending = d.batch[:0], 0
	if d.full {
		return false
	}
	d.strings.commit()
	d.frames.commit()
	d.stacks.commit()
	d.labels.commit()
	return true
}

func (d *dictionary) isFull() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.full
}

// location is a pc, inside of its instruction, and the functions there: the
// outermost first, the ones inlined into it behind. None: not known.
type location struct {
	label uint32 // not 0: it is that label
	pc    uint64
	chain []symbol
}

// stack returns the id of a stack, leaf first; 0 if there is no room for it.
func (d *dictionary) stack(leafFirst []location) uint32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.full {
		return d.findStack(leafFirst)
	}
	id := uint32(0)
	for i := len(leafFirst) - 1; i >= 0; i-- {
		key := stackKey{id, d.frame(leafFirst[i])}
		var known bool
		if id, known = d.stacks.id(key); !known {
			d.add(record.New(rawformat.KindDefStack).Uint(uint64(id)).Uint(uint64(key.parent)).Uint(uint64(key.frame)))
		}
	}
	if !d.flush() {
		return 0
	}
	return id
}

// name names code that is in no stack of the dictionary, if there is room.
func (d *dictionary) name(code []location) {
	if len(code) == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.full {
		return
	}
	for _, l := range code {
		d.frame(l)
	}
	d.flush()
}

// labelSet returns the id of a set of labels, 0 for none or if there is no room
// for it.
func (d *dictionary) labelSet(labels []label) (id uint32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.full {
		return 0
	}
	for _, l := range labels {
		key := labelKey{id, d.string(l.key), d.string(l.value)}
		var known bool
		if id, known = d.labels.id(key); !known {
			d.add(record.New(rawformat.KindDefLabelSet).Uint(uint64(id)).Uint(uint64(key.parent)).Uint(uint64(key.key)).Uint(uint64(key.value)))
		}
	}
	if !d.flush() {
		return 0
	}
	return id
}

// findStack is stack without a definition.
func (d *dictionary) findStack(leafFirst []location) (id uint32) {
	for i := len(leafFirst) - 1; i >= 0; i-- {
		frame := d.frames.of[d.keyOf(leafFirst[i])]
		id = d.stacks.of[stackKey{id, frame}]
		if frame == 0 || frame > d.frames.safe || id == 0 || id > d.stacks.safe {
			return 0
		}
	}
	return id
}

func (d *dictionary) frame(l location) uint32 {
	if l.label != 0 {
		return d.label(l.label)
	}
	key := d.key(l.pc)
	id, known := d.frames.id(key)
	if known && !d.startless[id] {
		return id
	}
	if !known {
		d.add(record.New(rawformat.KindDefFrame).Uint(uint64(id)).Uint(uint64(key.module)).Uint(key.offset))
		for depth, s := range d.chain(l) {
			function, file := d.string(s.function), d.string(s.file)
			d.add(record.New(rawformat.KindDefSymbol).Uint(uint64(id)).Uint(uint64(depth)).
				Uint(uint64(function)).Uint(uint64(file)).Uint(uint64(max(0, s.line))))
		}
	}
	d.start(id, l.chain)
	return id
}

// chain is the functions at a place. Go knows none of the kernel's.
func (d *dictionary) chain(l location) []symbol {
	if len(l.chain) > 0 {
		return l.chain
	}
	for _, f := range d.unfiled {
		if f.start <= l.pc && l.pc < f.end {
			return []symbol{{function: f.name}}
		}
	}
	return nil
}

// start defines the lines at which the functions of a frame begin, once for
// each. CPU profiles tell them, stacks of markers don't: a frame that came by a
// marker is looked at again.
func (d *dictionary) start(frame uint32, chain []symbol) {
	delete(d.startless, frame)
	for _, s := range chain {
		of := startKey{d.string(s.function), d.string(s.file)}
		switch {
		case d.starts[of]:
		case s.start > 0:
			d.starts[of] = true
			d.add(record.New(rawformat.KindDefStart).Uint(uint64(of.function)).Uint(uint64(of.file)).Uint(uint64(s.start)))
		default:
			d.startless[frame] = true
		}
	}
}

func (d *dictionary) string(s string) uint32 {
	if s == "" {
		return 0
	}
	id, known := d.strings.id(s)
	if !known {
		d.add(record.New(rawformat.KindDefString).Uint(uint64(id)).Text(s))
	}
	return id
}

func (d *dictionary) keyOf(l location) frameKey {
	if l.label != 0 {
		return frameKey{labelFrame, uint64(l.label)}
	}
	return d.key(l.pc)
}

// key is the frame at a pc; outside of all modules it is the pc itself. Of two
// modules at one address the first was unmapped when the other came.
func (d *dictionary) key(pc uint64) frameKey {
	for i, m := range slices.Backward(d.modules) {
		if m.start <= pc && pc < m.end {
			return frameKey{uint32(i + 1), pc - m.start}
		}
	}
	return frameKey{0, pc}
}

// learn defines the modules that are mapped now and were not before. Reading
// their build ids can take a while; the lock is held for the definition only.
func (d *dictionary) learn() {
	if d.isFull() {
		return
	}
	for _, m := range mappedModules(d.knows) {
		d.module(m, m.functions()...)
	}
}

func (d *dictionary) module(m module, unfiled ...codeRange) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.unfiled = append(d.unfiled, unfiled...)
	d.addModule(m)
	if !d.flush() {
		d.modules = d.modules[:len(d.modules)-1]
	}
}

func (d *dictionary) addModule(m module) {
	d.modules = append(d.modules, m)
	d.add(record.New(rawformat.KindDefModule).Uint(uint64(len(d.modules))).Text(m.path).Text(m.build).Fixed(m.start).Fixed(m.end).Fixed(m.offset))
}

// knows reports whether a mapping is the latest module at its address.
func (d *dictionary) knows(m module) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, k := range slices.Backward(d.modules) {
		if k.start < m.end && m.start < k.end {
			return k.start == m.start && k.end == m.end && k.offset == m.offset && k.path == m.path
		}
	}
	return false
}

func (d *dictionary) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full, d.closed = true, true
	return d.file.Close()
}
