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
type clock struct {
	counter bool   // its ticks are the counter's
	why     error  // the counter is not in use
	base    uint64 // CLOCK_MONOTONIC at [base], in ns

	// The clocks' latest common reading, and the first one: [Time] is turned
	// into ticks by them. Nil without the counter.
	origin reading
	latest atomic.Pointer[reading]
}

// reading is what counter and monotonic clock showed at one moment.
type reading struct{ counter, monotonic uint64 }

// open chooses the counter if it can be trusted.
func (c *clock) open() {
	c.base = monotonicBase()
	if c.why = counterTrusted(); c.why == nil {
		c.why = c.tryCounter()
	}
	c.counter = c.why == nil
}

// now is the present moment.
func (c *clock) now() tick {
	if c.counter {
		return tick(readCounter())
	}
	return c.nanotime()
}

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
	c.origin = at[0]
	c.latest.Store(&at[2])
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
			best = reading{before + took/2, mono}
		}
	}
	return best
}

// note takes a new reading, by which Times are turned into ticks. It is the
// housekeeper's.
func (c *clock) note() {
	if !c.counter {
		return
	}
	if now := c.read(); now.counter > c.origin.counter && now.monotonic > c.origin.monotonic {
		c.latest.Store(&now)
	}
}

// at is the tick of a moment. By the counter it is as exact as its rate is even:
// for moments of the last second to some hundred ns at worst.
func (c *clock) at(t Time) tick {
	mono := c.base + uint64(t)
	if !c.counter {
		return tick(mono)
	}
	l := c.latest.Load()
	ticks, ns := l.counter-c.origin.counter, l.monotonic-c.origin.monotonic
	if mono < l.monotonic {
		return tick(l.counter - scale(l.monotonic-mono, ticks, ns))
	}
	return tick(l.counter + scale(mono-l.monotonic, ticks, ns))
}

// scale is x * num / den in 128 bits.
func scale(x, num, den uint64) uint64 {
	hi, lo := bits.Mul64(x, num)
	q, _ := bits.Div64(hi%den, lo, den)
	return q
}

// anchor reads all clocks. It neither allocates nor makes a system call.
func (c *clock) anchor() rawformat.Anchor {
	var r reading
	if c.counter {
		r = c.read()
	}
	now := time.Now() // reads both clocks at once
	mono := c.base + uint64(now.Sub(base))
	if !c.counter {
		r.monotonic = mono
	}
	return rawformat.Anchor{TSC: r.counter, Monotonic: r.monotonic, Realtime: now.UnixNano() - int64(mono-r.monotonic)}
}

// kind is what the chunks' headers say.
func (c *clock) kind() rawformat.ClockKind {
	if c.counter {
		return rawformat.ClockTSC
	}
	return rawformat.ClockMonotonic
}

// describe is what meta says of the clock, and test what of its self-test.
func (c *clock) describe() string {
	if c.counter {
		return kernelCounter + " by the processor's counter"
	}
	return clockName
}

func (c *clock) test() string {
	if c.counter {
		return fmt.Sprintf("counter of %.0f Hz", rate(c.origin, *c.latest.Load()))
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
