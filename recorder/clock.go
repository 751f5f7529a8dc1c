package recorder

import (
	"errors"
	"fmt"
	"math/bits"
	"sync/atomic"
	"time"

	"gprof/rawformat"
)

// Time is a moment on the clock of this process' recordings: nanoseconds of
// the monotonic clock since this package was initialised.
type Time int64

// base is read once: a [Time] stays valid from one recorder to the next.
var base = time.Now()

// Now is the present moment.
func Now() Time { return Time(time.Since(base)) }

// tick is a moment, or the length of time between two, on the clock of a
// recording's chunks: CLOCK_MONOTONIC in ns, or the processor's counter.
type tick int64

// clock tells the time of a recording. The counter is read in half the time that
// the monotonic clock takes; that is most of what a marker costs.
//
// Where the machine is suspended, or a virtual one goes on elsewhere, the counter
// may jump. At each anchor it is compared with the monotonic clock. When it has
// jumped it is not read any more: from then on ticks are what it would show, by the
// monotonic clock and the rate that it had. So all times of a recording lie on one
// line, but for those between the jump and the next anchor.
type clock struct {
	ticks   bool        // time is the counter's ticks
	counter atomic.Bool // and it is read
	why     error       // the counter is not in use
	base    uint64      // CLOCK_MONOTONIC at [base], in ns

	line atomic.Pointer[line] // nil without the counter
}

// reading is what counter and monotonic clock showed at one moment. took is how
// many ticks may lie between the two.
type reading struct{ counter, monotonic, took uint64 }

// line is the clocks' latest common reading, and the first one: [Time] is turned
// into ticks by them.
type line struct{ origin, latest reading }

// open chooses the counter if it can be trusted.
func (c *clock) open() {
	c.base = monotonicBase()
	if c.why = counterTrusted(); c.why == nil {
		c.why = c.tryCounter()
	}
	c.ticks = c.why == nil
	c.counter.Store(c.ticks)
}

// follow makes c tick as an earlier clock of this process does.
func (c *clock) follow(earlier *clock) {
	c.ticks, c.why, c.base = earlier.ticks, earlier.why, earlier.base
	c.line.Store(earlier.line.Load())
	c.counter.Store(earlier.counter.Load())
}

// now is the present moment.
func (c *clock) now() tick {
	if c.counter.Load() {
		return tick(readCounter())
	}
	return c.slowly()
}

// slowly is now without the counter. It is inlined, but for where the counter was given
// up.
func (c *clock) slowly() tick {
	if c.ticks {
		return c.slowTick()
	}
	return c.nanotime()
}

//go:noinline
func (c *clock) slowTick() tick { return c.ofMonotonic(uint64(c.nanotime())) }

// A self-test of the counter reads it beside the monotonic clock at three
// moments. In both parts of the time between it must tick at the same rate, and
// at one that counters have.
const (
	testTime    = 200 * time.Microsecond
	minRate     = 1e6  // Hz
	maxRate     = 2e10 // Hz
	rateMistake = 1e-2 // of a rate in a part of testTime, on a busy machine
)

var errCounter = errors.New("the counter disagrees with the monotonic clock")

// tryCounter is the self-test. It leaves the first readings in c.
func (c *clock) tryCounter() error {
	var at [3]reading
	for i := range at {
		for i > 0 && uint64(c.nanotime()) < at[i-1].monotonic+uint64(testTime) {
		}
		at[i] = c.read()
	}
	first, second, all := rate(at[0], at[1]), rate(at[1], at[2]), rate(at[0], at[2])
	if all < minRate || all > maxRate || first < all*(1-rateMistake) || first > all*(1+rateMistake) || second < all*(1-rateMistake) || second > all*(1+rateMistake) {
		return fmt.Errorf("%w: %.0f Hz, then %.0f Hz", errCounter, first, second)
	}
	c.line.Store(&line{at[0], at[2]})
	return nil
}

// rate is how often the counter ticks in a second.
func rate(a, b reading) float64 {
	return float64(b.counter-a.counter) / float64(b.monotonic-a.monotonic) * 1e9
}

// maxReadings is how often read tries: somebody may always come between two
// clocks, and the one of several readings at which they were closest counts.
const maxReadings = 4

// read reads the counter and the monotonic clock as one: it does not allocate,
// and makes no system call.
func (c *clock) read() (best reading) {
	least := ^uint64(0)
	for range maxReadings {
		before := readCounter()
		mono := uint64(c.nanotime())
		if took := readCounter() - before; took < least {
			least = took
			best = reading{before + took/2, mono, took}
		}
	}
	return best
}

