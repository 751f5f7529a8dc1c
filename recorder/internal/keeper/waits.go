package keeper

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"gprof/rawformat"
	"gprof/recorder/internal/dict"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

const (
	// MaxWaitHz is how often waits are looked at, at most.
	MaxWaitHz = 10

	// waitBudget is how many goroutines are looked at in a second. Each takes about a
	// microsecond, two while the world is stopped.
	waitBudget = 5000

	// maxWaiting is the number of goroutines above which none is looked at, because that
	// would take tens of milliseconds at a time.
	maxWaiting = 20000

	// maxWaitSites bounds the memory for stacks, about 700 bytes each.
	maxWaitSites = 4096
)

// waitMeter looks where goroutines wait. It belongs to the keeper.
type waitMeter struct {
	hz         int // 0: never
	due, last  rt.Time
	records    []runtime.StackRecord
	sites      map[[32]uintptr]*waitSite
	order      []*waitSite // sites that have goroutines now, in the order found
	generation uint16      // of the dictionary that has the stacks of sites
	crowded    bool        // it has been logged that there are too many goroutines
}

// waitSite is a stack at which goroutines wait.
type waitSite struct {
	row     sampleRow
	reason  rawformat.WaitReason
	running bool // its goroutines run or are not wanted
	count   int  // of goroutines, now
}

// round looks at all goroutines, if it is time.
func (m *waitMeter) round(k *Keeper, now rt.Time) {
	if k.wall.looks() { // it tells the same
		m.last = 0
		return
	}
	if m.rate(k) == 0 || now < m.due {
		return
	}
	m.look(k, now, runtime.NumGoroutine())
}

// rate is how many looks there are in a second: as many as allowed where there should be
// rounds and can't be.
func (m *waitMeter) rate(k *Keeper) int {
	if k.wall.now > 0 && k.wall.err != nil {
		return MaxWaitHz
	}
	return m.hz
}

// look looks at n goroutines unless they are too many. The more there are, the later the
// next look is due.
func (m *waitMeter) look(k *Keeper, now rt.Time, n int) {
	m.due = now + max(rt.Time(time.Second)/rt.Time(m.rate(k)), rt.Time(n)*rt.Time(time.Second)/waitBudget)
	if n > maxWaiting {
		m.last = 0
		if !m.crowded {
			m.crowded = true
			k.rec.Log(rawformat.LogWarn, fmt.Sprintf("waits: more than %d goroutines are not looked at", maxWaiting))
		}
		return
	}
	w := k.watch()
	if m.take(n); m.last != 0 {
		m.count(k)
		m.state(k, now-m.last)
	}
	m.last = now
	w.spent(&k.spent.samples)
}

// take gets the stacks of all goroutines. There may be more of them by now.
func (m *waitMeter) take(n int) {
	for {
		if cap(m.records) < n {
			m.records = make([]runtime.StackRecord, n+n/8+16)
		}
		found, ok := runtime.GoroutineProfile(m.records[:cap(m.records)])
		if ok {
			m.records = m.records[:found]
			return
		}
		n = found
	}
}

// count counts the goroutines of each site.
func (m *waitMeter) count(k *Keeper) {
	if m.sites == nil || len(m.sites) > maxWaitSites || m.generation != k.generation {
		m.sites, m.generation = make(map[[32]uintptr]*waitSite), k.generation
	}
	m.order = m.order[:0]
	for i := range m.records {
		rec := &m.records[i]
		s := m.sites[rec.Stack0]
		if s == nil {
			s = k.waitSite(rec.Stack())
			m.sites[rec.Stack0] = s
		}
		if s.running {
			continue
		}
		if s.count++; s.count == 1 {
			m.order = append(m.order, s)
		}
	}
}

// waitSite finds out what goroutines with that stack do.
func (k *Keeper) waitSite(stack []uintptr) *waitSite {
	leafFirst := k.locateRecord(stack, maxPublic)
	s := &waitSite{}
	if s.reason, s.running = reasonOf(leafFirst); !s.running {
		s.row = k.rowOf(withoutRuntime(leafFirst))
		s.running = s.row.unwanted // it is left out like one that runs
	}
	return s
}

// state writes the sites that have goroutines, each of which waited for wall.
func (m *waitMeter) state(k *Keeper, wall rt.Time) {
	for _, s := range m.order {
		if !k.writeWait(s, wall) {
			k.rec.Lose(rawformat.LostBusy, 1, 0)
		}
		s.count = 0
		if k.ring.Low() { // many new stacks take a while
			k.maintainRing()
		}
	}
}

// writeWait writes how many goroutines wait at a site. False: no writer was free.
func (k *Keeper) writeWait(s *waitSite, wall rt.Time) bool {
	_, free := k.rec.Write(shard.WaitUncounted, shard.Block{Kind: rawformat.KindWait, Time: k.rec.Clock().Now(), PCs: s.row.raw,
		Fields: []uint64{s.row.stack, uint64(s.reason), uint64(s.count), uint64(wall)}})
	return free
}

// waitFunctions says what goroutines wait for in functions of the runtime and of its
// callers.
var waitFunctions = []struct {
	prefix string
	reason rawformat.WaitReason
}{
	{"runtime.chanrecv", rawformat.WaitReceive},
	{"runtime.chansend", rawformat.WaitSend},
	{"runtime.selectgo", rawformat.WaitSelect},
	{"runtime.block", rawformat.WaitSelect},
	{"runtime.netpollblock", rawformat.WaitIO},
	{"internal/poll.runtime_pollWait", rawformat.WaitIO},
	{"time.Sleep", rawformat.WaitSleep},
	{"runtime.semacquire", rawformat.WaitSync},
	{"sync.runtime_", rawformat.WaitSync},
	{"internal/sync.runtime_", rawformat.WaitSync},
}

// waitDepth is how many calls may lie between the function that parks a goroutine and the
// one that tells why.
const waitDepth = 5

// reasonOf is why a goroutine with that stack waits; running: it runs, or waits only for a
// processor.
func reasonOf(leafFirst []dict.Frame) (reason rawformat.WaitReason, running bool) {
	if len(leafFirst) == 0 {
		return 0, true
	}
	leaf := leafFirst[0].Innermost()
	if strings.HasSuffix(leaf, "syscall.Syscall6") || strings.HasPrefix(leaf, "syscall.") || leaf == "runtime.cgocall" {
		return rawformat.WaitSyscall, false
	}
	if leaf != "runtime.gopark" && leaf != "runtime.goparkunlock" {
		return 0, true
	}
	for _, l := range leafFirst[:min(waitDepth, len(leafFirst))] {
		for _, s := range l.Functions {
			for _, f := range waitFunctions {
				if strings.HasPrefix(s.Name, f.prefix) {
					return f.reason, false
				}
			}
		}
	}
	return rawformat.WaitOther, false
}

// describe is the text for meta about waits.
func (m *waitMeter) describe() string {
	if m.hz == 0 {
		return "off"
	}
	return describeWaits(m.hz)
}

func describeWaits(hz int) string {
	return fmt.Sprintf("%d Hz, less often where that is more than %d goroutines in a second; not of more than %d", hz, waitBudget, maxWaiting)
}
