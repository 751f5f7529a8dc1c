package viewer

import (
	"errors"
	"fmt"

	"gprof/stream"
)

// ErrOrder says that segments did not come in the order of [stream.Sink].
var ErrOrder = errors.New("segment out of order")

// numKinds is the number of kinds of series.
const numKinds = stream.Pages + 1

// Step is one step of a Walk.
type Step uint8

const (
	BeginProcess Step = iota // Process
	BeginThread              // Track, the main one first
	BeginMarkers             // of the thread; its samples are written
	EndThread
	EndThreads // of the process
	BeginPart  // Part
	EndPart    // Part
	EndProcess // Process
)

// Walk goes through a profile front to back: all processes; of each all threads, even those without
// rows, except passed ones; then its parts, the rows of one kind that belong to no thread. Process,
// Track, Main and Part are the position.
type Walk struct {
	Process stream.ProcessID // 0 before the first
	Track   stream.TrackID
	Main    bool // Track is the main one
	Part    stream.Kind

	tables  *stream.Tables
	step    func(Step)
	tracks  [][]stream.TrackID // by ProcessID
	next    int                // index in the tracks of Process of the first not yet begun
	passed  map[stream.TrackID]bool
	threads bool           // more of Process may come
	thread  bool           // one has begun
	markers bool           // of it
	part    bool           // one has begun
	parts   [numKinds]bool // of Process, begun or passed
}

// Begin begins the first process; an empty profile has one, too. step is called for each step.
func (w *Walk) Begin(t *stream.Tables, step func(Step)) {
	w.tables, w.step, w.tracks, w.passed = t, step, tracksOf(t), map[stream.TrackID]bool{}
	w.beginProcess(1)
}

// To goes to the rows of s. The error, an [ErrOrder], says that they are behind.
func (w *Walk) To(s stream.Series) error {
	if s.Process < w.Process || int(s.Process) > len(w.tables.Processes) {
		return fmt.Errorf("%w: %v of process %d in process %d", ErrOrder, s.Kind, s.Process, w.Process)
	}
	for w.Process < s.Process {
		w.endProcess()
		w.beginProcess(w.Process + 1)
	}
	if s.Kind.Tracked() {
		return w.toTrack(s)
	}
	return w.toPart(s.Kind)
}

// Pass says that a track has rows without a place in the format. If it has no others, it is no
// thread: an empty one would say that nothing was there.
func (w *Walk) Pass(track stream.TrackID) { w.passed[track] = true }

// End goes to the end of the last process.
func (w *Walk) End() {
	for int(w.Process) < len(w.tables.Processes) {
		w.endProcess()
		w.beginProcess(w.Process + 1)
	}
	w.endProcess()
}

// Had reports whether the process had a part of that kind.
func (w *Walk) Had(kind stream.Kind) bool { return w.parts[kind] }

func (w *Walk) beginProcess(id stream.ProcessID) {
	w.Process, w.next, w.threads = id, 0, true
	w.parts = [numKinds]bool{}
	w.step(BeginProcess)
}

func (w *Walk) endProcess() {
	w.endThreads()
	w.endPart()
	w.step(EndProcess)
}

func (w *Walk) toTrack(s stream.Series) error {
	if !w.enter(s.Track) {
		return fmt.Errorf("%w: %v of track %d", ErrOrder, s.Kind, s.Track)
	}
	if s.Kind > stream.Measurements {
		w.beginMarkers()
	} else if w.markers {
		return fmt.Errorf("%w: samples of track %d behind its markers", ErrOrder, s.Track)
	}
	return nil
}

// enter goes to a thread. Tracks before it without rows become empty threads. It reports whether
// the track was still to come.
func (w *Walk) enter(track stream.TrackID) bool {
	if !w.threads {
		return false
	}
	for !w.thread || w.Track != track {
		if w.next == len(w.tracks[w.Process]) {
			return false
		}
		w.beginThread(track)
	}
	return true
}

// beginThread goes to the next track. A passed one is a thread only if it is the main one, or
// wanted.
func (w *Walk) beginThread(wanted stream.TrackID) {
	w.endThread()
	w.Track, w.Main = w.tracks[w.Process][w.next], w.next == 0
	w.next++
	if w.passed[w.Track] && !w.Main && w.Track != wanted {
		return
	}
	w.thread, w.markers = true, false
	w.step(BeginThread)
}

func (w *Walk) beginMarkers() {
	if !w.markers {
		w.markers = true
		w.step(BeginMarkers)
	}
}

func (w *Walk) endThread() {
	if w.thread {
		w.beginMarkers()
		w.step(EndThread)
		w.thread = false
	}
}

// endThreads goes through the remaining, empty threads.
func (w *Walk) endThreads() {
	if !w.threads {
		return
	}
	for w.next < len(w.tracks[w.Process]) {
		w.beginThread(0)
	}
	w.endThread()
	w.step(EndThreads)
	w.threads = false
}

func (w *Walk) toPart(kind stream.Kind) error {
	if w.part && w.Part == kind {
		return nil
	}
	if w.parts[kind] {
		return fmt.Errorf("%w: %v of process %d come a second time", ErrOrder, kind, w.Process)
	}
	w.endThreads()
	w.endPart()
	w.Part, w.part, w.parts[kind] = kind, true, true
	w.step(BeginPart)
	return nil
}

func (w *Walk) endPart() {
	if w.part {
		w.step(EndPart)
		w.part = false
	}
}
