package decode

import (
	"maps"
	"slices"

	"gprof/rawformat"
	"gprof/stream"
)

// reset empties the dictionary and keeps its memory.
func (d *dictionary) reset() {
	for _, t := range []*ids[text]{&d.strings, &d.tracks} {
		t.reset()
	}
	d.stacks.reset()
	d.frames.reset()
	*d = dictionary{texts: d.texts[:0], strings: d.strings, tracks: d.tracks, stacks: d.stacks, frames: d.frames,
		symbols: d.symbols[:0], labels: d.labels[:0], mapped: d.mapped[:0],
		links: links{placed: d.placed[:0], places: d.places[:0]}}
}

// room is the approximate memory of the dictionary, including what linking adds.
func (d *dictionary) room() int64 {
	const frame = 24 + 4 + 4
	return int64(cap(d.texts) + 8*cap(d.strings.dense) + 8*cap(d.stacks.dense) + frame*cap(d.frames.dense) + cap(d.symbols))
}

// links map the ids of a dictionary to the tables of the run.
type links struct {
	placed []placement          // frames by id
	places []int32              // places in their code, by frame id
	far    map[uint64]placement // frames with sparse ids
	roots  []string             // names of tracks; raw stacks add to them
	linked []string             // roots when all was linked, to be read without the tables
	rootOf map[string]int32     // index in roots
	raw    map[uint64]placement // by pc
}

// stackLink is a linked stack. sid is 0 if it is undefined.
type stackLink struct {
	sid  stream.StackID
	root int32 // index in roots: the track of a sample without one
}

// edge stores a link in place of its edge, since most of a dictionary are stacks.
func (l stackLink) edge() edge { return edge{uint32(l.sid), uint32(l.root)} }
func (e edge) link() stackLink { return stackLink{stream.StackID(e.parent), int32(e.frame)} }

// stack returns the link of a stack.
func (d *dictionary) stack(id uint64) stackLink {
	if id < uint64(len(d.stacks.dense)) {
		return d.stacks.dense[id].link()
	}
	return d.stacks.sparse[id].link()
}

func (l *links) frame(id uint64) placement {
	if id < uint64(len(l.placed)) {
		return l.placed[id]
	}
	return l.far[id]
}

// linkModules gives each mapped file its code, which others may share.
func (d *dictionary) linkModules(n *names) {
	for i := range d.mapped {
		m := &d.mapped[i]
		m.code = n.module(string(d.bytes(m.build)), string(d.bytes(m.path)))
	}
}

// zeros is n zeros, in room if they fit.
func zeros[T any](room []T, n int) []T {
	room = slices.Grow(room[:0], n)[:n]
	clear(room)
	return room
}

// codeOf is the code of a module by its index, plus 1; the process's own for 0.
func (d *dictionary) codeOf(module int32) *code {
	if module == 0 {
		return &d.process.code
	}
	return d.mapped[module-1].code
}

// linkPlaces finds the places of frames. It guesses all before it looks at one, so that the cache
// misses of many overlap.
func (d *dictionary) linkPlaces() {
	d.placed, d.places = zeros(d.placed, len(d.frames.dense)), zeros(d.places, len(d.frames.dense))
	for id := range d.frames.dense {
		if f := &d.frames.dense[id]; f.known && f.label == 0 {
			d.places[id] = d.codeOf(f.module).places.guess(f.offset)
		}
	}
	for id, place := range d.places {
		if f := &d.frames.dense[id]; f.known && f.label == 0 {
			c := d.codeOf(f.module)
			if place == 0 || c.places.offsets[place-1] != f.offset {
				place = c.place(f.offset)
			}
			d.places[id], d.placed[id] = place, c.placed[place]
		}
	}
}

func (d *dictionary) function(s *symbol) function {
	return function{name: d.string(s.function), file: d.string(s.file), line: s.line, start: d.starts[start{s.function, s.file}]}
}

// nameless reports whether a frame of a sharable file has no name yet.
func (d *dictionary) nameless() bool {
	for id, p := range d.placed {
		if f := &d.frames.dense[id]; p == 0 && f.module != 0 && d.codeOf(f.module).nameless(d.places[id]) {
			return true
		}
	}
	return len(d.frames.sparse) > 0
}

