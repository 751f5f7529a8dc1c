// Package dict writes the dictionary of a recording: what the ids in its chunks mean.
package dict

import (
	"errors"
	"maps"
	"slices"
	"sync"

	"gprof/chunks"
	"gprof/chunks/mapping"
	"gprof/rawformat"
	"gprof/recorder/internal/modules"
	"gprof/recorder/internal/record"
)

// Dictionary writes the definitions of a recording. Each is in the file before its id is used. Ids are dense: if a
// definition can't be written, no other one follows, and the dictionary is full for good. All methods may be called
// from any goroutine.
type Dictionary struct {
	config Config

	mu   sync.Mutex
	file *chunks.RecordFile
	full bool
	cut  bool // somebody has cut the file short

	closed bool // it never begins a new generation again

	batch   [][]byte // records that are not in the file yet
	pending int64    // approximate size of batch, in bytes

	strings ids[string]
	frames  ids[frameKey]
	stacks  ids[stackKey]
	labels  ids[labelKey]

	roots map[uint64]string // root functions of goroutines, by where these began

	starts    map[startKey]bool // functions whose first line is defined
	startless map[uint32]bool   // frames with functions whose first line is not
	modules   []modules.Module
	unfiled   []modules.Code // functions of modules that have no file
}

// Config is what a dictionary is made with.
type Config struct {
	Limit     int64                                              // bytes of the file
	Charge    func(bytes int64)                                  // is called with the bytes by which the file has grown
	LabelName func(number uint32) (name string, category uint32) // returns the name of a label
}

type frameKey struct {
	module uint32
	offset uint64
}

// labelFrame is the module of frames that are labels; their offset is the label's
// number.
const labelFrame = ^uint32(0)

type stackKey struct{ parent, frame uint32 }

// labelKey is a set of labels: one label more than its parent. Key and value are ids
// of strings.
type labelKey struct{ parent, key, value uint32 }

// Label is a label of runtime/pprof, by which a program says what it works on.
type Label struct{ Key, Value string }

// startKey is a function; both are ids of strings.
type startKey struct{ function, file uint32 }

// Function is a function at a place in the code.
type Function struct {
	Name, File string
	Line       int64
	Start      int64 // line of the function, 0 unknown
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

func newIDs[K comparable]() ids[K] { return ids[K]{of: map[K]uint32{}} }

// New begins a dictionary in an empty file, which it closes.
func New(file *chunks.RecordFile, c Config) *Dictionary {
	c.Charge(file.Size())
	return &Dictionary{file: file, config: c,
		strings: newIDs[string](), frames: newIDs[frameKey](), stacks: newIDs[stackKey](), labels: newIDs[labelKey](),
		roots: map[uint64]string{}, starts: map[startKey]bool{}, startless: map[uint32]bool{}}
}

// IsOutgrown reports whether a new generation should begin: the file is cut short or half full, and a new one would
// not be as full at once.
func (d *Dictionary) IsOutgrown() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.closed && (d.full || d.cut || d.file.Size() > d.config.Limit/2)
}

// Inspect finds out whether somebody else has cut the file short.
func (d *Dictionary) Inspect() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cut = d.cut || !d.closed && d.file.IsCut()
}

// IsCut reports whether [Dictionary.Inspect], or writing, has found the file cut short.
func (d *Dictionary) IsCut() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cut
}

// Size is the length of the file.
func (d *Dictionary) Size() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.file.Size()
}

// Turn continues in an empty file that gets these records and the modules, whose ids don't change, but no stacks. After
// an error nothing has changed, and the new file is closed. It is also an error if the new file would be more than half
// full; then, unlike on a full disk, there is no other attempt.
func (d *Dictionary) Turn(file *chunks.RecordFile, records [][]byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	next := New(file, d.config)
	for _, r := range records {
		next.add(r)
	}
	for _, m := range d.modules {
		next.addModule(m)
	}
	for _, start := range slices.Sorted(maps.Keys(d.roots)) {
		next.root(start, d.roots[start])
	}
	err := errCrowded
	if next.pending <= d.config.Limit/2 {
		err = next.write()
	}
	if err != nil {
		d.config.Charge(-file.Size())
		d.closed = errors.Is(err, errCrowded) || errors.Is(err, rawformat.ErrTooBig) // each further attempt would fail likewise
		return errors.Join(err, file.Close())
	}
	err = d.file.Close()
	d.file, d.full, d.cut = next.file, false, false
	d.roots = next.roots
	d.strings, d.frames, d.stacks, d.labels, d.starts, d.startless = next.strings, next.frames, next.stacks, next.labels, next.starts, next.startless
	return err
}

