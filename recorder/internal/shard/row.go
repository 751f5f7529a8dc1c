package shard

import (
	"runtime"
	"sync/atomic"

	rootnames "gprof/rawformat/roots"
	"gprof/recorder/internal/dict"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
)

// row is where the markers of a context stand: on a track, or else on the row of the
// function in which their goroutine began.
type row struct {
	track uint32 // 0: none
	start uint64 // address of that function; 0: unknown, or of no concern
}

// These are numbers of no goroutine. A shard with one of the first two must state its context
// anew; what left was about is not recorded.
const (
	left      = ^uint64(1)
	forgotten = ^uint64(0)
	anyone    = ^uint64(2)
)

// rowOf finds the row of a context, whose goroutine is the calling one, if any. Not wanted:
// that goroutine is on a track, or on the row of a root function, that is not recorded.
func (r *Recording) rowOf(of context) (at row, wanted bool) {
	switch {
	case of.track == registry.ProcessID:
		return row{}, true
	case of.goroutine == 0:
		return row{track: of.track}, true
	}
	if at.track = of.track; at.track == 0 {
		if t := TrackOf(of.goroutine); t != nil {
			if t.IsUnwanted() {
				return row{}, false
			}
			at.track = r.trackID(t)
		}
	}
	at.start = rt.GoroutineAt(r.starts)
	if at.start != 0 && r.isUnwantedRoot(at.start, of.goroutine) && at.track == 0 {
		return row{}, false
	}
	return at, true
}

// onTracks says which goroutines are on a track. A goroutine is in one of the slots that its
// number leads to. Any goroutine may look; those that store hold a lock of the caller's.
var onTracks struct {
	count atomic.Int32
	slots [1 << trackBits]struct {
		goroutine atomic.Uint64
		track     atomic.Pointer[registry.Track]
	}
}

const (
	trackBits   = 13
	trackProbes = 8
	trackHash   = 0x9e3779b97f4a7c15
)

// TrackOf is the track that a goroutine is on, nil if it is on none.
func TrackOf(goroutine uint64) *registry.Track {
	if onTracks.count.Load() == 0 {
		return nil
	}
	first := goroutine * trackHash >> (64 - trackBits)
	for i := range uint64(trackProbes) {
		if s := &onTracks.slots[(first+i)%uint64(len(onTracks.slots))]; s.goroutine.Load() == goroutine {
			return s.track.Load()
		}
	}
	return nil
}

// SetTrack puts a goroutine, as a rule the calling one, on a track; nil: on none. Markers
// that it makes from now on stand there. If there is no room for it, they stand on the row
// of its root function.
func SetTrack(goroutine uint64, t *registry.Track) {
	if goroutine == 0 {
		return
	}
	first, free := goroutine*trackHash>>(64-trackBits), -1
	for i := range trackProbes {
		at := (int(first) + i) % len(onTracks.slots)
		switch s := &onTracks.slots[at]; s.goroutine.Load() {
		case goroutine:
			s.goroutine.Store(0)
			onTracks.count.Add(-1)
			free = at
		case 0:
			if free < 0 {
				free = at
			}
		}
	}
	if t != nil && free >= 0 {
		onTracks.slots[free].track.Store(t)
		onTracks.slots[free].goroutine.Store(goroutine)
		onTracks.count.Add(1)
	}
	if r := Current.Load(); r != nil {
		r.forget(goroutine)
	}
}

// forget has all shards state the context of a goroutine anew, which is not making a marker
// now. Shards belong to others, which may store another goroutine at the same time: then
// either store will do. A context that was read too early is stated once more.
//
//go:norace
func (r *Recording) forget(goroutine uint64) {
	for i := range r.shards {
		if s := &r.shards[i]; s.goroutine == goroutine {
			s.goroutine = forgotten
		}
	}
}

// roots passes the functions in which goroutines began to the keeper, which names them in
// the dictionary. Names can't be told from the address alone: the compiler may have made a
// function around the one that the program named, and only a stack shows which.
type roots struct {
	seen words // addresses that were passed on, or are marked as unwanted
	deep words // goroutines that are not recorded by what their address says, because their stacks could not be walked
	news [pendingSlots]beginning
}

// words is a set of numbers, of which the top bit may say more.
type words [1 << rootBits]atomic.Uint64

const (
	rootBits   = 10
	rootProbes = 4
	rootCalls  = 6 // outermost calls of a stack, among which is the root function
)

// beginning is where a goroutine began, and its outermost calls. Each has a state of its own:
// a lock for all would have to be waited for, or the only marker of a function would have a row
// without a name.
type beginning struct {
	state atomic.Uint32 // free, taken or passed
	start uint64
	n     int
	calls [rootCalls]uintptr
}

