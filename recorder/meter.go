package recorder

import (
	"fmt"
	"time"

	"gprof/rawformat"
	"gprof/recorder/internal/record"
)

// meter samples the counters of a recording, in rounds. It is opened by Start and
// closed by Stop; in between it belongs to the housekeeper.
type meter struct {
	hz      int // rounds in a second, 0 none
	gauges  []*gauge
	absent  []absence
	probes  []probe         // all counters; a counter's id is its place from 1 on
	values  [maxGauge]count // of the gauge that is being read
	defined [][]byte        // records of probes, those of the first ones
	own     int             // counters of the program that have a gauge
	late    bool            // work had waited when it was last looked
	runtime runtimeMetrics
	system  systemMetrics
	cycles  cycleMeter
	refused bool // the dictionary has no room for more counters
}

// gauge is one place where values of some counters are read.
type gauge struct {
	specs []counterSpec
	every Time // that long passes between two looks at least; 0: each round has one
	// read sets those values that it can tell. The others are not stated: a value
	// that could not be read is none. False: there will be none any more.
	read func(values []count) bool

	first int // of its probes
	due   Time
	took  Time // a look, at most
}

// count is what a counter shows. Number is how many operations led to it, 0
// unknown.
type count struct {
	value, number int64
	known         bool
}

// absence is something that is not recorded here, and why.
type absence struct {
	what string
	why  error
}

// probe is a counter: what it shows and what was stated of it.
type probe struct {
	counterSpec
	stated  count
	told    Time // when it was stated; 0 never
	passed  tick // when it was last seen to be as stated
	skipped bool // it was, since it was stated
}

// restateEvery is how often a value is stated that stays as it is. Most do, and
// what is not written leaves room for what happens.
const restateEvery = Time(1e9)

// add takes a gauge into use.
func (m *meter) add(g *gauge) {
	g.first = len(m.probes)
	for _, s := range g.specs {
		s.mode |= rawformat.CounterOwn
		m.probes = append(m.probes, probe{counterSpec: s})
	}
	m.gauges = append(m.gauges, g)
}

// miss notes that something can't be recorded here.
func (m *meter) miss(what string, why error) { m.absent = append(m.absent, absence{what, why}) }

// open finds out what there is to be read.
func (m *meter) open(hz int) {
	if m.hz = hz; hz == 0 {
		return
	}
	m.openRuntime()
	m.openSystem("/")
}

// describe is what meta says of counters.
func (m *meter) describe() string {
	if m.hz == 0 {
		return "off"
	}
	text := fmt.Sprintf("%d Hz", m.hz)
	for i, a := range m.absent {
		text += [...]string{"; absent: ", "; "}[min(i, 1)] + fmt.Sprintf("%s (%v)", a.what, a.why)
	}
	return text
}

// round looks at all counters whose time has come, and states what there is to
// state.
func (m *meter) round(k *Keeper, now Time) {
	m.takeUser()
	m.cycles.round(k.Recording, now)
	kept := m.gauges[:0]
	for _, g := range m.gauges {
		if now < g.due || m.look(k, g, now) {
			kept = append(kept, g)
		}
	}
	clear(m.gauges[len(kept):])
	m.gauges = kept
	m.stateWaits(k.Recording)
}

// last states all values once more, at the end.
func (m *meter) last(k *Keeper) {
	for _, g := range m.gauges {
		g.due = 0
	}
	for i := range m.probes {
		m.probes[i].told = 0
	}
	m.round(k, Now())
}

// look reads a gauge. False: it is of no use any more.
func (m *meter) look(k *Keeper, g *gauge, now Time) bool {
	v := m.values[:len(g.specs)]
	clear(v)
	begin := Now()
	of := g.read(v)
	at := k.clock.now()
	g.next(now, Now()-begin)
	m.define(k, g.first+len(v))
	for i := range v {
		if v[i].known {
			m.state(k.Recording, g.first+i, v[i], now, at)
		}
	}
	return of
}

// gaugeShare bounds what a gauge costs: so many times as long as a look took passes
// until the next one. Most take a hundredth of that; the kernel's list of interfaces,
// where they are thousands, does not.
const gaugeShare = 1000

// next settles when the next look is: at regular times, without catching up. A look
// may take long because the housekeeper had to wait for a processor. So what looks
// are taken to cost doubles at most with each that takes longer, and falls at once.
func (g *gauge) next(now, took Time) {
	g.took = min(took, 2*g.took+Time(time.Microsecond))
	if every := max(g.every, gaugeShare*g.took); every > 0 {
		g.due = now - now%every + every
	}
}

// maxGauge is how many counters a gauge may have.
const maxGauge = 32

// define writes the definitions of the first n counters.
func (m *meter) define(k *Keeper, n int) {
	for len(m.defined) < n && !m.refused {
		c := &m.probes[len(m.defined)]
		body := record.New(rawformat.KindDefCounter).Uint(uint64(len(m.defined) + 1)).Text(c.name).Text(c.category).Text(c.description).Uint(uint64(c.unit)).Uint(uint64(c.mode))
		if m.refused = k.dict.define(body) == 0; m.refused {
			k.lose(rawformat.LostDictionary, uint64(n-len(m.defined)), 0)
			return
		}
		m.defined = append(m.defined, body)
	}
}

// state writes a value, if it is not the one that was stated lately. One that
// changes is stated once more as it was until then: front ends draw a line from
// value to value, or divide what came by the time that it took.
func (m *meter) state(r *Recording, i int, v count, now Time, at tick) {
	p := &m.probes[i]
	if p.told != 0 && v == p.stated && now-p.told < restateEvery {
		p.passed, p.skipped = at, true
		return
	}
	if i >= len(m.defined) {
		return // and counted
	}
	if p.skipped && v != p.stated {
		r.writeCounter(i+1, p.stated, p.passed)
	}
	r.writeCounter(i+1, v, at)
	p.stated, p.told, p.skipped = v, now, false
}

// rest is called while nothing is recorded: what goes on then is unknown.
func (m *meter) rest() {
	for i := range m.probes {
		m.probes[i].told, m.probes[i].skipped = 0, false
	}
	m.cycles.rest()
}

// takeUser takes the program's counters into use that were defined since.
func (m *meter) takeUser() {
	defined.mu.Lock()
	fresh := defined.counters[m.own:]
	defined.mu.Unlock()
	for _, c := range fresh {
		m.add(&gauge{specs: []counterSpec{c.spec}, read: func(v []count) bool {
			v[0] = count{value: c.Value(), known: true}
			return true
		}})
		m.probes[len(m.probes)-1].mode &^= rawformat.CounterOwn
	}
	m.own += len(fresh)
}

// stateWaits states how long work had waited for a processor, and when it ceases to.
func (m *meter) stateWaits(r *Recording) {
	waited := m.runtime.waited
	if waited > 0 || m.late {
		r.entry(rawformat.KindDelay, r.clock.now(), 0, uint64(waited))
	}
	m.late = waited > 0
}

// writeCounter writes a value.
func (r *Recording) writeCounter(id int, v count, at tick) {
	s := r.acquirePatiently()
	if s == nil || !r.turn(s, 64, who{}, at) {
		return
	}
	b := rawformat.AppendUint(s.time(s.begin(rawformat.KindCounter), at), uint64(id))
	b = rawformat.AppendSint(b, v.value)
	s.finish(rawformat.AppendUint(b, uint64(max(0, v.number))))
	leave(s)
}
