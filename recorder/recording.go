package recorder

import (
	"sync/atomic"

	"gprof/chunks"
	"gprof/recorder/internal/rt"
)

// recording is what markers write into: the clock, the shards and the ring that they
// take chunks from. It knows nothing of the upkeep, which is the keeper's.
type recording struct {
	// The fields that each marker reads come first, in two cache lines of their own;
	// counters and locks, which change while markers are on their way, lie in others.
	clock      rt.Clock
	route      rt.Route      // to the number of the processor
	goroutines uintptr       // where a goroutine's g has its number, 0 unknown
	own        []shard       // one for each processor
	shared     []shard       // their number is a power of two
	mask       uintptr       // of the shared ones that are somebody's first choice
	defined    atomic.Uint32 // records of the registry that the dictionary has

	instance uint64
	begun    rt.Time
	shards   []shard // all of them
	unowned  error   // why there are none of processors
	unrouted error   // why assembly does not find them
	features Features
	exposed  error  // why faults in our mappings are not caught
	unwalked error  // why stacks are not found by frame pointers
	source   string // folder of this package's source, as the compiler knows it
	lost     [numLosses]loss
	told     [numLosses]struct{ count, bytes uint64 } // the part of lost that the recording says; the keeper's

	early   *recording  // whose heir this is, for some time
	heirs   []heir      // of its shards
	unnamed [][]uintptr // stacks of markers before Start, until the modules are known

	ring     *chunks.Ring // nil: an early recording, which has none
	nap      rt.Nap       // of the keeper
	starving atomic.Bool  // a writer found no chunk
	failure  atomic.Pointer[error]

	known knownStacks
	fresh freshStacks
}
