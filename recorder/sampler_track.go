//go:build linux && (amd64 || arm64) && !gprof_portable

package recorder

import (
	"sync"
	"time"
	"unsafe"

	"gprof/rawformat"
)

// labelled knows by which label sets goroutines are on a track. The runtime keeps
// a goroutine's set by its address, and hands it on to those that it starts. As
// long as a set is here its address means nothing else; what is dropped here
// means nothing.
//
// Within a track the program may give the goroutine labels of its own, as pprof.Do
// does, which makes another set. So it also knows which goroutines are on a track,
// and which were a moment ago: samples are looked at later.
var labelled struct {
	sync.Mutex
	tracks map[uintptr]*Track
	order  [maxLabelSets]unsafe.Pointer // keeps them
	next   int
	stays  map[uint64][]stay // by goroutine
	count  int               // of stays
}

// stay is the time that a goroutine spends on a track, up to 0 while it does.
type stay struct {
	track    *Track
	from, to Time
}

const (
	maxLabelSets = 4096
	maxStays     = 4096 // further ones are known by their label set alone
	stayKept     = Time(time.Second)
)

// noteLabels notes that the calling goroutine's labels put it on a track.
func noteLabels(t *Track) {
	set := runtime_getProfLabel()
	if set == nil {
		return
	}
	l := &labelled
	l.Lock()
	defer l.Unlock()
	if l.tracks == nil {
		l.tracks = map[uintptr]*Track{}
	}
	at := uintptr(set)
	if l.tracks[at] == nil {
		delete(l.tracks, uintptr(l.order[l.next]))
		l.order[l.next] = set
		l.next = (l.next + 1) % maxLabelSets
	}
	l.tracks[at] = t
}

// enterTrack notes that the calling goroutine is on a track from now on.
func enterTrack(t *Track) {
	noteLabels(t)
	l, id := &labelled, goroutineID()
	l.Lock()
	defer l.Unlock()
	if id == 0 || l.count >= maxStays {
		return
	}
	if l.stays == nil {
		l.stays = map[uint64][]stay{}
	}
	l.stays[id] = append(l.stays[id], stay{track: t, from: Now()})
	l.count++
}

// leaveTrack notes that the calling goroutine is not on a track any more.
func leaveTrack(t *Track) {
	l, id := &labelled, goroutineID()
	l.Lock()
	defer l.Unlock()
	stays := l.stays[id]
	for i := len(stays) - 1; i >= 0; i-- {
		if s := &stays[i]; s.track == t && s.to == 0 {
			s.to = Now()
			return
		}
	}
}

// forgetStays drops those that have ended long ago.
func forgetStays() {
	l, now := &labelled, Now()
	l.Lock()
	defer l.Unlock()
	for id, stays := range l.stays {
		kept := stays[:0]
		for _, s := range stays {
			if s.to == 0 || s.to > now-stayKept {
				kept = append(kept, s)
			}
		}
		l.count -= len(stays) - len(kept)
		if l.stays[id] = kept; len(kept) == 0 {
			delete(l.stays, id)
		}
	}
}

// goroutineID is the calling goroutine's number, 0 where it is not known. It may be
// asked while another recorder starts, which finds the same offsets again.
//
//go:norace
func goroutineID() uint64 {
	return goroutineAt(sampleLayout.goid)
}

// trackOf is the track that a sample was taken on, nil if it is not known. What
// is now where its labels were may be something else: they are not looked at.
func (r *Recorder) trackOf(rec *rawformat.StackRecord) *Track {
	if rec.Labels == 0 {
		return nil
	}
	l := &labelled
	l.Lock()
	defer l.Unlock()
	if t := l.tracks[uintptr(rec.Labels)]; t != nil {
		return t
	}
	stays, at := l.stays[rec.Goroutine], tick(rec.Time)
	for i := len(stays) - 1; i >= 0; i-- {
		if s := stays[i]; r.clock.at(s.from) <= at && (s.to == 0 || at <= r.clock.at(s.to)) {
			return s.track
		}
	}
	return nil
}
