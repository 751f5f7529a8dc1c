package slow

import (
	"strings"

	"gprof/convert/internal/places"
	"gprof/stream"
)

// Names of the events by which execution traces tell the states of goroutines, and what they have.
const (
	stateEvent = "goroutine state"
	wakeEvent  = "goroutine wake-up"
)

// The states, by their text.
const (
	running int64 = iota
	runnable
	collecting
	calling
	waiting
	because // and the part of the time: a wait whose reason is known without its stack
)

var states = map[string]int64{"running": running, "runnable": runnable, "gc assist": collecting, "stop the world": collecting, "system call": calling, "waiting": waiting}

// reasons are what a goroutine waits for, as execution traces and rounds say it; all others are among Waiting.
var reasons = map[string]int{
	"network": Network, "system call": Calling, "lock": Lock, "sync": Lock,
	"runnable": Runnable, "processor": Runnable, "preempted": Runnable, "wait until GC ends": Collector,
}

// cause is a part of the time and a place in the code.
type cause struct {
	part  int
	place places.Place
}

// causes numbers causes.
type causes struct {
	tables *stream.Tables
	known  map[cause]int32
	all    []cause
	under  map[underKey]int32 // by stack, in the process at hand
	module string
}

type underKey struct {
	stack stream.StackID
	state int64
}

func newCauses(t *stream.Tables) causes {
	return causes{tables: t, known: map[cause]int32{}, under: map[underKey]int32{}}
}

// begin begins a process.
func (c *causes) begin(module string) {
	if module != c.module {
		c.module = module
		clear(c.under)
	}
}

// of is the cause of a time in a state at a stack.
func (c *causes) of(state int64, stack stream.StackID) int32 {
	k := underKey{stack, state}
	n, ok := c.under[k]
	if !ok {
		p := places.Of(c.tables, c.module, stack)
		p.Root = ""
		x := cause{c.part(state, p, stack), p}
		n = c.number(x)
		c.under[k] = n
	}
	return n
}

// number is the number of a cause. Of the time on a processor it matters only whose code took it; of a wait, also for
// what it waits, and how.
func (c *causes) number(x cause) int32 {
	key := cause{x.part, x.place.Waiting()}
	if x.part == CPU {
		key.place = x.place.Code()
	}
	n, ok := c.known[key]
	if !ok {
		n = int32(len(c.all))
		c.known[key] = n
		c.all = append(c.all, x)
	}
	return n
}

// part is the part of the time that a state at a stack belongs to.
func (c *causes) part(state int64, p places.Place, stack stream.StackID) int {
	switch state {
	case running:
		return CPU
	case runnable:
		return Runnable
	case collecting:
		return Collector
	case calling:
		return Calling
	}
	part := Unknown // redaction hides reasons
	switch {
	case state >= because:
		part = int(state - because)
	case p.Reason != "":
		part = partOf(p.Reason)
	}
	if part == Lock && c.forOthers(stack) {
		return Waiting
	}
	return part
}

// partOf is the part of the time that a wait for a reason belongs to.
func partOf(reason string) int {
	part, ok := reasons[reason]
	switch {
	case ok:
		return part
	case strings.HasPrefix(reason, "GC "):
		return Collector
	}
	return Waiting
}

// forOthers reports whether what looks as a wait for a lock is one for goroutines that work.
func (c *causes) forOthers(stack stream.StackID) (yes bool) {
	places.Frames(c.tables, stack, func(function string) bool {
		yes = strings.HasPrefix(function, "sync.(*WaitGroup).")
		return !yes
	})
	return yes
}

// text is the place of a cause, for people.
func (c *causes) text(n int32) string {
	p := c.all[n].place
	text := p.String()
	if p.Via != "" && p.Function != "" && c.all[n].part != CPU {
		text += " in " + p.Via
	}
	if reason := p.Reason; reason != "" && c.all[n].part == Waiting {
		text += ", " + reason
	}
	return text
}
