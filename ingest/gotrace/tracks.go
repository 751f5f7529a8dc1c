package gotrace

import (
	"fmt"

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
	waits stream.TrackID // of what waits; likewise
	tally tally
}

// tally is what became of goroutines since it was told last.
type tally struct {
	created, ended uint64
	time           [numStates]int64 // ns in each state, of all together
}

// tracks are the lines of the timeline.
type tracks struct {
	tables     *stream.Tables
	process    stream.ProcessID
	by         Grouping
	main       stream.TrackID
	lanes      map[string]*lane
	order      []*lane // as first used
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

// lane is that of a root function.
func (k *tracks) lane(root string) *lane {
	if root == "" {
		root = gonames.UnknownRoot
	}
	l := k.lanes[root]
	if l == nil {
		l = &lane{root: root}
		k.lanes[root] = l
		k.order = append(k.order, l)
	}
	return l
}

// laneOf is that of a goroutine, of which maybe no stack has told yet: one that
// C code brings begins in a system call, without a stack.
func (k *tracks) laneOf(g *goroutine) *lane {
	if g.lane == nil {
		return k.lane("")
	}
	return g.lane
}

// of is the track of what happens in an event, which is of a goroutine of l;
// nil: of none.
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

// waitsTrack is where what waits is shown; beside what runs, as in our own
// recordings.
func (k *tracks) waitsTrack(l *lane) stream.TrackID {
	if l.waits == 0 {
		l.waits = k.intern(l.root + " (waiting)")
	}
	return l.waits
}

// intern returns the track of that name, which the program has not given.
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
