package ingest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gprof/decode"
	"gprof/stream"
)

// machine is the truth: what its clocks showed when.
type machine struct{ legs []leg }

// leg is a stretch of monotonic time in which the real time stretches evenly.
type leg struct {
	from   uint64
	offset int64 // of real time at from
	drift  int64 // parts per million
}

const second = 1_000_000_000

// newMachine goes through some suspensions, settings and drifts, never closer
// than a minute.
func newMachine(r *rand.Rand, back bool) (m machine) {
	at, offset := uint64(1000*second), int64(1_767_225_600*second)
	for range 1 + r.IntN(5) {
		l := leg{from: at, offset: offset, drift: []int64{0, 0, 0, 400, -400}[r.IntN(5)]}
		m.legs = append(m.legs, l)
		long := uint64(60+r.IntN(300)) * second
		offset += int64(long) / 1_000_000 * l.drift
		step := int64(second/5) + r.Int64N(4000*second)
		if back && r.IntN(2) == 0 {
			step = -step
		}
		at, offset = at+long, offset+step
	}
	return m
}

func (m machine) offset(monotonic uint64) int64 {
	i := len(m.legs) - 1
	for i > 0 && m.legs[i].from > monotonic {
		i--
	}
	l := m.legs[i]
	return l.offset + int64(monotonic-l.from)/1_000_000*l.drift
}

// process reads the clocks every ten seconds from some time on.
func (m machine) process(r *rand.Rand) (anchors []decode.Anchor) {
	at := m.legs[0].from + uint64(r.Int64N(300*second))
	for range 1 + r.IntN(60) {
		noise := r.Int64N(2000) - 1000
		anchors = append(anchors, decode.Anchor{Monotonic: at, Realtime: int64(at) + m.offset(at) + noise})
		at += 10*second + uint64(r.Int64N(second))
	}
	return anchors
}

// A machine's map never falls, whatever happened to its clocks. If real time
// was never set back, each anchor comes out at its real time, and so do times
// between two that agree.
func TestTimelineProperties(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		back := seed%2 == 1
		m := newMachine(r, back)
		line, anchors := share(t, m, r)
		clock := line.clock()
		rises(t, clock, line, r)
		if back || t.Failed() {
			continue
		}
		for _, a := range anchors {
			if off := int64(clock.At(a.Monotonic)) - a.Realtime; !line.steady() && !within(off, 0, 3*grain) || !within(off, 0, maxSkew) {
				t.Fatalf("seed %d: anchor at %d is off by %d", seed, a.Monotonic, off)
			}
		}
		for range 1000 {
			at := line.first() + uint64(r.Int64N(int64(line.last()-line.first())+1))
			low, high, _ := line.known(at)
			truth := int64(at) + m.offset(at)
			if off := int64(clock.At(at)) - truth; within(low, high, maxSkew) && !within(off, 0, maxSkew+high-low) {
				t.Fatalf("seed %d: %d is off by %d though the anchors around it agree", seed, at, off)
			}
		}
	}
}

// share is the timeline of some processes of a machine.
func share(t *testing.T, m machine, r *rand.Rand) (line *timeline, anchors []decode.Anchor) {
	t.Helper()
	own := make([]*timeline, 1+r.IntN(4))
	for i := range own {
		a := m.process(r)
		own[i] = newTimeline(a)
		anchors = append(anchors, a...)
	}
	slices.SortFunc(own, func(a, b *timeline) int { return int(a.first()) - int(b.first()) })
	line = own[0]
	for _, o := range own[1:] {
		if o.first() <= line.last() && !line.join(o) {
			t.Fatalf("%+v does not join %+v, though of one machine", o, line)
		}
	}
	last := line.last()
	return line, slices.DeleteFunc(anchors, func(a decode.Anchor) bool { return a.Monotonic > last })
}

// rises fails if time falls.
func rises(t *testing.T, c decode.Clock, line *timeline, r *rand.Rand) {
	t.Helper()
	times := []uint64{0, math.MaxInt64 / 2}
	for _, stretch := range line.stretches {
		times = append(times, stretch.from-1, stretch.from, stretch.from+1, stretch.to, stretch.to+1)
	}
	for range 1000 {
		times = append(times, line.first()+uint64(r.Int64N(int64(line.last()-line.first())+second)))
	}
	slices.Sort(times)
	last := stream.Time(math.MinInt64)
	for i, m := range times {
		if at := c.At(m); at < last {
			t.Fatalf("%d is at %d, %d before %d of %+v", m, at, last-at, times[i-1], line.stretches)
		} else {
			last = at
		}
	}
}

// A process that disagrees anywhere has another clock.
func TestTimelineStrangers(t *testing.T) {
	line := &timeline{[]stretch{{1000, 2000, 0, -1}, {3000, 4000, 3 * maxSkew, -1}}}
	for _, c := range []struct {
		name    string
		stretch stretch
		want    bool
	}{
		{"same", stretch{1100, 1900, 0, -1}, true},
		{"a little late", stretch{1100, 1900, maxSkew, -1}, true},
		{"too late", stretch{1100, 1900, maxSkew + 1, -1}, false},
		{"too early", stretch{1100, 1900, -maxSkew - 1, -1}, false},
		{"saw no step", stretch{1100, 3900, 0, -1}, false},
		{"between", stretch{2400, 2600, maxSkew, -1}, true},
		{"one side of the step", stretch{1900, 2900, 0, -1}, true},
		{"the other side", stretch{2100, 3900, 3 * maxSkew, -1}, true},
		{"behind", stretch{5000, 6000, 3*maxSkew + 1, -1}, true},
		{"behind, suspended before", stretch{5000, 6000, 99 * maxSkew, -1}, true},
		{"behind and set back", stretch{5000, 6000, 0, -1}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &timeline{slices.Clone(line.stretches)}
			if got := l.join(&timeline{[]stretch{c.stretch}}); got != c.want {
				t.Errorf("joins: %v", got)
			}
			if !slices.IsSortedFunc(l.stretches, func(a, b stretch) int { return int(int64(a.to) - int64(b.from)) }) {
				t.Errorf("stretches overlap: %+v", l.stretches)
			}
		})
	}
}

// Anchors at the ends of what a clock may show overflow nothing.
func TestTimelineHostile(t *testing.T) {
	var anchors []decode.Anchor
	for _, m := range []uint64{1, 2, 1<<62 - 2, 1<<62 - 1} {
		for _, real := range []int64{1, 1<<62 - 1} {
			anchors = append(anchors, decode.Anchor{Monotonic: m + uint64(real&1), Realtime: real, Boottime: math.MaxUint64})
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		r.Shuffle(len(anchors), func(i, j int) { anchors[i], anchors[j] = anchors[j], anchors[i] })
		some := slices.Clone(anchors[:1+r.IntN(len(anchors))])
		slices.SortFunc(some, func(a, b decode.Anchor) int { return int(int64(a.Monotonic) - int64(b.Monotonic)) })
		some = slices.CompactFunc(some, func(a, b decode.Anchor) bool { return a.Monotonic == b.Monotonic })
		line := newTimeline(some)
		rises(t, line.clock(), line, r)
		for i := range len(line.stretches) - 1 {
			line.step(i)
		}
	}
}