// link interns what the dictionary defines. The symbols of all dictionaries that may share its
// modules must be linked before, if it is nameless without them.
func (d *dictionary) link(n *names) {
	for _, e := range d.defined {
		e.show()
		e.def.Category = d.category(n, e.category)
		e.id = n.tables.AddEvent(e.def)
		if e.def.SpanFields().Any() {
			n.tables.Process(d.process.ID).Traced = true
		}
	}
	for _, k := range d.counters.dense {
		k.link(n)
	}
	for _, id := range slices.Sorted(maps.Keys(d.counters.sparse)) {
		d.counters.sparse[id].link(n)
	}
	d.linkFrames(n)
	d.linkStacks(n)
	d.linked = d.roots
	d.symbols, d.starts = d.symbols[:0], nil // the tables hold them
}

func (k *counter) link(n *names) {
	if k != nil {
		k.id = n.tables.Counters.Intern(k.def)
	}
}

// category is 0 if undefined.
func (d *dictionary) category(n *names, id uint64) stream.CategoryID {
	c := d.categories.get(id)
	if c == (category{}) {
		return 0
	}
	return n.category(stream.Category{Name: string(d.bytes(c.name)), Color: string(d.bytes(c.color)), Sub: string(d.bytes(c.sub))})
}

func (d *dictionary) linkFrames(n *names) {
	for id, p := range d.placed {
		if f := &d.frames.dense[id]; p == 0 && f.known {
			d.placed[id] = d.placeFrame(n, *f)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(d.frames.sparse)) {
		if d.far == nil {
			d.far = map[uint64]placement{}
		}
		d.far[id] = d.placeFrame(n, d.frames.sparse[id])
	}
}

func (d *dictionary) placeFrame(n *names, f frame) placement {
	switch {
	case !f.known:
		return 0
	case f.label != 0:
		l := d.labels[f.label-1]
		return placement(n.label(string(d.bytes(l.name)), d.category(n, l.category)))
	}
	c := d.codeOf(f.module)
	return n.put(c, c.place(f.offset), f.offset)
}

// linker links the stacks of a dictionary.
type linker struct {
	*dictionary
	names    *names
	depth    []uint16 // of linked stacks, by id; 0: still an edge
	farDepth map[uint64]uint16
	path     []uint64
	budget   int // of steps towards stacks that are defined later
}

// linkStacks links each stack after its parent. Recorders define parents first; otherwise the path
// to the root is walked. A stack that leads to no root is undefined.
func (d *dictionary) linkStacks(n *names) {
	size := len(d.stacks.dense)
	n.depth = zeros(n.depth, size)
	l := linker{dictionary: d, names: n, depth: n.depth, farDepth: map[uint64]uint16{}, budget: 1<<20 + 8*size}
	n.own = stream.StackID(n.tables.Stacks.Len() + 1)
	defer func() { n.own = 0 }()
	for from := 0; from < size; from += recognized {
		if from%(1<<16) == 0 && n.tables.Full() {
			break
		}
		l.linkSome(from, min(from+recognized, size))
	}
	for _, id := range slices.Sorted(maps.Keys(d.stacks.sparse)) {
		l.walk(id)
	}
	l.dropEdges()
}

// dropEdges leaves nothing but links.
func (l *linker) dropEdges() {
	for id, deep := range l.depth {
		if deep == 0 {
			l.stacks.dense[id] = edge{}
		}
	}
	for id := range l.stacks.sparse {
		if l.farDepth[id] == 0 {
			delete(l.stacks.sparse, id)
		}
	}
}

// linkSome links the stacks with ids from from to to-1.
func (l *linker) linkSome(from, to int) {
	s := &l.names.search
	if l.names.own == 1 { // the tables had no stacks
		s.unknown = to - from
		clear(s.absent[:])
	} else {
		l.recognize(from, to)
	}
	if s.unknown == 0 {
		return
	}
	for id := l.appendSome(from, to); id < to; id = l.appendSome(id+1, to) {
		switch e := l.stacks.dense[id]; {
		case e == (edge{}) || l.depth[id] != 0:
		case s.absent[id-from]:
			l.know(id, l.names.tables.Stacks.Append(l.stacks.dense[e.parent].link().sid, stream.FrameID(l.frame(uint64(e.frame)))))
		case uint64(e.parent) < uint64(id):
			l.add(uint64(id), e)
		default:
			l.walk(uint64(id))
		}
	}
}

// appendSome links stacks with ids from from to to-1 as far as the dictionary has added their parents and little else is to be done, as
// for most of a program that the tables do not know. It returns the first one that it leaves.
func (l *linker) appendSome(from, to int) int {
	if from >= to {
		return to
	}
	stacks, depth, frames, own := l.stacks.dense[:to], l.depth[:to], l.placed, l.names.own
	for id := from; id < to; id++ {
		e := stacks[id]
		if depth[id] != 0 {
			continue
		}
		if e.parent >= uint32(id) || uint(e.frame) >= uint(len(frames)) || frames[e.frame] <= 0 {
			return id
		}
		above, deep := stacks[e.parent].link(), depth[e.parent]
		if deep < rootDepth || deep >= rawformat.MaxStack || above.sid < own {
			return id
		}
		above.sid = l.names.tables.Stacks.Append(above.sid, stream.FrameID(frames[e.frame]))
		stacks[id], depth[id] = above.edge(), deep+1
	}
	return to
}

// know links a stack to its parent, of which more than the root is known.
func (l *linker) know(id int, sid stream.StackID) {
	parent := l.stacks.dense[id].parent
	l.stacks.dense[id] = stackLink{sid, l.stacks.dense[parent].link().root}.edge()
	l.depth[id] = l.depth[parent] + 1
}

// add links a stack if its parent and frame are linked, and it is not deeper than
// [rawformat.MaxStack].
func (l *linker) add(id uint64, e edge) bool {
	f := l.frame(uint64(e.frame))
	parent, deep := stackLink{}, uint16(0)
	if e.parent != 0 {
		parent, deep = l.stack(uint64(e.parent)), l.deep(uint64(e.parent))
	}
	if f == 0 || e.parent != 0 && deep == 0 || deep >= rawformat.MaxStack {
		return false
	}
	link := stackLink{l.names.push(parent.sid, f), parent.root}
	if deep < rootDepth {
		link.root = l.root(rootOf(l.names.tables, link.sid))
	}
	if id < uint64(len(l.depth)) {
		l.stacks.dense[id], l.depth[id] = link.edge(), deep+1
		return true
	}
	l.stacks.sparse[id], l.farDepth[id] = link.edge(), deep+1
	return true
}

// deep is the number of frames of a linked stack, else 0.
func (l *linker) deep(id uint64) uint16 {
	if id < uint64(len(l.depth)) {
		return l.depth[id]
	}
	return l.farDepth[id]
}

// walk links a stack and what is not linked on its path to the root.
func (l *linker) walk(id uint64) {
	l.path = l.path[:0]
	for id != 0 && l.deep(id) == 0 {
		e := l.stacks.get(id)
		if l.budget--; l.budget < 0 || len(l.path) >= rawformat.MaxStack || e == (edge{}) {
			return
		}
		l.path = append(l.path, id)
		id = uint64(e.parent)
	}
	for i := len(l.path) - 1; i >= 0; i-- {
		if !l.add(l.path[i], l.stacks.get(l.path[i])) {
			return
		}
	}
}

// root is the index of a name in roots.
func (l *links) root(name string) int32 {
	i, ok := l.rootOf[name]
	if !ok {
		if l.rootOf == nil {
			l.rootOf = map[string]int32{}
		}
		i = int32(len(l.roots))
		l.roots = append(l.roots, name)
		l.rootOf[name] = i
	}
	return i
}

// maxRaw bounds the cached pcs of raw stacks.
const maxRaw = 1 << 16

// rawStack is the stack of pcs, leaf first.
func (d *dictionary) rawStack(n *names, pcs []uint64) (link stackLink) {
	for i := len(pcs) - 1; i >= 0; i-- {
		if p := d.rawFrame(n, pcs[i]); p != 0 {
			link.sid = n.push(link.sid, p)
		}
	}
	if link.sid != 0 {
		link.root = d.root(rootOf(n.tables, link.sid))
	}
	return link
}

// rawFrame is the frame at a pc, 0 for a wrapper: stacks that the process symbolized itself have
// none, and a goroutine's should be alike.
func (d *dictionary) rawFrame(n *names, pc uint64) placement {
	p, ok := d.raw[pc]
	if !ok {
		if p = d.placeFrame(n, d.find(pc)); n.wrapper(p) {
			p = 0
		}
		if d.raw == nil || len(d.raw) == maxRaw {
			d.raw = map[uint64]placement{}
		}
		d.raw[pc] = p
	}
	return p
}
