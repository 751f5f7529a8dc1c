// Package viewer has what both profile formats of Firefox Profiler share: how processes,
// categories, markers and their schemas are written so that the viewer shows them, and what it
// can't handle.
//
// Times are in milliseconds since the start of the output, see [StartOf].
package viewer

import (
	"time"

	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

const (
	// MainName makes a thread the main one of its process, which the viewer shows by the process's
	// name.
	MainName = "GeckoMain"
	// ProcessType is that of every process; the others are Firefox's, with rules of their own.
	ProcessType = "default"
	// SampleUnits are the units of sample columns. The viewer knows few others, and fails on
	// unknown ones.
	SampleUnits = `{"time":"ms","eventDelay":"ms","threadCPUDelta":"ns"}`
)

// Process returns a process, a made-up one if there is none with that id: an empty profile has a
// process, too.
func Process(t *stream.Tables, id stream.ProcessID) *stream.Process {
	if int(id) > len(t.Processes) {
		return &stream.Process{Name: "nothing", OutPid: "0"}
	}
	return t.Process(id)
}

// StartOf is the start of the first process, in whole milliseconds.
func StartOf(t *stream.Tables) stream.Time {
	var start stream.Time
	for _, p := range t.Processes {
		if p.Start != 0 && (start == 0 || p.Start < start) {
			start = p.Start
		}
	}
	const ms = stream.Time(time.Millisecond)
	return start - (start%ms+ms)%ms
}

// Interval is the shortest sampling interval in ns. The viewer wants one even without samples.
func Interval(t *stream.Tables) int64 {
	var shortest int64
	for _, p := range t.Processes {
		if p.Interval > 0 && (shortest == 0 || p.Interval < shortest) {
			shortest = p.Interval
		}
	}
	if shortest == 0 {
		return int64(time.Millisecond)
	}
	return shortest
}

// Range is the range of time that the viewer shows at first, and no rows outside of it: the whole
// recording, and what programs placed before and after it. The end is the ns behind the last row:
// the viewer leaves out rows at the end of a range.
func Range(t *stream.Tables) (start, end stream.Time) {
	for i, p := range t.Processes {
		if i == 0 || p.Start < start {
			start = p.Start
		}
		end = max(end, p.End)
	}
	// A range without any length can't be drawn.
	end = max(end, start+stream.Time(Interval(t)))
	start = max(start, StartOf(t))
	for _, p := range t.Processes {
		if p.Placed[0] != 0 {
			start = min(start, p.Placed[0])
		}
		end = max(end, p.Placed[1])
	}
	return start, end + 1
}

// Lifetime is when a track of a process began and ended; the end is 0 if it still exists. Track 0
// is made up.
func Lifetime(t *stream.Tables, p *stream.Process, id stream.TrackID) (start, end stream.Time) {
	start = p.Start
	if p.Exit.Known {
		end = p.End
	}
	if id == 0 {
		return start, end
	}
	track := t.Tracks.At(id)
	if track.Start != 0 {
		start = track.Start
	}
	if track.End != 0 {
		end = track.End
	}
	return start, end
}

// tracksOf lists the tracks of each process, by ProcessID, the main track first. A process without
// one gets a made-up track 0: the viewer shows no counters of a process without a main thread.
func tracksOf(t *stream.Tables) [][]stream.TrackID {
	out := make([][]stream.TrackID, max(1, len(t.Processes))+1)
	for id := stream.TrackID(1); int(id) <= t.Tracks.Len(); id++ {
		track := t.Tracks.At(id)
		list := out[track.Process]
		switch {
		case !track.Main:
			list = append(list, id)
		case len(list) == 0 || !t.Tracks.At(list[0]).Main:
			list = append([]stream.TrackID{id}, list...)
		default: // a second one comes behind the first
			list = append(list[:1], append([]stream.TrackID{id}, list[1:]...)...)
		}
		out[track.Process] = list
	}
	for p := range out {
		if list := out[p]; len(list) == 0 || !t.Tracks.At(list[0]).Main {
			out[p] = append([]stream.TrackID{0}, list...)
		}
	}
	return out
}

// ThreadName is the name of a track's thread; main says that it is its process's first.
func ThreadName(t *stream.Tables, id stream.TrackID, main bool) string {
	if main {
		return MainName
	}
	name := t.Tracks.At(id).Name
	if name == MainName {
		return MainName + " (track)"
	}
	return name
}

// texts writes a member that is a list of strings.
func texts(out *jsontext.Writer, key string, list []string) {
	out.Array(key)
	for _, text := range list {
		out.String(text)
	}
	out.EndArray()
}

// moment writes a time member, null if unknown.
func moment(out *jsontext.Writer, key string, ns stream.Time, known bool) {
	out.Key(key)
	if known {
		out.Fixed(int64(ns), 6)
	} else {
		out.Null()
	}
}

// integer is row i of an integer column, 0 if it is none.
func integer(c *stream.Column, i int) int64 {
	if typ := c.TypeAt(i); typ == stream.Int || typ == stream.Uint {
		return int64(c.BitsAt(i))
	}
	return 0
}

// text is row i of a text column, "" if it is none.
func text(c *stream.Column, i int) string {
	if c.TypeAt(i) == stream.Text {
		return string(c.TextAt(i))
	}
	return ""
}

// Tids numbers the threads of an output uniquely. Threads of the system keep their tid, unless
// another one has it; others get unused numbers from 1.
type Tids struct {
	kept  []int64 // by TrackID; 0 none, or used
	taken map[int64]bool
	last  int64
}

// maxTid bounds the numbers, which the viewer keeps in floating point.
const maxTid = 1 << 53

// NewTids returns the numbers for threads of tracks of t.
func NewTids(t *stream.Tables) Tids {
	n := Tids{kept: make([]int64, t.Tracks.Len()+1), taken: map[int64]bool{}}
	for id := range n.kept[1:] {
		tid := t.Tracks.At(stream.TrackID(id + 1)).Thread
		if tid > 0 && tid <= maxTid && !n.taken[tid] {
			n.kept[id+1], n.taken[tid] = tid, true
		}
	}
	return n
}

// Next is the number of the next thread of a track, 0 for none. The first one keeps the track's.
func (n *Tids) Next(track stream.TrackID) int64 {
	if tid := n.kept[track]; tid != 0 {
		n.kept[track] = 0
		return tid
	}
	n.last++
	for n.taken[n.last] {
		n.last++
	}
	return n.last
}
