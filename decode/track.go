package decode

import (
	"gprof/stream"
	"gprof/stream/gonames"
)

// trackKey names a track of a process: the main one, one that the program named,
// one of a root function, or one of a thread.
type trackKey struct {
	name string
	kind trackKind
}

type trackKind uint8

const (
	mainTrack trackKind = iota
	namedTrack
	rootTrack
	threadTrack
)

// rootDepth is how many frames tell the root of a stack: the fourth says no more.
const rootDepth = 3

// rootOf names the track of a stack by its outermost functions. Where goroutines end
// says nothing; it is in stacks of programs with C. C begins anywhere where it has no frame
// pointers, so all of its threads are one track.
func rootOf(t *stream.Tables, stack stream.StackID) string {
	var outer [rootDepth]stream.Frame
	for stack != 0 {
		parent, frame := t.Stacks.At(stack)
		outer, stack = [rootDepth]stream.Frame{t.Frames.At(frame), outer[0], outer[1]}, parent
	}
	root, next := outer[0], outer[1]
	if t.Strings.At(root.Function) == "runtime.goexit" && next.Function != 0 {
		root, next = next, outer[2]
	}
	if root.Function != 0 && root.Category != 0 && t.Categories.At(root.Category) == gonames.Native {
		return gonames.NativeRoot
	}
	return gonames.Root(t.Strings.At(root.Function), t.Strings.At(next.Function))
}

func (k trackKey) track(p stream.ProcessID) stream.Track {
	return stream.Track{Process: p, Name: k.name, Main: k.kind == mainTrack}
}

// intern returns the track's id. One that the program named is not taken for a
// function's, whichever came first: their rows are one track, whose name may be
// of any kind.
func (k trackKey) intern(t *stream.Tables, p stream.ProcessID) stream.TrackID {
	known := t.Tracks.Len()
	id := t.Tracks.Intern(k.track(p))
	track := t.Tracks.At(id)
	root := k.kind >= rootTrack && (track.Root || int(id) > known)
	if root != track.Root {
		track.Root = root
		t.Tracks.Amend(id, track)
	}
	return id
}

// mainTrack is the track of the process as a whole.
func (p *process) mainTrack() stream.Track { return trackKey{p.name, mainTrack}.track(p.ID) }

// live changes the life of the track with that id.
func (w *worker) live(id uint64, change func(*life)) {
	name, _ := w.trackName(id)
	w.run.tables.Lock()
	defer w.run.tables.Unlock()
	lives := w.job.process.lives
	if lives[name] == nil {
		lives[name] = &life{}
	}
	change(lives[name])
}

// amendTracks tells the tables when those of the program's tracks that have rows
// began and ended.
func (p *process) amendTracks(t *stream.Tables) {
	for name, l := range p.lives {
		track := trackKey{name, namedTrack}.track(p.ID)
		if id := t.Tracks.Lookup(track); id != 0 {
			track.Start, track.End = l.start, l.end
			if l.end < l.again {
				track.End = 0
			}
			t.Tracks.Amend(id, track)
		}
	}
}
