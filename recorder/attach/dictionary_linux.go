package attach

import (
	"gprof/chunks"
	"gprof/rawformat"
	"gprof/recorder/internal/record"
)

// dictionary writes one generation of definitions of a recording. Each is in the file
// before its id is used; once one could not be written none follows.
type dictionary struct {
	file  *chunks.RecordFile
	limit int64 // bytes of the file
	full  bool
	batch [][]byte // records that are not in the file yet

	strings map[string]uint32
	tracks  map[string]uint32
	modules map[int]uint32 // by their number in the process
	frames  map[frame]uint32
	stacks  map[edge]uint32

	made  []madeFrame // frames that have no name yet
	tried int         // how many of them no list has had
}

// edge is a stack: one frame more than its parent.
type edge struct{ parent, frame uint32 }

func newDictionary(file *chunks.RecordFile, limit int64) *dictionary {
	return &dictionary{file: file, limit: limit, strings: map[string]uint32{}, tracks: map[string]uint32{},
		modules: map[int]uint32{}, frames: map[frame]uint32{}, stacks: map[edge]uint32{}}
}

func (d *dictionary) add(b record.Body) { d.batch = append(d.batch, b) }

// next is the id for the next key of m.
func next[K comparable](m map[K]uint32) uint32 { return uint32(len(m) + 1) }

// flush writes the batch. False: none of it is in the file, and nothing will be.
func (d *dictionary) flush() bool {
	if !d.full && len(d.batch) > 0 {
		d.full = d.file.Append(d.batch...) != nil
	}
	d.batch = d.batch[:0]
	return !d.full
}

// isOutgrown reports whether another generation should begin.
func (d *dictionary) isOutgrown() bool { return d.full || d.file.Size() > d.limit }

// isTooLarge reports whether the next generation can't wait until the previous one is gone.
func (d *dictionary) isTooLarge() bool { return d.file.Size() > 2*d.limit }

// stack returns the id of a stack, innermost frame first; 0: it is empty, or there is no room.
func (d *dictionary) stack(p *process, frames []frame) (id uint32) {
	if d.full {
		return 0
	}
	for i := len(frames) - 1; i >= 0; i-- {
		e := edge{id, d.frame(p, frames[i])}
		known := false
		if id, known = d.stacks[e]; !known {
			id = next(d.stacks)
			d.stacks[e] = id
			d.add(record.New(rawformat.KindDefStack).Uint(uint64(id)).Uint(uint64(e.parent)).Uint(uint64(e.frame)))
		}
	}
	if !d.flush() {
		return 0
	}
	return id
}

func (d *dictionary) frame(p *process, f frame) uint32 {
	id, known := d.frames[f]
	if known {
		return id
	}
	module := d.module(p, f.module)
	name := uint32(0)
	if f.module == kernelModule {
		name = d.string(p.kernel.name(f.offset))
	}
	id = next(d.frames)
	d.frames[f] = id
	if f == unknownFrame {
		d.add(record.New(rawformat.KindDefLabel).Uint(uint64(id)).Uint(0).Text("(unknown)"))
		return id
	}
	d.add(record.New(rawformat.KindDefFrame).Uint(uint64(id)).Uint(uint64(module)).Uint(f.offset))
	if f.module == madeModule && len(d.made) < maxMade {
		d.made = append(d.made, madeFrame{f.offset, id})
	}
	if name != 0 {
		d.add(record.New(rawformat.KindDefSymbol).Uint(uint64(id)).Uint(0).Uint(uint64(name)).Uint(0).Uint(0))
	}
	return id
}

// module returns the id of the module of a frame.
func (d *dictionary) module(p *process, number int) uint32 {
	if number == noModule || number == madeModule {
		return 0
	}
	id, known := d.modules[number]
	if known {
		return id
	}
	id = next(d.modules)
	d.modules[number] = id
	m := p.kernel.module()
	if number != kernelModule {
		m = p.modules[number]
	}
	d.add(record.New(rawformat.KindDefModule).Uint(uint64(id)).Text(m.Path).Text(m.Build).Fixed(m.Start).Fixed(m.End).Fixed(m.Offset))
	return id
}

func (d *dictionary) string(s string) uint32 {
	if s == "" {
		return 0
	}
	id, known := d.strings[s]
	if !known {
		id = next(d.strings)
		d.strings[s] = id
		d.add(record.New(rawformat.KindDefString).Uint(uint64(id)).Text(s))
	}
	return id
}

// track returns the id of a thread's track, 0 if there is no room.
func (d *dictionary) track(name string) uint32 {
	id, known := d.tracks[name]
	if !known && !d.full {
		id = next(d.tracks)
		d.tracks[name] = id
		d.add(record.New(rawformat.KindDefTrack).Uint(uint64(id)).Text(name))
	}
	if !d.flush() && !known {
		return 0
	}
	return id
}
