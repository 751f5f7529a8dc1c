// Package shard writes markers and the recorder's own blocks into chunks. A [Recording] has
// some shards. Each is one writer of blocks with at most one chunk, and belongs to a
// processor or is shared.
//
// Markers come through [Emit], [Handle.Record] and the like, from any goroutine, and never
// wait. The recorder's own blocks come through [Recording.Write].
package shard

import (
	"cmp"
	"fmt"
	"sync/atomic"

	"gprof/chunks/ring"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
)

// Current is the recording that markers go into; nil: nothing records, or recording is
// paused. A process has one, because events are package-level values and must find it with
// a single load.
var Current atomic.Pointer[Recording]

// Recording is what markers write into: the clock, the shards, and the ring that shards
// take their chunks from. Upkeep is the keeper's business; a Recording knows nothing of it.
type Recording struct {
	// The fields that every marker reads come first, in two cache lines of their own.
	// Counters and locks, which change while markers are written, lie in other lines.
	clock      rt.Clock
	route      rt.Route      // leads to the number of the processor
	goroutines uintptr       // offset of a goroutine's number in its g, 0 if unknown
	own        []shard       // one for each processor
	shared     []shard       // a power of two of them
	mask       uintptr       // selects a first choice among the shared ones
	defined    atomic.Uint32 // how many records of the registry the dictionary has

	instance     uint64
	begun        rt.Time
	starts       uintptr               // offset of the address where a goroutine began, likewise
	shards       []shard               // all of them
	generation   uint16                // of the dictionary that new chunks name
	ownErr       error                 // why processors have no shards of their own; nil: they have
	routeErr     error                 // why assembly can't find the processor's shard; nil: it can
	faultErr     error                 // why faults in our mappings are not caught; nil: they are
	walkErr      error                 // why stacks can't be walked by frame pointers; nil: they can
	wantsMarkers bool                  // markers are recorded
	wantsStacks  bool                  // of markers that ask for them
	wants        func(row string) bool // see Config.Wants
	lost         [numLosses]loss
	logged       [4]atomic.Uint64                         // log records by level, see NoteLog
	reported     [numLosses]struct{ count, bytes uint64 } // the part of lost that has been written into the recording; the keeper's

	trial *rt.Trial // of the clock's counter; nil: it has ended

	early       *Recording   // the recording before Start; its blocks are copied here
	earlyShards []earlyShard // how far each of its shards has been copied
	earlyStacks [][]uintptr  // stacks of markers before Start, kept until the modules are known

	ring     *ring.Ring   // nil: this is an early recording
	nap      rt.Nap       // what the keeper sleeps in
	starving atomic.Bool  // a writer found no chunk
	locking  atomic.Int64 // see Locking
	failure  atomic.Pointer[error]

	known     knownStacks
	pending   newStacks
	interning newStacks // those that the keeper is interning
	roots     roots
}

// Config is what a recording is opened with.
type Config struct {
	Instance uint64
	Markers  bool                  // record markers
	Stacks   bool                  // record the stacks of markers that ask for them
	Wants    func(row string) bool // whether a track, or the row of a root function, is recorded; nil: all are
	Faults   func() error          // has faults in mappings of files caught, or says why they are not; nil: they are
}

// Open prepares a recording. If there is an early one, Open takes it over: its instance,
// its clock and its markers. Markers can be written after Settle, MakeShards and Use.
func Open(c Config) *Recording {
	r := &Recording{instance: c.Instance, wantsMarkers: c.Markers, wantsStacks: c.Stacks, wants: c.Wants, generation: 1}
	r.trial = r.clock.Begin()
	r.begun = rt.Now()
	if c.Faults != nil {
		r.faultErr = c.Faults()
	}
	r.probe()
	r.trial.Read()
	r.adoptEarly()
	return r
}

// Settle ends the trial of the clock, which takes a while if it is called soon.
func (r *Recording) Settle() {
	if r.trial != nil {
		r.trial.End()
	}
	r.trial = nil
}

