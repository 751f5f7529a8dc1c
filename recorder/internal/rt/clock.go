package rt

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

// TimeOf is the Time of t.
func TimeOf(t time.Time) Time { return Time(t.Sub(base)) }

// Tick is a moment, or the length of time between two, on the clock of a
// recording's chunks: CLOCK_MONOTONIC in ns, or the processor's counter.
type Tick int64

// Clock is the clock of a recording. Reading the processor's counter takes half the time of
// reading the monotonic clock, which is most of what a marker costs.
//
// When the machine is suspended, or a virtual one is moved, the counter may jump. At each
// anchor it is compared with the monotonic clock. Once it has jumped it is no longer read:
// from then on ticks are what it would show, computed from the monotonic clock and the rate
// that it had. So all times of a recording lie on one line, except those between the jump
// and the next anchor.
type Clock struct {
	ticks   bool        // ticks are those of the counter
	Counter atomic.Bool // the counter is being read
	Why     error       // why the counter is not in use
	Base    uint64      // CLOCK_MONOTONIC at [base], in ns

	Line atomic.Pointer[line] // nil without the counter
}

// reading is the values of the counter and of the monotonic clock at one moment. took is how many ticks may
// lie between the two.
type reading struct{ counter, monotonic, took uint64 }

// line is the first and the latest reading, by which a [Time] is turned into ticks.
type line struct {
	origin, latest reading
	rate           uint64 // ticks in a ns between the two, times 1<<rateBits
}

// rateBits is as many as a rate of maxRate leaves room for: a moment years away is off by less than a tick.
const rateBits = 58

func newLine(origin, latest reading) *line {
	l := &line{origin: origin, latest: latest}
	ticks, ns := latest.counter-origin.counter, latest.monotonic-origin.monotonic
	if hi := ticks >> (64 - rateBits); hi < ns {
		l.rate, _ = bits.Div64(hi, ticks<<rateBits, ns)
	}
	return l
}

// Open chooses the counter if it can be trusted.
func (c *Clock) Open() { c.Begin().End() }

// Begin begins what Open does. Until the trial has ended, the clock must not be read.
func (c *Clock) Begin() *Trial {
	c.Base = monotonicBase()
	if c.Why = Counter.Err(); c.Why == nil {
		c.Why = counterTrusted()
	}
	t := &Trial{clock: c}
	t.Read()
	return t
}

// Follow makes c tick as an earlier clock of this process does.
func (c *Clock) Follow(earlier *Clock) {
	c.ticks, c.Why, c.Base = earlier.ticks, earlier.Why, earlier.Base
	c.Line.Store(earlier.Line.Load())
	c.Counter.Store(earlier.Counter.Load())
}

// Now is the present moment.
func (c *Clock) Now() Tick {
	if c.Counter.Load() {
		return Tick(ReadCounter())
	}
	return c.Slowly()
}

// Slowly is Now without the counter. It is inlined except for the case that the counter has jumped.
func (c *Clock) Slowly() Tick {
	if c.ticks {
		return c.slowTick()
	}
	return c.nanotime()
}

//go:noinline
func (c *Clock) slowTick() Tick { return c.OfMonotonic(uint64(c.nanotime())) }

// Trial is the self-test of the counter, which is read beside the monotonic clock at three moments. In both intervals
// the counter must tick at the same rate, and the rate must be plausible. The intervals have a least length, in which
// the caller may do something else.
type Trial struct {
	clock *Clock
	at    [3]reading
	read  int // how many of them
}

const (
	testTime    = 150 * time.Microsecond
	minRate     = 1e6  // Hz
	maxRate     = 2e10 // Hz
	rateMistake = 1e-2 // of a rate in a part of testTime, on a busy machine
)

var errCounter = errors.New("the counter disagrees with the monotonic clock")

// Read takes one of the readings, if need be later.
func (t *Trial) Read() {
	c, n := t.clock, t.read
	if c.Why != nil || n == len(t.at) {
		return
	}
	for n > 0 && uint64(c.nanotime()) < t.at[n-1].monotonic+uint64(testTime) {
	}
	t.at[n] = c.read()
	t.read++
}

// End takes the readings that are left, and decides which clock is read.
func (t *Trial) End() {
	c := t.clock
	for c.Why == nil && t.read < len(t.at) {
		t.Read()
	}
	if c.Why == nil {
		c.Why = t.judge()
	}
	c.ticks = c.Why == nil
	c.Counter.Store(c.ticks)
}

// judge leaves the readings in the clock, unless they are wrong.
func (t *Trial) judge() error {
	at := &t.at
	first, second, all := rate(at[0], at[1]), rate(at[1], at[2]), rate(at[0], at[2])
	if all < minRate || all > maxRate || first < all*(1-rateMistake) || first > all*(1+rateMistake) || second < all*(1-rateMistake) || second > all*(1+rateMistake) {
		return fmt.Errorf("%w: %.0f Hz, then %.0f Hz", errCounter, first, second)
	}
	t.clock.Line.Store(newLine(at[0], at[2]))
	return nil
}

// rate is how often the counter ticks in a second.
func rate(a, b reading) float64 {
	return float64(b.counter-a.counter) / float64(b.monotonic-a.monotonic) * 1e9
}

// maxReadings is how often read tries: the thread may be interrupted between the two clocks, so of several readings
// the one with the least time in between counts.
const maxReadings = 4