// errCrowded is why stacks are written as pcs from now on.
var errCrowded = errors.New("definitions leave no room for stacks")

// Define writes records, as many as there is room for, and returns how many.
func (d *Dictionary) Define(records ...[]byte) int {
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

// fits reports whether there is room for that many bytes after the batch.
func (d *Dictionary) fits(bytes int64) bool { return d.file.Size()+d.pending+bytes <= d.config.Limit }

func (d *Dictionary) add(b record.Body) {
	d.batch = append(d.batch, b)
	d.pending += int64(len(b)) + recordOverhead
}

// recordOverhead bounds what a record adds to its body: length and CRC.
const recordOverhead = 8

// flush writes the batch. Only then may its ids be used.
func (d *Dictionary) flush() bool { return d.write() == nil }

// write is flush, and says why it can't be done.
func (d *Dictionary) write() (err error) {
	if d.full || !d.fits(0) {
		err = errCrowded
	} else if len(d.batch) > 0 {
		before := d.file.Size()
		err = d.file.Append(d.batch...)
		d.cut = errors.Is(err, mapping.ErrCut)
		d.config.Charge(d.file.Size() - before)
	}
	d.batch, d.pending = d.batch[:0], 0
	if d.full = err != nil; d.full {
		return err
	}
	d.strings.commit()
	d.frames.commit()
	d.stacks.commit()
	d.labels.commit()
	return nil
}

// IsFull reports whether nothing can be defined any more.
func (d *Dictionary) IsFull() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.full
}

// Frame is a place in the code: a pc inside of its instruction, and the functions
// there, the outermost first, then those inlined into it. No functions: unknown.
type Frame struct {
	Label     uint32 // if not 0, the frame is the label with that number
	PC        uint64
	Functions []Function
	Known     bool // it was defined before, completely, and functions are left out
}

// Innermost is the function that was running there, "" if it is not known.
func (l *Frame) Innermost() string {
	if len(l.Functions) == 0 {
		return ""
	}
	return l.Functions[len(l.Functions)-1].Name
}

// Truncated stands in a stack for the frames that were left out because the stack was too deep.
var Truncated = Frame{PC: rawformat.TruncatedPC}

// Stack returns the id of a stack, leaf first; 0 if there is no room for it, or a frame that
// is said to be known is not: in a new generation, or where a new module lies.
func (d *Dictionary) Stack(leafFirst []Frame) uint32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.full {
		return d.findStack(leafFirst)
	}
	id := uint32(0)
	for i := len(leafFirst) - 1; i >= 0; i-- {
		frame := d.frame(&leafFirst[i])
		if frame == 0 {
			d.flush()
			return 0
		}
		key := stackKey{id, frame}
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

// Name names code that is in no stack, if there is room.
func (d *Dictionary) Name(code []Frame) {
	if len(code) == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.full {
		return
	}
	for i := range code {
		d.frame(&code[i])
	}
	d.flush()
}

// Root defines the root function of goroutines that began at an address. It is told once, so if there is no room the
// next generation defines it.
func (d *Dictionary) Root(start uint64, name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.roots[start] != "":
		return
	case d.full:
		d.roots[start] = name
		return
	}
	d.root(start, name)
	d.flush()
}

func (d *Dictionary) root(start uint64, name string) {
	d.roots[start] = name
	d.add(record.New(rawformat.KindDefRoot).Uint(start).Uint(uint64(d.string(name))))
}

