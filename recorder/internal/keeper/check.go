package keeper

import (
	"sync/atomic"
	"time"

	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/trigger"
)

// check asks a function of the program whether a condition holds, in a goroutine of its own:
// nobody waits for it, whatever it does.
type check struct {
	of     *trigger.Trigger
	ask    func() bool
	hook   hook
	answer atomic.Bool
	begun  atomic.Int64 // rt.Time when the call began that is under way; 0: none is
	next   atomic.Int64 // rt.Time when the function may be called again
}

const (
	// askShare bounds what such a function may take: after a call, so many times as long passes
	// until the next one.
	askShare = 100

	// stuck is how long a call may take before it counts as one that does not return.
	stuck = time.Second
)

func newCheck(of *trigger.Trigger, ask func() bool) *check {
	c := &check{of: of, ask: ask}
	of.Check = c.answer.Load
	return c
}

func (c *check) call() {
	begun, answer := rt.Now(), false
	c.begun.Store(int64(begun))
	defer func() {
		now := rt.Now()
		c.answer.Store(answer)
		c.next.Store(int64(now + askShare*(now-begun)))
		c.begun.Store(0)
	}()
	answer = c.ask()
}

// round has the function called, if it may be. It reports whether the rule was switched off
// or on: it is off for ever after a panic, and while a call does not return.
func (c *check) round(now rt.Time) (changed bool) {
	before, begun := c.of.Off, rt.Time(c.begun.Load())
	switch {
	case c.hook.panicked.Load() > 0:
		c.of.Off = "its function panicked"
	case begun != 0 && now-begun > rt.Time(stuck):
		c.of.Off = "its function does not return"
	case begun == 0:
		c.of.Off = ""
		if now >= rt.Time(c.next.Load()) {
			c.hook.round(now)
		}
	}
	return c.of.Off != before
}
