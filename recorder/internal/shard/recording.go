// Package shard is how a marker gets into a chunk. A [Recording] has some shards; each
// is one writer of blocks, of a processor or shared, with at most one chunk.
//
// Markers come by [Emit], [Handle.Record] and their like, on any goroutine, and never
// wait. The recorder's own blocks come by [Recording.Write].
package shard

import (
	"cmp"
	"fmt"
	"sync/atomic"

	"gprof/chunks/ring"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
)

// Current is the recording that markers go into; nil: nothing records, or it is paused.
// There is one in a process, because events are package-level values and must find it;
// and they must find it with one load.
var Current atomic.Pointer[Recording]

// Recording is what markers write into: the clock, the shards and the ring that they
// take chunks from. It knows nothing of the upkeep, which is the keeper's.
type Recording struct {
	// The fields that each marker reads come first, in two cache lines of their own;
	// counters and locks, which change while markers are on their way, lie in others.
	clock      rt.Clock
	route      rt.Route      // to the number of the processor
	goroutines uintptr       // where a goroutine's g has its number, 0 unknown
	own        []shard       // one for each processor
	shared     []shard       // their number is a power of two
	mask       uintptr       // of the shared ones that are somebody's first choice
	defined    atomic.Uint32 // records of the registry that the dictionary has

	instance   uint64
	begun      rt.Time
	shards     []shard // all of them
	generation uint16  // of the dictionary that chunks are opened with
	unowned    error   // why there are none of processors
	unrouted   error   // why assembly does not find them
	exposed    error   // why faults in our mappings are not caught
	unwalked   error   // why stacks are not found by frame pointers
	source     string  // folder of this package's source, as the compiler knows it
	marked     bool    // markers are recorded
	stacked    bool    // with their stacks, where they ask for them
	lost       [numLosses]loss
	told       [numLosses]struct{ count, bytes uint64 } // the part of lost that the recording says; the keeper's

	early   *Recording  // the one before Start, whose blocks go on here for some time
	heirs   []heir      // of its shards
	unnamed [][]uintptr // stacks of markers before Start, until the modules are known

	ring     *ring.Ring  // nil: an early recording, which has none
	nap      rt.Nap      // of the keeper
	starving atomic.Bool // a writer found no chunk
	failure  atomic.Pointer[error]

	known knownStacks
	fresh freshStacks
	taken freshStacks // being interned
}

// Config is what a recording is opened with.
type Config struct {
	Instance uint64
	Markers  bool  // are recorded
	Stacks   bool  // of markers that ask for them
	Exposed  error // why faults in mappings of files are not caught; nil: they are
}

// Open prepares a recording. It becomes the heir of an early one, if there is one, and
// has its instance then. Markers can be written after MakeShards and Use.
func Open(c Config) *Recording {
	r := &Recording{instance: c.Instance, marked: c.Markers, stacked: c.Stacks, exposed: c.Exposed, generation: 1}
	r.findTricks()
	r.takeOverEarly()
	return r
}

// findTricks finds out what can be used here of clock, stacks and goroutines.
func (r *Recording) findTricks() {
	r.clock.Open()
	r.begun = rt.Now()
	r.unwalked, r.source = rt.TryWalk(), sourceFolder()
	r.goroutines = rt.FindGoroutine()
	r.route, r.unrouted = rt.FindRoute()
}

// Use has the shards take their chunks from the ring.
func (r *Recording) Use(ring *ring.Ring) { r.ring = ring }

// Clock is the recording's clock.
func (r *Recording) Clock() *rt.Clock { return &r.clock }

// Instance is the number of the process' recording.
func (r *Recording) Instance() uint64 { return r.instance }

// Begun is when the recording began; Origin when that did which it took over from.
func (r *Recording) Begun() rt.Time { return r.begun }

// Origin: see [Recording.Begun].
func (r *Recording) Origin() rt.Time { return cmp.Or(r.early, r).begun }

// Exposed is why faults in mappings of files are not caught; nil: they are.
func (r *Recording) Exposed() error { return r.exposed }

// Defined is how many records of the registry the dictionary has: markers of what lies
// behind them are not recorded.
func (r *Recording) Defined() int { return int(r.defined.Load()) }

// SetDefined: see [Recording.Defined].
func (r *Recording) SetDefined(records int) { r.defined.Store(uint32(records)) }

// Admit has markers recorded from now on, if they are wanted at all.
func (r *Recording) Admit() {
	if r.marked {
		Current.Store(r)
	} else {
		Current.Store(nil) // no early one, either
	}
}

// Nap is how the keeper sleeps. A writer wakes it when the ring may still grow, and the
// chunks that were prepared run out.
func (r *Recording) Nap() *rt.Nap { return &r.nap }

// TrackID is the id that t has in this recording, 0 if it is not defined in it.
func (r *Recording) TrackID(t *registry.Track) uint32 { return r.trackID(t) }

func (r *Recording) trackID(t *registry.Track) uint32 {
	if t.Seq > r.defined.Load() {
		return 0
	}
	return t.ID
}

// Walks reports whether stacks are found by frame pointers, rather than by
// runtime.Callers.
func (r *Recording) Walks() bool { return r.unwalked == nil }

// TestWriters says for people which writers there are.
func (r *Recording) TestWriters() string {
	if r.unowned != nil {
		return fmt.Sprintf("%d shared; none of processors: %v", len(r.shared), r.unowned)
	}
	way := "by assembly"
	if r.unrouted != nil {
		way = fmt.Sprintf("by pinning: %v", r.unrouted)
	}
	return fmt.Sprintf("%d of processors, %s; %d shared", len(r.own), way, len(r.shared))
}

// TestFaults says for people what becomes of a file that somebody cuts short.
func (r *Recording) TestFaults() string {
	if r.exposed != nil {
		return fmt.Sprintf("a file that is cut short ends the recording: %v", r.exposed)
	}
	return "a file that is cut short is replaced"
}

// TestGoroutines says for people whether markers tell their goroutines.
func (r *Recording) TestGoroutines() string {
	if r.goroutines != 0 {
		return "by their numbers"
	}
	return "markers don't tell them"
}

// TestStacks says for people how stacks are found.
func (r *Recording) TestStacks() string {
	if r.unwalked == nil {
		return "by frame pointers"
	}
	return fmt.Sprintf("by runtime.Callers: %v", r.unwalked)
}
