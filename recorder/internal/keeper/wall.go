package keeper

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"gprof/rawformat"
	"gprof/recorder/internal/census"
	"gprof/recorder/internal/dict"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

const (
	// MaxWallHz is how many rounds over all goroutines there may be in a second.
	MaxWallHz = 1000

	// fewGoroutines may take wallShare of a processor, more of them wallShareMany. Waking the
	// process takes about as much again.
	fewGoroutines = 2000
	wallShare     = 0.0015
	wallShareMany = 0.005

	// While no goroutine has moved for stillAfter, one round in stillRounds is made, and stands
	// for the others.
	stillAfter  = rt.Time(time.Second)
	stillRounds = 8

	// wallRows is how many rows of goroutines that stand still are written in a second; with
	// more goroutines a row stands for more rounds.
	wallRows = 5000

	maxWallSites = 4096

	// wallReportEvery is how often it is logged what the rounds saw.
	wallReportEvery = rt.Time(time.Minute)
)

// wallMeter looks at goroutines in rounds, see [census.Census]. It belongs to the keeper,
// except for hz.
type wallMeter struct {
	hz      atomic.Int32 // as asked for; 0: no rounds
	now     int32        // as rounds are made
	k       *Keeper
	opening bool
	opened  atomic.Pointer[opened] // nil: not yet
	census  *census.Census
	err     error // why there is no census
	due     rt.Time
	left    int     // for how many rounds the next one stands, 0: it is the first
	report  rt.Time // when to report next
	sites   []wallSite
	found   map[uint64][]int32 // sites by the sum of their calls
	spent   rt.Time
	since   rt.Time // of the tally
}

// opened is what opening a census has led to. It takes some milliseconds, and so goes on beside
// the keeper.
type opened struct {
	census *census.Census
	err    error
}

// wallSite is a stack that goroutines wait at.
type wallSite struct {
	calls      []uintptr
	doing      census.Doing
	generation uint16 // of the dictionary that has the row
	row        sampleRow
	reason     rawformat.WaitReason
}

// SetWall sets how many rounds over all goroutines there are in a second; 0: none.
func (k *Keeper) SetWall(hz int) {
	k.wall.hz.Store(int32(min(max(0, hz), MaxWallHz)))
	k.rec.Nap().Wake()
}

// looks reports whether goroutines are looked at in rounds.
func (m *wallMeter) looks() bool { return m.now > 0 && m.census != nil }

// period is the time between two rounds.
func (m *wallMeter) period() rt.Time { return rt.Time(time.Second) / rt.Time(m.now) }

// turn follows what is asked for.
func (m *wallMeter) turn(k *Keeper, now rt.Time) {
	asked := m.hz.Load()
	if asked == m.now {
		return
	}
	m.rest()
	m.k, m.now, m.due, m.left = k, asked, 0, 0
	if asked == 0 {
		return
	}
	m.since, m.report = now, now+wallReportEvery
	if !m.opening {
		m.opening = true
		k.spawnBriefly(func() {
			c, err := census.Open(m)
			m.opened.Store(&opened{c, err})
		})
	}
}

// await takes the census once it is opened, or logs why there is none.
func (m *wallMeter) await(k *Keeper) {
	o := m.opened.Swap(nil)
	if o == nil {
		return
	}
	if m.census, m.err = o.census, o.err; m.err != nil {
		k.rec.Log(rawformat.LogWarn, fmt.Sprintf("wall: %v: instead, all goroutines are looked at as for waits, %s", m.err, describeWaits(MaxWaitHz)))
	}
}

// rest writes what is due, and what the rounds saw, before a pause or the end.
func (m *wallMeter) rest() {
	if !m.looks() || m.due == 0 {
		return
	}
	m.census.Finish()
	m.tell()
	m.due, m.left, m.since = 0, 0, rt.Now()
}

// round makes a round, if it is time. Rounds have regular times; those that were missed
// are not made up for.
func (m *wallMeter) round(k *Keeper) {
	now := rt.Now()
	m.turn(k, now)
	if m.await(k); !m.looks() || now < m.due {
		return
	}
	rounds := m.skip(now)
	if len(m.sites) > maxWallSites || m.found == nil {
		m.census.Forget()
		m.sites, m.found = nil, map[uint64][]int32{}
	}
	n := m.census.Goroutines()
	m.census.Round(k.rec.Clock(), time.Duration(wallShareOf(n)*float64(m.period())*float64(rounds)), n*int(m.now)/wallRows, rounds)
	m.spent += rt.Now() - now
	k.spent.samples.Add(int64(rt.Now() - now))
	if now > m.report {
		m.report = now + wallReportEvery
		m.tell()
	}
}

