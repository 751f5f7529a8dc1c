// Package census looks where goroutines wait, some at a time, without stopping any of them: it
// reads the runtime's list of goroutines and their stacks as a debugger of this process would.
// Nothing in there is promised by Go, so all places are searched for, and tried on goroutines
// whose state is known; if anything is ambiguous, Open fails. A look at a goroutine that has moved
// meanwhile is thrown away.
package census

import "gprof/recorder/internal/rt"

// Sink takes what a census sees.
type Sink interface {
	// Stack returns a number for the stack of a goroutine, leaf first, below 0 if its goroutines
	// are of no interest. The sink must not keep calls.
	Stack(calls []uintptr, doing Doing) int32
	// Row says that a goroutine waited at a stack during so many rounds, the last time at that
	// moment.
	Row(goroutine uint64, stack int32, rounds uint32, at rt.Tick)
}

// Doing is what a goroutine does that does not run.
type Doing uint8

const (
	Waits Doing = iota
	Ready       // it could run, and waits for a processor
	Calls       // the system, or C code
)

// Tally counts what a census did.
type Tally struct {
	Rounds  int // all
	Idle    int // others, left out while nothing moved
	Cut     int // rounds that did not get to all goroutines
	Looks   int // at goroutines, including those that have ended
	Left    int // looks that these rounds did not get to
	Waiting int // looks at goroutines that waited
	Stacks  int // that were read, because the goroutine had moved
	Thrown  int // looks at goroutines that moved meanwhile, or whose stack made no sense
}
