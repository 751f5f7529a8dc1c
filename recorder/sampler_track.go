//go:build linux && amd64 && !gprof_portable

package recorder

import (
	"sync"
	"unsafe"
)

// labelled knows by which label sets goroutines are on a track. The runtime keeps
// a goroutine's set by its address, and hands it on to those that it starts. As
// long as a set is here its address means nothing else; what is dropped here
// means nothing.
var labelled struct {
	sync.Mutex
	tracks map[uintptr]*Track
	order  [maxLabelSets]unsafe.Pointer // keeps them
	next   int
}

const maxLabelSets = 4096

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

// trackAt is the track of the label set at an address, nil if it is not known.
// What is there now, if anything, may be something else.
func trackAt(at uintptr) *Track {
	l := &labelled
	l.Lock()
	defer l.Unlock()
	return l.tracks[at]
}