// LabelSet returns the id of a set of labels, 0 for the empty set or if there is no room.
func (d *Dictionary) LabelSet(labels []Label) (id uint32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.full {
		return 0
	}
	for _, l := range labels {
		key := labelKey{id, d.string(l.Key), d.string(l.Value)}
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

// findStack is Stack for a dictionary that takes no more definitions.
func (d *Dictionary) findStack(leafFirst []Frame) (id uint32) {
	for i := len(leafFirst) - 1; i >= 0; i-- {
		frame := d.frames.of[d.keyOf(&leafFirst[i])]
		id = d.stacks.of[stackKey{id, frame}]
		if frame == 0 || frame > d.frames.safe || id == 0 || id > d.stacks.safe {
			return 0
		}
	}
	return id
}

// frame is the id of a frame, 0 if it is wrong that it is known.
func (d *Dictionary) frame(l *Frame) uint32 {
	if l.Label != 0 {
		return d.label(l.Label)
	}
	key := d.key(l.PC)
	if l.Known {
		return d.frames.of[key]
	}
	id, known := d.frames.id(key)
	if known && !d.startless[id] {
		return id
	}
	if !known {
		d.add(record.New(rawformat.KindDefFrame).Uint(uint64(id)).Uint(uint64(key.module)).Uint(key.offset))
		for depth, s := range d.chain(l) {
			function, file := d.string(s.Name), d.string(s.File)
			d.add(record.New(rawformat.KindDefSymbol).Uint(uint64(id)).Uint(uint64(depth)).
				Uint(uint64(function)).Uint(uint64(file)).Uint(uint64(max(0, s.Line))))
		}
	}
	d.start(id, l.Functions)
	return id
}

// chain is the functions at a place. Those of the kernel are unknown to Go's runtime.
func (d *Dictionary) chain(l *Frame) []Function {
	if len(l.Functions) > 0 {
		return l.Functions
	}
	for _, f := range d.unfiled {
		if f.Start <= l.PC && l.PC < f.End {
			return []Function{{Name: f.Name}}
		}
	}
	return nil
}

// start defines the lines at which the functions of a frame begin, each once. If a stack does not have them, the frame
// is looked at again in the next stack.
func (d *Dictionary) start(frame uint32, chain []Function) {
	delete(d.startless, frame)
	for _, s := range chain {
		of := startKey{d.string(s.Name), d.string(s.File)}
		switch {
		case d.starts[of]:
		case s.Start > 0:
			d.starts[of] = true
			d.add(record.New(rawformat.KindDefStart).Uint(uint64(of.function)).Uint(uint64(of.file)).Uint(uint64(s.Start)))
		default:
			d.startless[frame] = true
		}
	}
}

func (d *Dictionary) string(s string) uint32 {
	if s == "" {
		return 0
	}
	id, known := d.strings.id(s)
	if !known {
		d.add(record.New(rawformat.KindDefString).Uint(uint64(id)).Text(s))
	}
	return id
}

// label returns the id of a label's frame.
func (d *Dictionary) label(number uint32) uint32 {
	id, known := d.frames.id(frameKey{labelFrame, uint64(number)})
	if !known {
		name, category := d.config.LabelName(number)
		d.add(record.New(rawformat.KindDefLabel).Uint(uint64(id)).Uint(uint64(category)).Text(name))
	}
	return id
}

func (d *Dictionary) keyOf(l *Frame) frameKey {
	if l.Label != 0 {
		return frameKey{labelFrame, uint64(l.Label)}
	}
	return d.key(l.PC)
}

// key identifies the frame at a pc: by module and offset, or outside of all modules by the pc itself. Of two modules at
// one address the later one counts, because the other was unmapped before.
func (d *Dictionary) key(pc uint64) frameKey {
	for i, m := range slices.Backward(d.modules) {
		if m.Start <= pc && pc < m.End {
			return frameKey{uint32(i + 1), pc - m.Start}
		}
	}
	return frameKey{0, pc}
}

// Learn defines the modules mapped since the last call. Reading their build ids may take a while, during which the lock
// is not held.
func (d *Dictionary) Learn() {
	if d.IsFull() {
		return
	}
	for _, m := range modules.Mapped(d.knows) {
		d.module(m, m.Functions()...)
	}
}

func (d *Dictionary) module(m modules.Module, unfiled ...modules.Code) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.unfiled = append(d.unfiled, unfiled...)
	d.addModule(m)
	if !d.flush() {
		d.modules = d.modules[:len(d.modules)-1]
	}
}

func (d *Dictionary) addModule(m modules.Module) {
	d.modules = append(d.modules, m)
	d.add(record.New(rawformat.KindDefModule).Uint(uint64(len(d.modules))).Text(m.Path).Text(m.Build).Fixed(m.Start).Fixed(m.End).Fixed(m.Offset))
}

// knows reports whether m is the latest module at its address.
func (d *Dictionary) knows(m modules.Module) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, k := range slices.Backward(d.modules) {
		if k.Start < m.End && m.Start < k.End {
			return k.Start == m.Start && k.End == m.End && k.Offset == m.Offset && k.Path == m.Path
		}
	}
	return false
}

// Close closes the file. Nothing can be defined any more.
func (d *Dictionary) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full, d.closed = true, true
	return d.file.Close()
}
