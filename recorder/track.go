package recorder

import (
	"context"
	"runtime/pprof"
	"sync/atomic"
	"unsafe"

	"gprof/rawformat"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/sampler"
	"gprof/recorder/internal/shard"
)

// Track is a line of the timeline with a name. Events can be aimed at it, and CPU samples
// of goroutines that are on it belong to it. Tracks of the same name are the same track.
// Nil is the process as a whole.
type Track struct{ registered registry.Track }

// def is the registry's part of the track, nil for nil.
func (t *Track) def() *registry.Track { return (*registry.Track)(unsafe.Pointer(t)) }

// aim is what an event on the track is aimed at.
func (t *Track) aim() *registry.Track {
	if t == nil {
		return registry.Process
	}
	return t.def()
}

// trackNamed is the track of that name. A Track consists of nothing but the registry's
// part.
func trackNamed(name string) *Track { return (*Track)(unsafe.Pointer(registry.Defined.Track(name))) }

// Work is the time that a goroutine spends on a track, from [NewTrack] to End.
type Work struct {
	*Track
	goroutine uint64 // its number, 0: not known
	outer     context.Context
	ended     atomic.Bool
}

// NewTrack puts the calling goroutine on the track of that name, until End. Goroutines that
// it starts are not on the track, unless they call NewTrack with the same name themselves.
// Its CPU samples and its markers that are not aimed elsewhere are there; of markers, those
// of some thousand goroutines at a time. If a process has too many track names, which is
// counted, markers of further tracks stand where their goroutines would without any.
//
// The returned context and the goroutine get a pprof label, gprof.track, which the
// program's own profiles show. Goroutines inherit labels, and [CPUPprof] knows nothing but
// labels, so its samples of goroutines that were started meanwhile are on the track, too.
func NewTrack(ctx context.Context, name string) (context.Context, *Work) {
	inner := pprof.WithLabels(ctx, pprof.Labels(registry.TrackLabel, name))
	pprof.SetGoroutineLabels(inner)
	w := &Work{Track: trackNamed(name), outer: ctx}
	w.goroutine = sampler.EnterTrack(w.def())
	if w.registered.Users.Add(1) == 1 {
		w.note(rawformat.KindTrackStart)
	}
	return inner, w
}

// End takes the calling goroutine, which should be the one that called NewTrack, off the
// track. Its labels become those of the context that was passed to NewTrack. A second call
// does nothing.
func (w *Work) End() {
	if w == nil || w.ended.Swap(true) {
		return
	}
	if w.registered.Users.Add(-1) == 0 {
		w.note(rawformat.KindTrackEnd)
	}
	sampler.LeaveTrack(w.def(), w.goroutine)
	pprof.SetGoroutineLabels(w.outer)
}

// note writes that the track begins or ends.
func (t *Track) note(k rawformat.Kind) {
	r := shard.Current.Load()
	if r == nil || t.def().IsUnwanted() || r.TrackID(t.def()) == 0 {
		return
	}
	r.Contain(func() { // Err returns the error
		id := t.registered.ID
		r.Write(shard.NoWait, shard.Block{Kind: k, Time: r.Clock().Now(), Track: id, Fields: []uint64{uint64(id)}})
	})
}

// Name is the name that was passed to NewTrack, "" for nil.
func (t *Track) Name() string {
	if t == nil {
		return ""
	}
	return t.registered.Name
}
