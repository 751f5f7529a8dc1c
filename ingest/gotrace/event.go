package gotrace

import "math"

// kind is the kind of an event.
type kind uint8

const (
	kindNothing     kind = iota // of a processor or of an experiment: it tells only that its thread is there
	kindGeneration              // a generation begins, with an anchor if known
	kindOver                    // a generation is over
	kindSample                  // context
	kindGoroutine               // id goes from old to new, for the reason name; stack is its own
	kindRangeBegin              // range name of scope id
	kindRangeActive             // the same: it had begun before
	kindRangeEnd                // the same, with values about itself
	kindTaskBegin               // task of parent, named name
	kindTaskEnd                 // the same
	kindRegionBegin             // region name of task
	kindRegionEnd               // likewise
	kindLog                     // name, text, of task
	kindLabel                   // name of the goroutine that it happened on
	kindMetric                  // name has values[0]
	kindExperiment              // unknown
)

// state is the state of a goroutine.
type state uint8

const (
	unknownState state = iota
	notThere
	runnable
	running
	waiting
	calling // in a system call
	numStates
)

// scope is what a range belongs to.
type scope uint8

const (
	wholeProcess scope = iota
	ofGoroutine
	ofProcessor
)

// none is the id of a missing goroutine, processor or thread.
const none = -1

// noTask is the id of no task; taskless that of the background.
const (
	noTask   = math.MaxUint64
	taskless = 0
)

// stackRef is a stack of the tables of a generation; 0 is none.
type stackRef uint32

// event is an event of a trace.
type event struct {
	kind     kind
	scope    scope
	old, new state
	context  stackRef // of the goroutine that it happened on
	stack    stackRef // of its subject

	time                         int64 // ns of the trace's clock
	goroutine, processor, thread int64 // that it happened on; none

	id     int64 // of its subject
	name   string
	text   string
	task   uint64
	parent uint64
	values [2]uint64
	anchor *Anchor // nil: none
}

// call is a function call of a stack.
type call struct {
	function, file string
	line           uint64
}
