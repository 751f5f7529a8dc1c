//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package sampler

import (
	"sync"
	"time"
	"unsafe"

	"gprof/rawformat"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

// labelled knows which goroutines are on a track, and which were until a moment ago,
// because samples are read later.
//
// It also knows their label sets, for goroutines that it has no room to note. The runtime
// identifies a set by its address. While labelled keeps a set, its address means nothing
// else; addresses of dropped sets are ignored. Goroutines inherit the set of the one that
// starts them, so a set counts only for the goroutine that it was made for.
var labelled struct {
	sync.Mutex
	tracks map[uintptr]labelOwner
	order  [maxLabelSets]unsafe.Pointer // keeps the sets alive
	next   int
	stays  map[uint64][]stay // by goroutine
	count  int               // the number of stays
}

// labelOwner is the track of a label set, and the goroutine that it was made for.
type labelOwner struct {
	track     *registry.Track
	goroutine uint64 // 0: not known
}

// stay is the time that a goroutine spends on a track; to is 0 as long as it does.
type stay struct {
	track    *registry.Track
	from, to rt.Time
}

const (
	maxLabelSets = 4096
	maxStays     = 4096 // further goroutines are known by their label sets only
	stayKept     = rt.Time(time.Second)
)

// NoteLabels notes that the labels of the calling goroutine put it on a track.
func NoteLabels(t *registry.Track, goroutine uint64) {
	set := rt.ProfLabel()
	if set == nil {
		return
	}
	l := &labelled
	l.Lock()
	defer l.Unlock()
	if l.tracks == nil {
		l.tracks = map[uintptr]labelOwner{}
	}
	at := uintptr(set)
	if l.tracks[at].track == nil {
		delete(l.tracks, uintptr(l.order[l.next]))
		l.order[l.next] = set
		l.next = (l.next + 1) % maxLabelSets
	}
	l.tracks[at] = labelOwner{t, goroutine}
}

// EnterTrack notes that the calling goroutine is on a track from now on, and returns its
// number.
func EnterTrack(t *registry.Track) (id uint64) {
	l, id := &labelled, GoroutineID()
	NoteLabels(t, id)
	l.Lock()
	defer l.Unlock()
	if id == 0 || l.count >= maxStays {
		return id
	}
	if l.stays == nil {
		l.stays = map[uint64][]stay{}
	}
	l.stays[id] = append(l.stays[id], stay{track: t, from: rt.Now()})
	l.count++
	shard.SetTrack(id, t)
	return id
}

// LeaveTrack notes that a goroutine is no longer on a track.
func LeaveTrack(t *registry.Track, id uint64) {
	l := &labelled
	l.Lock()
	defer l.Unlock()
	stays := l.stays[id]
	for i := len(stays) - 1; i >= 0; i-- {
		if s := &stays[i]; s.track == t && s.to == 0 {
			s.to = rt.Now()
			break
		}
	}
	var now *registry.Track
	for _, s := range stays {
		if s.to == 0 {
			now = s.track
		}
	}
	shard.SetTrack(id, now)
}

// forgetStays drops the stays that ended long ago.
func forgetStays() {
	l, now := &labelled, rt.Now()
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

// GoroutineID is the number of the calling goroutine, 0 if it is not known.
func GoroutineID() uint64 { return rt.GoroutineAt(rt.GoroutineOffset()) }

// trackOf is the track that a sample was taken on, nil if it is not known. It does not read
// the labels themselves: something else may lie at their address by now.
func trackOf(clock *rt.Clock, rec *rawformat.StackRecord) *registry.Track {
	l := &labelled
	l.Lock()
	defer l.Unlock()
	stays, at := l.stays[rec.Goroutine], rt.Tick(rec.Time)
	for i := len(stays) - 1; i >= 0; i-- {
		if s := stays[i]; clock.At(s.from) <= at && (s.to == 0 || at <= clock.At(s.to)) {
			return s.track
		}
	}
	if set := l.tracks[uintptr(rec.Labels)]; len(stays) == 0 && (set.goroutine == rec.Goroutine || set.goroutine == 0) {
		return set.track
	}
	return nil
}