const (
	free   = iota
	taken  // by a goroutine that is writing it
	passed // to the keeper
)

// unwantedRoot marks the address of a function whose goroutines are not recorded.
const unwantedRoot = 1 << 63

// isUnwantedRoot reports whether markers on the row of that root function, which is the
// calling goroutine's, are not recorded. Functions that are seen first are submitted.
func (r *Recording) isUnwantedRoot(start, goroutine uint64) bool {
	f := &r.roots
	if seen := f.seen.find(start); seen != 0 {
		return seen != start
	}
	return f.deep.find(goroutine) != 0 || f.submit(start, goroutine, r.wants)
}

// deepest is from how many calls on a stack is not walked to its end: until there, which is some ten thousand
// frames in pieces of MaxDepth, takes tens of microseconds.
const deepest = 1024

// submit never waits, and allocates only to ask whether a row is wanted. Where the calling
// goroutine's stack can't be walked, or there is no room, another marker will tell. If it is
// too deep to be walked to its end, all that is known is where it began: if that is not wanted, the goroutine is not
// asked about again until NameRoots is called.
//
//go:noinline
func (f *roots) submit(start, goroutine uint64, wants func(row string) bool) (unwanted bool) {
	var calls [MaxDepth]uintptr
	n, _ := rt.WalkFrames(&calls[0], MaxDepth, 0)
	cut := n == 0 || rt.IsCut(calls[:n], MaxDepth)
	for skip := MaxDepth - rootCalls; cut && n > 0 && skip < deepest; skip += MaxDepth - rootCalls {
		n, _ = rt.WalkFrames(&calls[0], MaxDepth, skip)
		cut = rt.IsCut(calls[:n], MaxDepth)
	}
	if wants != nil && !isWanted(start, cut, calls[max(0, n-rootCalls):n], wants) {
		if cut {
			f.deep.note(goroutine)
		} else {
			f.seen.note(start | unwantedRoot)
		}
		return true
	}
	if n == 0 {
		return false
	}
	if cut {
		n = 0
	}
	for i := range f.news {
		b := &f.news[i]
		if !b.state.CompareAndSwap(free, taken) {
			continue
		}
		b.start, b.n = start, copy(b.calls[:], calls[max(0, n-rootCalls):n])
		b.state.Store(passed)
		f.seen.note(start)
		break
	}
	return false
}

// isWanted asks for the name of a root function: of the stack's, or if that is cut, of the
// one at the address.
func isWanted(start uint64, cut bool, outer []uintptr, wants func(row string) bool) bool {
	b := beginning{start: start}
	if !cut {
		b.n = copy(b.calls[:], outer)
	}
	return wants(rootnames.Name(b.root(), ""))
}

// find returns the word of a number, 0 if it is not there.
func (w *words) find(number uint64) uint64 {
	first := number * trackHash >> (64 - rootBits)
	for i := range uint64(rootProbes) {
		if word := w[(first+i)%uint64(len(w))].Load(); word&^unwantedRoot == number {
			return word
		}
	}
	return 0
}

// note adds a word. If there is no free slot it replaces another.
func (w *words) note(word uint64) {
	first := word &^ unwantedRoot * trackHash >> (64 - rootBits)
	for i := range uint64(rootProbes) {
		if w[(first+i)%uint64(len(w))].CompareAndSwap(0, word) {
			return
		}
	}
	w[first].Store(word)
}

func (w *words) clear() {
	for i := range w {
		if w[i].Load() != 0 {
			w[i].Store(0)
		}
	}
}

// NameRoots defines the root functions of goroutines that were passed on. The stacks of those that were too deep may
// have become shallow meanwhile: they are walked anew.
func (r *Recording) NameRoots(d *dict.Dictionary) {
	if r.early != nil {
		r.nameRoots(d, &r.early.roots)
	}
	r.nameRoots(d, &r.roots)
	if r.Filters() {
		r.roots.deep.clear()
	}
}

func (r *Recording) nameRoots(d *dict.Dictionary, of *roots) {
	for i := range of.news {
		b := &of.news[i]
		if b.state.Load() != passed {
			continue
		}
		if name := b.root(); name != "" {
			d.Root(b.start, name)
		}
		b.state.Store(free)
	}
}

// root names the outermost function of the program. The main goroutine begins in the
// runtime, which only calls main.main.
func (b *beginning) root() (name string) {
	if f := runtime.FuncForPC(uintptr(b.start)); f != nil {
		name = f.Name()
	}
	frames := dict.Locate(rt.Expand(b.calls[:b.n]))
	for i := len(frames) - 1; i >= 0; i-- {
		for _, f := range frames[i].Functions {
			if f.Name != "runtime.goexit" && f.Name != "runtime.main" {
				return f.Name
			}
		}
	}
	return name
}
