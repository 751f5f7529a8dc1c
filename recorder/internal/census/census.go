//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package census

import (
	"slices"
	"time"

	"gprof/recorder/internal/rt"
)

const (
	// batch is how many goroutines that stand still are looked at between two readings of the clock.
	batch = 32

	// maxRounds is how many rounds a look may stand for. With more, the goroutine's place
	// was not looked at for so long that nothing is known about it.
	maxRounds = 1000

	// noStack is the number of the stack of goroutines that do not wait.
	noStack = -1
)

// Census looks at goroutines in rounds. Only one goroutine at a time may use it.
type Census struct {
	layout layout
	sink   Sink
	round  uint32
	cursor int    // in the runtime's list
	length int    // of the runtime's list at the end of the last round, 0: not known
	seen   []seen // by place in the runtime's list
	spread int    // how many rounds a row stands for
	stack  stackReader
	tally  Tally

	own    pointer // the goroutine that makes the round
	moved  bool    // some other goroutine has, or runs, in this round
	still  int     // rounds since one did
	looked int     // how many looks these rounds had
}

// seen is what the last look at a place of the runtime's list has found.
type seen struct {
	glance
	round  uint32
	rounds uint32 // in which it was seen with this stack, and for which there is no row yet
	at     rt.Tick
	stack  int32 // the sink's number for it
}

// tries is how often Open tries: on a busy machine, goroutines may stop when they need not, which
// looks like another layout.
const tries = 3

// Open finds out how goroutines can be looked at here. The error says why they can't.
func Open(sink Sink) (c *Census, err error) {
	if err := rt.Rounds.Err(); err != nil {
		return nil, err
	}
	for range tries {
		if c, err = open(sink); err == nil {
			return c, nil
		}
	}
	return nil, err
}

func open(sink Sink) (*Census, error) {
	c := &Census{sink: sink, spread: 1}
	if err := c.layout.find(); err != nil {
		return nil, err
	}
	c.stack.text, c.stack.etext = textRange()
	return c, c.test()
}

// Round looks at goroutines until all were looked at, or until it has taken as long as it
// may; the next round goes on from there. It stands for so many rounds, of which the others were
// left out. A goroutine's row stands for spread rounds, or for fewer if it no longer waits there.
func (c *Census) Round(clock *rt.Clock, most time.Duration, spread, rounds int) {
	c.round += uint32(rounds)
	c.tally.Rounds++
	c.tally.Idle += rounds - 1
	c.spread = max(1, spread)
	c.own, c.moved = static(rt.OwnG()), false
	begun := rt.Now()
	all := c.layout.goroutines(c.length)
	if n := len(all); n > len(c.seen) {
		c.seen = append(c.seen, slices.Repeat([]seen{{stack: noStack}}, n-len(c.seen))...)
	}
	at := clock.Now()
	n := 1
	for ; n <= len(all); n++ {
		if c.cursor >= len(all) {
			c.cursor = 0
		}
		if n%batch == 1 {
			c.layout.fetch(all[c.cursor:min(c.cursor+batch, len(all))])
		}
		moved := c.look(all[c.cursor], c.cursor, at)
		c.cursor++
		if (moved || n%batch == 0) && n < len(all) && rt.Now()-begun > rt.Time(most) {
			c.tally.Cut++
			c.tally.Left += len(all) - n
			break
		}
	}
	c.length = c.layout.length()
	if c.still, c.looked = c.still+rounds, c.looked+n; c.moved {
		c.still, c.looked = 0, 0
	}
}

// Still is for how many rounds all goroutines but the caller's have stood still.
func (c *Census) Still() int {
	if c.looked < c.length {
		return 0
	}
	return c.still
}

// look looks at the goroutine at a place of the runtime's list. The look stands for the
// rounds since the last one at that place. Moved: the goroutine has not stood still since then.
func (c *Census) look(g pointer, place int, at rt.Tick) (moved bool) {
	s, now := &c.seen[place], c.layout.glance(g)
	c.tally.Looks++
	if now.status&statusScan != 0 {
		c.moved = true
		return false
	}
	rounds := c.round - s.round
	if s.round == 0 || rounds > maxRounds {
		rounds = 1
	}
	s.round = c.round
	if moved = now != s.glance || !now.holds(); moved {
		c.change(s, g, now)
	}
	c.moved = c.moved || now.status == statusRunning && g != c.own
	if s.stack == noStack {
		return moved
	}
	c.tally.Waiting++
	s.rounds += rounds
	s.at = at
	if (int(c.round)+place)%c.spread < int(rounds) {
		c.finish(s)
	}
	return moved
}

// change notes that a goroutine is in another state than at the last look.
func (c *Census) change(s *seen, g pointer, now glance) {
	stack := int32(noStack)
	if now.waits() {
		now, stack = c.take(g)
	}
	if stack != s.stack || now.goroutine != s.goroutine {
		c.finish(s)
	}
	c.moved = c.moved || stack != s.stack || now != s.glance
	s.glance, s.stack = now, stack
}

// take reads the stack of a goroutine that waits. A goroutine that went on meanwhile is not
// recorded.
func (c *Census) take(g pointer) (glance, int32) {
	now := c.layout.state(g)
	calls, err := c.stack.read(&now)
	if again := c.layout.state(g); again != now || !now.waits() || err != nil {
		c.tally.Thrown++
		return glance{}, noStack
	}
	c.tally.Stacks++
	return now.glance, c.sink.Stack(calls, now.doing())
}

// finish gives the sink the row that is due.
func (c *Census) finish(s *seen) {
	if s.rounds > 0 {
		c.sink.Row(s.goroutine, s.stack, s.rounds, s.at)
		s.rounds = 0
	}
}

// Finish gives the sink all rows that are due.
func (c *Census) Finish() {
	for i := range c.seen {
		c.finish(&c.seen[i])
	}
}

// Forget has the sink asked for all stacks again.
func (c *Census) Forget() {
	c.Finish()
	for i := range c.seen {
		c.seen[i] = seen{stack: noStack}
	}
}

// Goroutines is how many goroutines the runtime has made, including those that have ended
// and wait to be used again.
func (c *Census) Goroutines() int { return c.length }

// Tally returns what was done since the last call.
func (c *Census) Tally() Tally {
	t := c.tally
	c.tally = Tally{}
	return t
}