// read reads the counter and the monotonic clock as one: it does not allocate,
// and makes no system call.
func (c *Clock) read() (best reading) {
	least := ^uint64(0)
	for range maxReadings {
		before := ReadCounter()
		mono := uint64(c.nanotime())
		if took := ReadCounter() - before; took < least {
			least = took
			best = reading{before + took/2, mono, took}
		}
	}
	return best
}

// By how much the counter and the monotonic clock may differ. The latter is adjusted to the time of day, by at most
// 1/adjusted, and in the beginning the rate is not known well. A jump is seconds, as a rule.
const (
	adjusted   = 1000 // a thousandth
	settled    = uint64(50 * time.Millisecond)
	unsettled  = 20 // a twentieth, until the rate has settled
	readingGap = uint64(100 * time.Microsecond)
)

// off reports whether a reading is not on the line.
func (l *line) off(r reading) bool {
	if r.monotonic < l.latest.monotonic { // another goroutine's reading is newer
		return false
	}
	passed, share := r.monotonic-l.latest.monotonic, uint64(unsettled)
	if l.latest.monotonic-l.origin.monotonic > settled {
		share = adjusted
	}
	most := l.Ticks(passed/share+readingGap) + r.took
	want := l.latest.counter + l.Ticks(passed)
	return r.counter+most < want || r.counter > want+most
}

// Ticks converts ns to ticks.
func (l *line) Ticks(ns uint64) uint64 {
	hi, lo := bits.Mul64(ns, l.rate)
	return hi<<(64-rateBits) | lo>>rateBits
}

// check reads the clocks, and stops using the counter if it has jumped. It neither allocates nor makes a system
// call.
func (c *Clock) check() (now reading, ok bool) {
	if !c.Counter.Load() {
		return now, false
	}
	now = c.read()
	if c.Line.Load().off(now) {
		c.Counter.Store(false)
		return now, false
	}
	return now, true
}

// Jumped reports whether the counter has jumped, and is no longer used.
func (c *Clock) Jumped() bool { return c.ticks && !c.Counter.Load() }

// Shift is for tests: it changes the line as if the counter had shown that many seconds more or fewer until now, and
// so had jumped.
func (c *Clock) Shift(seconds int64) {
	l := *c.Line.Load()
	by := uint64(int64(l.Ticks(uint64(time.Second))) * seconds)
	l.origin.counter += by
	l.latest.counter += by
	c.Line.Store(&l)
}

// Note takes a new reading, by which Times are turned into ticks. Only the keeper calls it.
func (c *Clock) Note() {
	now, ok := c.check()
	if !ok {
		return
	}
	l := c.Line.Load() // the thread may have been interrupted between the two clocks each time
	if now.monotonic > l.latest.monotonic && now.took < l.Ticks(readingGap) {
		c.Line.Store(newLine(l.origin, now))
	}
}

// At is the tick of a moment. With the counter its precision depends on how even the rate is: for moments of the last
// second the error is some hundred ns at worst.
func (c *Clock) At(t Time) Tick { return c.OfMonotonic(c.Base + uint64(t)) }

// OfMonotonic is the tick of a moment of CLOCK_MONOTONIC.
func (c *Clock) OfMonotonic(mono uint64) Tick {
	if !c.ticks {
		return Tick(mono)
	}
	l := c.Line.Load()
	since := int64(mono - l.latest.monotonic) // with a sign: a moment before the machine was started is below 0
	if since < 0 {
		return Tick(l.latest.counter - l.Ticks(uint64(-since)))
	}
	return Tick(l.latest.counter + l.Ticks(uint64(since)))
}

// Duration is how long so many ticks take.
func (c *Clock) Duration(ticks Tick) time.Duration {
	if !c.ticks {
		return time.Duration(ticks)
	}
	l := c.Line.Load()
	return time.Duration(scale(uint64(max(0, ticks)), l.latest.monotonic-l.origin.monotonic, l.latest.counter-l.origin.counter))
}

// scale is x * num / den in 128 bits.
func scale(x, num, den uint64) uint64 {
	hi, lo := bits.Mul64(x, num)
	q, _ := bits.Div64(hi%den, lo, den)
	return q
}

// Anchor reads all clocks. It neither allocates nor makes a system call.
func (c *Clock) Anchor() rawformat.Anchor {
	r, ok := c.check()
	now := time.Now() // reads both clocks at once
	mono := c.Base + uint64(now.Sub(base))
	if !ok {
		r.monotonic = mono
		if c.ticks {
			r.counter = uint64(c.OfMonotonic(mono))
		}
	}
	return rawformat.Anchor{TSC: r.counter, Monotonic: r.monotonic, Realtime: now.UnixNano() - int64(mono-r.monotonic)}
}

// Kind is what the chunks' headers say.
func (c *Clock) Kind() rawformat.ClockKind {
	if c.ticks {
		return rawformat.ClockTSC
	}
	return rawformat.ClockMonotonic
}

// Describe is the text for meta about the clock, and Test that about its self-test.
func (c *Clock) Describe() string {
	if c.ticks {
		return kernelCounter + " by the processor's counter"
	}
	return clockName
}

func (c *Clock) Test() string {
	if c.ticks {
		l := c.Line.Load()
		return fmt.Sprintf("counter of %.0f Hz", rate(l.origin, l.latest))
	}
	return fmt.Sprintf("no counter: %v", c.Why)
}

// monotonicBase is the value of CLOCK_MONOTONIC at base, in ns. The clock can't be read at the same moment as Now, so of
// several readings the one counts during which Now advanced least.
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
