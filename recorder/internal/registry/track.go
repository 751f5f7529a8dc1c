package registry

import (
	"sync/atomic"

	"gprof/rawformat"
	"gprof/recorder/internal/record"
)

// maxTracks bounds the names of tracks: a track is a kind of work, such as
// "worker 3", not one request.
const maxTracks = 4096

// Track is a kind of work with a name, at which events are aimed and to which samples belong. Tracks of the same name are the same.
type Track struct {
	Name  string
	ID    uint32
	Seq   uint32 // in the registry
	Users atomic.Int32

	Unwanted atomic.Bool // it is not recorded; stored under the registry's lock
}

// ProcessID is the id of Process: one that no track has in a dictionary.
const ProcessID = ^uint32(0)

// Process is what events are aimed at that belong to the process as a whole, not to the goroutine that makes their markers.
var Process = &Track{ID: ProcessID}

// Track is the track of that name.
func (g *registry) Track(name string) *Track {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.tracks[name]
	if t != nil {
		return t
	}
	if len(g.tracks) >= maxTracks {
		g.lose()
		return &Track{Name: name}
	}
	id := uint32(len(g.tracks) + 1)
	g.record(record.New(rawformat.KindDefTrack).Uint(uint64(id)).Text(name))
	t = &Track{Name: name, ID: id, Seq: uint32(len(g.records))}
	g.tracks[name] = t
	if g.listener != nil {
		t.Unwanted.Store(!g.listener.Wants(name))
	}
	g.publish()
	return t
}

// TrackNamed is the track of that name, nil if there is none.
func (g *registry) TrackNamed(name string) *Track {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.tracks[name]
}

// IsUnwanted reports whether the track is not recorded; it is false for nil.
func (t *Track) IsUnwanted() bool { return t != nil && t.Unwanted.Load() }

// TrackLabel is the key of the pprof label that holds a track's name.
const TrackLabel = "gprof.track"
