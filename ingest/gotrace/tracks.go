package gotrace

import (
	"fmt"
	"math"
	"slices"

	"gprof/rawformat/roots"
	"gprof/stream"
	"gprof/stream/gonames"
)

// Grouping says which tracks there are.
type Grouping uint8

const (
	ByRoot      Grouping = iota // one for the goroutines of each root function
	ByThread                    // one for each thread
	ByProcessor                 // one for each of Go's processors
)

// lane is the goroutines of one root function.
type lane struct {
	root  string
	track stream.TrackID // 0: not used yet
	waits stream.TrackID // for waits; 0: not used yet
	tally tally
}

// tally sums up goroutines since the last marker.
type tally struct {
	created, ended uint64
	time           [numStates]int64 // ns in each state, of all together
}

// tracks are the tracks of a trace.
type tracks struct {
	tables     *stream.Tables
	process    stream.ProcessID
	by         Grouping
	main       stream.TrackID
	lanes      map[string]*lane
	order      []*lane // by first use
	threads    map[int64]stream.TrackID
	processors map[int64]stream.TrackID
}

func newTracks(t *stream.Tables, process stream.ProcessID, by Grouping) tracks {
	k := tracks{tables: t, process: process, by: by, lanes: map[string]*lane{}, threads: map[int64]stream.TrackID{}, processors: map[int64]stream.TrackID{}}
	t.Lock()
	defer t.Unlock()
	k.main = t.Tracks.Intern(stream.Track{Process: process, Name: t.Process(process).Name, Main: true})
	return k
}

func (k *tracks) lane(root string) *lane {
	if root == "" {
		root = roots.Unknown
	}
	l := k.lanes[root]
	if l == nil {
		l = &lane{root: root}
		k.lanes[root] = l
		k.order = append(k.order, l)
	}
	return l
}

// laneOf is the lane of a goroutine whose stack may be unknown yet: one created by C code begins in
// a system call without a stack.
func (k *tracks) laneOf(g *goroutine) *lane {
	if g.lane == nil {
		return k.lane("")
	}
	return g.lane
}

// of is the track of an event on a goroutine of l, nil for none.
func (k *tracks) of(ev *event, l *lane) stream.TrackID {
	switch {
	case k.by == ByThread && ev.thread != none:
		return k.numbered(k.threads, "thread", ev.thread)
	case k.by == ByProcessor && ev.processor != none:
		return k.numbered(k.processors, "processor", ev.processor)
	case k.by == ByProcessor || l == nil:
		return k.main
	}
	return k.rootTrack(l)
}

func (k *tracks) numbered(known map[int64]stream.TrackID, what string, number int64) stream.TrackID {
	id := known[number]
	if id == 0 {
		id = k.intern(fmt.Sprint(what, " ", number))
		known[number] = id
	}
	return id
}

func (k *tracks) rootTrack(l *lane) stream.TrackID {
	if l.track == 0 {
		l.track = k.intern(l.root)
	}
	return l.track
}

// waitsTrack is the track of waits, separate as in our own recordings.
func (k *tracks) waitsTrack(l *lane) stream.TrackID {
	if l.waits == 0 {
		l.waits = k.intern(l.root + " (waiting)")
	}
	return l.waits
}

// intern returns the track of that name, which is not the program's own.
func (k *tracks) intern(name string) stream.TrackID {
	t := k.tables
	t.Lock()
	defer t.Unlock()
	known := t.Tracks.Len()
	id := t.Tracks.Intern(stream.Track{Process: k.process, Name: name})
	if int(id) > known {
		track := t.Tracks.At(id)
		track.Root = true
		t.Tracks.Amend(id, track)
	}
	return id
}

// stacks turns stacks of the trace into stacks of the tables.
type stacks struct {
	tables *stream.Tables
	of     *tables     // of the current generation
	known  []stackInfo // of them, by stackRef
	calls  []call
	bad    int64 // unreadable stacks
	cut    int64 // stacks that may be deeper than recorded
}

// stackInfo is a stack of the tables.
type stackInfo struct {
	id   stream.StackID
	seen bool
	root string // its track's name, "" unknown
}

// deepest is the least number of frames of a truncated stack: of 128 places one is not the stack's,
// and the runtime takes the outermost one or two for goexit and main. A CPU sample has 64.
const (
	deepest       = 125
	deepestSample = 64
)

// use turns to the tables of a generation.
func (s *stacks) use(t *tables) {
	if s.of == t {
		return
	}
	s.of = t
	s.known = slices.Grow(s.known[:0], len(t.stacks))[:len(t.stacks)]
	clear(s.known)
	s.known[0].seen = true
}

// intern returns the stack; its id is 0 for none.
func (s *stacks) intern(ref stackRef) *stackInfo { return s.internUpTo(ref, deepest) }

// internSample is intern for a CPU sample, whose stacks are shorter.
func (s *stacks) internSample(ref stackRef) *stackInfo { return s.internUpTo(ref, deepestSample) }

func (s *stacks) internUpTo(ref stackRef, most int) *stackInfo {
	info := &s.known[ref]
	if !info.seen {
		*info = s.define(ref, most)
		info.seen = true
	}
	return info
}

func (s *stacks) define(ref stackRef, most int) (info stackInfo) {
	calls, ok := s.of.appendCalls(s.calls[:0], ref)
	s.calls = calls
	if !ok {
		s.bad++
		return info
	}
	if len(calls) == 0 {
		return info
	}
	t := s.tables
	t.Lock()
	defer t.Unlock()
	cut := len(calls) >= most && calls[len(calls)-1].function != "runtime.goexit"
	if cut {
		s.cut++
		info.id = t.Stacks.Intern(0, t.Frames.Intern(stream.Frame{Label: true, Function: t.Strings.Intern(roots.Truncated)}))
	}
	for _, f := range slices.Backward(calls) {
		info.id = t.Stacks.Intern(info.id, t.Frames.Intern(stream.Frame{
			Function: t.Strings.Intern(f.function), File: t.Strings.Intern(f.file), Line: int32(min(f.line, math.MaxInt32)),
			Category: t.Categories.Intern(gonames.Category(f.function)),
		}))
	}
	if cut {
		return info
	}
	root, next := calls[len(calls)-1].function, ""
	if len(calls) > 1 {
		next = calls[len(calls)-2].function
	}
	info.root = roots.Name(root, next)
	return info
}

// withLabel is a stack with a label as its innermost frame.
func (s *stacks) withLabel(stack stream.StackID, label string, c stream.Category) stream.StackID {
	t := s.tables
	t.Lock()
	defer t.Unlock()
	return t.Stacks.Intern(stack, t.Frames.Intern(stream.Frame{Label: true, Function: t.Strings.Intern(label), Category: t.Categories.Intern(c)}))
}
