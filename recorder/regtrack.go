package recorder

import (
	"sync/atomic"

	"gprof/rawformat"
	"gprof/recorder/internal/record"
)

// maxTracks bounds the names of tracks: a track is a kind of work, such as
// "worker 3", not one request.
const maxTracks = 4096

// trackDef is a track: a kind of work, whose name events and samples are aimed at. Tracks
// of the same name are the same.
type trackDef struct {
	name  string
	id    uint32
	seq   uint32 // in the registry
	users atomic.Int32

	unwanted atomic.Bool // the recorder's filter leaves it out; stored under the registry's lock
}

// track is the track of that name.
func (g *registry) track(name string) *trackDef {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.tracks[name]
	if t != nil {
		return t
	}
	if len(g.tracks) >= maxTracks {
		g.lose()
		return &trackDef{name: name}
	}
	id := uint32(len(g.tracks) + 1)
	g.record(record.New(rawformat.KindDefTrack).Uint(uint64(id)).Text(name))
	t = &trackDef{name: name, id: id, seq: uint32(len(g.records))}
	g.tracks[name] = t
	if g.listener != nil {
		t.unwanted.Store(!g.listener.Wants(name))
	}
	g.publish()
	return t
}

// trackNamed is the track of that name, nil if there is none.
func (g *registry) trackNamed(name string) *trackDef {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.tracks[name]
}

// isUnwanted reports whether the filter leaves the track out; nil is no track.
func (t *trackDef) isUnwanted() bool { return t != nil && t.unwanted.Load() }