// probe finds out which tricks work here: stacks by frame pointers, numbers of goroutines and
// of processors.
func (r *Recording) probe() {
	r.walkErr = rt.TryWalk()
	if r.goroutines = rt.GoroutineOffset(); r.walkErr == nil {
		r.starts = rt.FindStart()
	}
	r.route, r.routeErr = rt.FindRoute()
}

// Use has the shards take their chunks from the ring.
func (r *Recording) Use(ring *ring.Ring) { r.ring = ring }

// Clock is the recording's clock.
func (r *Recording) Clock() *rt.Clock { return &r.clock }

// Instance is the number of the process' recording.
func (r *Recording) Instance() uint64 { return r.instance }

// Filters reports whether there are rows that are not recorded.
func (r *Recording) Filters() bool { return r.wants != nil }

// Wants reports whether the row of that name is recorded: a track, or that of a root
// function.
func (r *Recording) Wants(row string) bool { return r.wants == nil || r.wants(row) }

// Begun is when the recording began. If it took over from an early one, [Recording.Origin]
// is when that began.
func (r *Recording) Begun() rt.Time { return r.begun }

// Origin is when the early recording began, or this one if there was none.
func (r *Recording) Origin() rt.Time { return cmp.Or(r.early, r).begun }

// FaultErr says why faults in mappings of files are not caught; nil: they are.
func (r *Recording) FaultErr() error { return r.faultErr }

// Defined is how many records of the registry the dictionary has. Markers of events that
// are defined later are not recorded.
func (r *Recording) Defined() int { return int(r.defined.Load()) }

// SetDefined sets what [Recording.Defined] returns.
func (r *Recording) SetDefined(records int) { r.defined.Store(uint32(records)) }

// Admit has markers recorded from now on, if the recording wants any.
func (r *Recording) Admit() {
	if r.wantsMarkers {
		Current.Store(r)
	} else {
		Current.Store(nil) // the early recording ends, too
	}
}

// Nap is where the keeper sleeps. A writer wakes it when prepared chunks run out and the
// ring may still grow.
func (r *Recording) Nap() *rt.Nap { return &r.nap }

// TrackID is the id of t in this recording, 0 if it is not defined there.
func (r *Recording) TrackID(t *registry.Track) uint32 { return r.trackID(t) }

func (r *Recording) trackID(t *registry.Track) uint32 {
	if t.Seq > r.defined.Load() {
		return 0
	}
	return t.ID
}

// Walks reports whether stacks are walked by frame pointers, not by runtime.Callers.
func (r *Recording) Walks() bool { return r.walkErr == nil }

// TestWriters describes, for people, which writers there are.
func (r *Recording) TestWriters() string {
	if r.ownErr != nil {
		return fmt.Sprintf("%d shared; none of processors: %v", len(r.shared), r.ownErr)
	}
	way := "by assembly"
	if r.routeErr != nil {
		way = fmt.Sprintf("by pinning: %v", r.routeErr)
	}
	return fmt.Sprintf("%d of processors, %s; %d shared", len(r.own), way, len(r.shared))
}

// TestFaults describes, for people, what happens when somebody cuts a file short.
func (r *Recording) TestFaults() string {
	if r.faultErr != nil {
		return fmt.Sprintf("a file that is cut short ends the recording: %v", r.faultErr)
	}
	return "a file that is cut short is replaced"
}

// TestGoroutines describes, for people, whether markers carry their goroutines.
func (r *Recording) TestGoroutines() string {
	switch {
	case r.goroutines == 0:
		return "markers don't tell them"
	case r.starts == 0:
		return "by their numbers, not where they began"
	}
	return "by their numbers"
}

// TestStacks describes, for people, how stacks are found.
func (r *Recording) TestStacks() string {
	if r.walkErr == nil {
		return "by frame pointers"
	}
	return fmt.Sprintf("by runtime.Callers: %v", r.walkErr)
}