// What counter and monotonic clock may differ by: the latter is adjusted to the
// time of day, by at most this share, and in the beginning the rate is not known
// well. A jump is seconds, as a rule.
const (
	adjusted   = 1000 // a thousandth
	settled    = uint64(50 * time.Millisecond)
	unsettled  = 20 // a twentieth, until the rate has settled
	readingGap = uint64(100 * time.Microsecond)
)

// off reports whether a reading is not on the line.
func (l *line) off(r reading) bool {
	if r.monotonic < l.latest.monotonic { // somebody else's reading is newer
		return false
	}
	passed, share := r.monotonic-l.latest.monotonic, uint64(unsettled)
	if l.latest.monotonic-l.origin.monotonic > settled {
		share = adjusted
	}
	most := l.ticks(passed/share+readingGap) + r.took
	want := l.latest.counter + l.ticks(passed)
	return r.counter+most < want || r.counter > want+most
}

// ticks is how many there are in so many ns.
func (l *line) ticks(ns uint64) uint64 {
	return scale(ns, l.latest.counter-l.origin.counter, l.latest.monotonic-l.origin.monotonic)
}

// check reads the clocks, and gives the counter up if it has jumped. It neither
// allocates nor makes a system call.
func (c *clock) check() (now reading, ok bool) {
	if !c.counter.Load() {
		return now, false
	}
	now = c.read()
	if c.line.Load().off(now) {
		c.counter.Store(false)
		return now, false
	}
	return now, true
}

// jumped reports whether the counter was given up.
func (c *clock) jumped() bool { return c.ticks && !c.counter.Load() }

// shift is for tests: it has the line say that the counter showed that many seconds
// more, or fewer, until now, as if it had jumped.
func (c *clock) shift(seconds int64) {
	l := *c.line.Load()
	by := uint64(int64(l.ticks(uint64(time.Second))) * seconds)
	l.origin.counter += by
	l.latest.counter += by
	c.line.Store(&l)
}

// note takes a new reading, by which Times are turned into ticks. It is the
// housekeeper's.
func (c *clock) note() {
	now, ok := c.check()
	if !ok {
		return
	}
	l := c.line.Load() // somebody may have come between the two clocks each time
	if now.monotonic > l.latest.monotonic && now.took < l.ticks(readingGap) {
		c.line.Store(&line{l.origin, now})
	}
}

// at is the tick of a moment. By the counter it is as exact as its rate is even:
// for moments of the last second to some hundred ns at worst.
func (c *clock) at(t Time) tick { return c.ofMonotonic(c.base + uint64(t)) }

// ofMonotonic is the tick of a moment of CLOCK_MONOTONIC.
func (c *clock) ofMonotonic(mono uint64) tick {
	if !c.ticks {
		return tick(mono)
	}
	l := c.line.Load()
	if mono < l.latest.monotonic {
		return tick(l.latest.counter - l.ticks(l.latest.monotonic-mono))
	}
	return tick(l.latest.counter + l.ticks(mono-l.latest.monotonic))
}

// scale is x * num / den in 128 bits.
func scale(x, num, den uint64) uint64 {
	hi, lo := bits.Mul64(x, num)
	q, _ := bits.Div64(hi%den, lo, den)
	return q
}

// anchor reads all clocks. It neither allocates nor makes a system call.
func (c *clock) anchor() rawformat.Anchor {
	r, ok := c.check()
	now := time.Now() // reads both clocks at once
	mono := c.base + uint64(now.Sub(base))
	if !ok {
		r.monotonic = mono
		if c.ticks {
			r.counter = uint64(c.ofMonotonic(mono))
		}
	}
	return rawformat.Anchor{TSC: r.counter, Monotonic: r.monotonic, Realtime: now.UnixNano() - int64(mono-r.monotonic)}
}

// kind is what the chunks' headers say.
func (c *clock) kind() rawformat.ClockKind {
	if c.ticks {
		return rawformat.ClockTSC
	}
	return rawformat.ClockMonotonic
}

// describe is what meta says of the clock, and test what of its self-test.
func (c *clock) describe() string {
	if c.ticks {
		return kernelCounter + " by the processor's counter"
	}
	return clockName
}

func (c *clock) test() string {
	if c.ticks {
		l := c.line.Load()
		return fmt.Sprintf("counter of %.0f Hz", rate(l.origin, l.latest))
	}
	return fmt.Sprintf("no counter: %v", c.why)
}

// monotonicBase is what CLOCK_MONOTONIC showed at base, in ns. The clock can
// only be read beside Now, not with it: of some readings the one counts for
// which Now advanced least.
func monotonicBase() uint64 {
	var at uint64
	least := Time(1 << 62)
	for range 8 {
		before := Now()
		mono := monotonic()
		after := Now()
		if took := after - before; took < least {
			least = took
			at = mono - uint64(before+took/2)
		}
	}
	return at
}