// skip returns for how many rounds the one that begins stands, and sets when the next one is due.
func (m *wallMeter) skip(now rt.Time) (rounds int) {
	rounds = max(1, m.left)
	m.left = 1
	if rt.Time(m.census.Still())*m.period() >= stillAfter {
		m.left = stillRounds
	}
	m.due = now - now%m.period() + rt.Time(m.left)*m.period()
	return rounds
}

// wallShareOf is how much of a processor rounds over n goroutines may take.
func wallShareOf(n int) float64 {
	if n > fewGoroutines {
		return wallShareMany
	}
	return wallShare
}

// next is the time until the next round, at most d.
func (m *wallMeter) next(d time.Duration) time.Duration {
	if !m.looks() || m.due == 0 {
		return d
	}
	return max(0, min(d, time.Duration(m.due-rt.Now())))
}

// tell logs what the rounds saw.
func (m *wallMeter) tell() {
	t := m.census.Tally()
	all := t.Looks + t.Left
	if t.Rounds == 0 || all == 0 {
		return
	}
	elapsed := float64(rt.Now() - m.since)
	m.k.rec.Log(rawformat.LogInfo, fmt.Sprintf("wall: %d rounds of %d planned, %d left out while nothing moved, %d of %d looks at goroutines (%.1f %%), %d of them thrown away, %d stacks read, in %.2f %% of the time",
		t.Rounds, int(elapsed/float64(m.period())), t.Idle, t.Looks, all, 100*float64(t.Looks)/float64(all), t.Thrown, t.Stacks, 100*float64(m.spent)/elapsed))
	m.spent, m.since = 0, rt.Now()
}

// Stack is the number of a site.
func (m *wallMeter) Stack(calls []uintptr, doing census.Doing) int32 {
	sum := rt.SumOf(calls)
	for _, n := range m.found[sum] {
		if n >= 0 && m.sites[n].doing == doing && slices.Equal(m.sites[n].calls, calls) {
			return n
		}
	}
	s := wallSite{calls: slices.Clone(calls), doing: doing}
	n := int32(len(m.sites))
	m.k.resolveWall(&s)
	m.sites = append(m.sites, s)
	m.found[sum] = append(m.found[sum], n)
	return n
}

// Row writes how long a goroutine waited.
func (m *wallMeter) Row(goroutine uint64, stack int32, rounds uint32, at rt.Tick) {
	s := &m.sites[stack]
	if s.generation != m.k.generation {
		m.k.resolveWall(s)
	}
	if t := shard.TrackOf(goroutine); s.reason == ofRuntime || t.IsUnwanted() || t == nil && s.row.unwanted {
		return
	}
	_, free := m.k.rec.Write(shard.WaitUncounted, shard.Block{Kind: rawformat.KindWaiting, Time: at, PCs: s.row.raw,
		Fields: []uint64{goroutine, s.row.stack, uint64(s.reason), uint64(rounds), uint64(m.period())}})
	if !free {
		m.k.rec.Lose(rawformat.LostBusy, 1, 0)
	}
	if m.k.ring.Low() { // many new stacks take a while
		m.k.maintainRing()
	}
}

// ofRuntime is the reason of goroutines of the runtime, which are not recorded.
const ofRuntime rawformat.WaitReason = 255

// resolveWall finds out what goroutines at a site wait for, and gives its stack an id.
func (k *Keeper) resolveWall(s *wallSite) {
	s.generation = k.generation
	calls := rt.Expand(s.calls)
	if len(calls) == 0 { // it has not run yet, and begins in a wrapper of the compiler
		calls = s.calls
	}
	leafFirst := k.locateRecord(calls, 2) // one that has not run yet has a single call
	if isOfRuntime(leafFirst) {
		s.reason = ofRuntime
		return
	}
	switch s.doing {
	case census.Calls:
		s.reason = rawformat.WaitSyscall
	case census.Ready:
		s.reason = rawformat.WaitReady
	default:
		s.reason, _ = reasonOf(leafFirst)
	}
	s.row = k.rowOf(withoutRuntime(leafFirst))
}

// isOfRuntime reports whether a stack is that of a goroutine that the runtime has begun for
// itself.
func isOfRuntime(leafFirst []dict.Frame) bool {
	if n := len(leafFirst); n > 0 && leafFirst[n-1].Innermost() == "runtime.goexit" {
		leafFirst = leafFirst[:n-1]
	}
	if len(leafFirst) == 0 {
		return true
	}
	root := leafFirst[len(leafFirst)-1].Functions
	return len(root) > 0 && strings.HasPrefix(root[0].Name, "runtime.") && root[0].Name != "runtime.main"
}

// describe is the text for meta.
func (m *wallMeter) describe() string {
	if hz := m.hz.Load(); hz > 0 {
		return fmt.Sprintf("%d Hz, looks take at most %.2f %% of a processor up to %d goroutines, then %.2f %%; a log tells what was seen", hz, 100*wallShare, fewGoroutines, 100*wallShareMany)
	}
	return "off"
}
