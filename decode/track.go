package decode

import (
	"fmt"
	"strings"

	"gprof/stream"
)

// trackKey names a track of a process: the main one, one that the program named,
// or one of a root function.
type trackKey struct {
	name string
	kind trackKind
}

type trackKind uint8

const (
	mainTrack trackKind = iota
	namedTrack
	rootTrack
)

func (d *decoder) trackID(k trackKey) stream.TrackID {
	id, ok := d.tracks[k]
	if ok {
		return id
	}
	id = d.tables.Tracks.Intern(k.track(d.process))
	d.tracks[k] = id
	return id
}

func (d *decoder) mainTrack() stream.TrackID {
	return d.trackID(trackKey{d.tables.Process(d.process).Name, mainTrack})
}

// track is that of a track id of the recording, 0 being the main track.
func (d *decoder) track(id uint64) stream.TrackID {
	if id == 0 {
		return d.mainTrack()
	}
	return d.trackID(trackKey{d.trackName(id), namedTrack})
}

func (d *decoder) trackName(id uint64) string {
	name, ok := d.dict.tracks[id]
	if !ok {
		d.note(stream.ReasonUndefined, "tracks", fmt.Sprintf("track %d", id))
		return fmt.Sprintf("track %d", id)
	}
	return name
}

// currentTrack is where a marker of the current context belongs.
func (d *decoder) currentTrack() stream.TrackID {
	if d.where == 0 {
		d.where = d.contextTrack()
	}
	return d.where
}

func (d *decoder) contextTrack() stream.TrackID {
	if d.context.track == 0 && d.context.root != 0 {
		return d.trackID(trackKey{rootName(d.text(d.context.root), ""), rootTrack})
	}
	return d.track(d.context.track)
}

func (d *decoder) sampleTrack(track uint64, stack stream.StackID) stream.TrackID {
	if track != 0 {
		return d.track(track)
	}
	return d.rootTrack(stack)
}

// rootTrack is where a sample of no track belongs: with all others whose stack
// begins in the same function.
func (d *decoder) rootTrack(stack stream.StackID) stream.TrackID {
	if stack == 0 {
		return d.mainTrack()
	}
	id, ok := d.roots[stack]
	if !ok {
		id = d.trackID(trackKey{rootName(d.rootFunctions(stack)), rootTrack})
		d.roots[stack] = id
	}
	return id
}

// rootFunctions are the two outermost functions of a stack.
func (d *decoder) rootFunctions(stack stream.StackID) (root, next string) {
	for stack != 0 {
		parent, frame := d.tables.Stacks.At(stack)
		root, next = d.tables.Strings.At(d.tables.Frames.At(frame).Function), root
		stack = parent
	}
	return root, next
}

// rootName names the track of a goroutine's root function. runtime.main only
// calls main.main; what else begins in the runtime is its own work, on a
// goroutine of its own or on a scheduler's stack.
func rootName(root, next string) string {
	switch {
	case root == "":
		return "unknown root"
	case root == "runtime.main" && next != "", root == "runtime.goexit" && next != "":
		return next
	case strings.HasPrefix(root, "runtime.gcBgMark"):
		return "Go garbage collector"
	case strings.HasPrefix(root, "runtime.") && root != "runtime.main":
		return "Go runtime"
	}
	return root
}

func (k trackKey) track(p stream.ProcessID) stream.Track {
	return stream.Track{Process: p, Name: k.name, Main: k.kind == mainTrack}
}

// amendTracks tells the tables when the program's tracks began and ended.
func (d *decoder) amendTracks() {
	for name, l := range d.lives {
		k := trackKey{name, namedTrack}
		if id, ok := d.tracks[k]; ok {
			t := k.track(d.process)
			t.Start, t.End = l.start, l.end
			if l.end < l.again {
				t.End = 0
			}
			d.tables.Tracks.Amend(id, t)
		}
	}
}

// life is that of the track with that id.
func (d *decoder) life(id uint64) *life {
	name := d.trackName(id)
	l := d.lives[name]
	if l == nil {
		l = &life{}
		d.lives[name] = l
	}
	return l
}
