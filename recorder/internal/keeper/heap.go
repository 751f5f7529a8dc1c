package keeper

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"strings"
	"time"

	"gprof/rawformat"
	"gprof/recorder/internal/dict"
	"gprof/recorder/internal/profile"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

const (
	// maxSites bounds the memory that they take here, about 700 bytes each; a
	// large service has some thousand.
	maxSites = 8192

	// siteShare is the part of the limit for which there may be a site: what takes
	// some 25 bytes in each half of the ring.
	siteShare = 1024

	// sitesPerRound is how many are stated before the keeper looks after the
	// ring again. A stack that is new takes up to 20 µs.
	sitesPerRound = 128

	// heapShare bounds what a look at the heap profile costs: so many times as
	// long passes until the next one.
	heapShare = 1000
)

// heapMeter states what the runtime's heap profile says. It belongs to the
// keeper.
type heapMeter struct {
	period     rt.Time // 0: never
	due        rt.Time
	took       rt.Time           // a look, at most
	cycles     [1]metrics.Sample // of the garbage collector
	seen       uint64            // how many there were the last time
	fresh      bool              // seen was new then
	looks      int
	records    []runtime.MemProfileRecord
	known      int                        // records from the first on, one for each site
	left       []runtime.MemProfileRecord // of these: not looked at yet
	sites      map[site]*heapSite
	generation uint16 // of the dictionary that stacks of sites are of
	floor      uint64 // no site was stated below this index
	most       int    // sites
	crowded    bool   // there are more
	warned     bool   // of that
}

// site is a place where objects of one size are allocated.
type site struct {
	stack [32]uintptr // as in a MemProfileRecord
	size  int64
}

// tally counts objects of which samples were taken.
type tally struct{ allocated, freed int64 }

// heapSite is what is known of a site.
type heapSite struct {
	now, stated tally
	look        int    // that now is of
	index       uint64 // of the block that stated it, 0 none
	row         sampleRow
}

// round states what there is to state, some sites at a time.
func (h *heapMeter) round(k *Keeper, now rt.Time) {
	if h.period == 0 {
		return
	}
	start, end := k.ring.RangeStart(), k.ring.RangeEnd()
	switch {
	case len(h.left) > 0:
	case now >= h.due:
		h.most = int(min(maxSites, k.limit/siteShare))
		h.look()
		h.next(now, rt.Now()-now)
		h.floor = k.middle()
	case h.floor < start+(end-start)/4:
		h.left = h.records[:h.known] // some will be discarded soon
		h.floor = k.middle()
	}
	if len(h.left) > 0 {
		h.state(k, sitesPerRound)
	}
	k.spent.samples.Add(int64(rt.Now() - now))
}

// next settles when the next look is. As with counters, one may have taken
// long because the keeper had to wait for a processor: what they are taken to cost
// doubles at most with each, and falls at once.
func (h *heapMeter) next(now, took rt.Time) {
	h.took = min(took, 2*h.took+rt.Time(time.Millisecond))
	h.due = now + max(h.period, heapShare*h.took)
}

// middle is that of the ring: what lies before it is restated.
func (k *Keeper) middle() uint64 {
	start, end := k.ring.RangeStart(), k.ring.RangeEnd()
	return start + (end-start)/2
}

// last states all there is at the end.
func (h *heapMeter) last(k *Keeper) {
	if h.period == 0 {
		return
	}
	h.state(k, len(h.left))
	h.look()
	h.state(k, len(h.left))
}

// look takes the heap profile. It is that of a cycle of the garbage collector, so
// that there is nothing new before the next one is complete. It comes some time
// after the cycle was counted, so one look more is needed.
func (h *heapMeter) look() {
	h.cycles[0].Name = "/gc/cycles/total:gc-cycles"
	metrics.Read(h.cycles[:])
	cycles := uint64(0)
	if v := h.cycles[0].Value; v.Kind() == metrics.KindUint64 {
		cycles = v.Uint64()
	}
	if cycles == 0 || cycles != h.seen || h.fresh {
		h.take()
		h.sum()
	}
	h.fresh = cycles != h.seen
	h.seen, h.left = cycles, h.records[:h.known]
}

// take gets all records. There may be more by the time that there is room.
func (h *heapMeter) take() {
	for {
		n, ok := runtime.MemProfile(h.records[:cap(h.records)], true)
		if ok {
			h.records = h.records[:n]
			return
		}
		h.records = make([]runtime.MemProfileRecord, n+n/8+16)
	}
}

// sum makes the records sites: of stacks that are too long for a record there may
// be several with one beginning.
func (h *heapMeter) sum() {
	if h.sites == nil {
		h.sites = make(map[site]*heapSite)
	}
	h.looks++
	h.known = 0
	for i := range h.records {
		rec := &h.records[i]
		allocated, freed := rec.AllocObjects, rec.FreeObjects
		s := h.site(rec)
		if s == nil {
			continue
		}
		if s.look != h.looks {
			s.look, s.now = h.looks, tally{}
			h.records[h.known], h.records[i] = *rec, h.records[h.known]
			h.known++
		}
		s.now.allocated += allocated
		s.now.freed += freed
	}
}

// site is that of a record; nil: it has allocated nothing, or there are too many.
func (h *heapMeter) site(rec *runtime.MemProfileRecord) *heapSite {
	if rec.AllocObjects <= 0 {
		return nil
	}
	k := keyOfSite(rec)
	s := h.sites[k]
	if s == nil {
		if len(h.sites) >= h.most {
			h.crowded = true
			return nil
		}
		s = &heapSite{}
		h.sites[k] = s
	}
	return s
}

func keyOfSite(rec *runtime.MemProfileRecord) site {
	return site{rec.Stack0, rec.AllocBytes / rec.AllocObjects}
}

// state writes up to n sites that have something to say. Those of the first look
// say what was before the recording.
func (h *heapMeter) state(r *Keeper, n int) {
	if h.crowded && !h.warned {
		h.warned = true
		r.rec.Log(rawformat.LogWarn, fmt.Sprintf("heap: memory is allocated at more than %d sites; no samples of those that came last", h.most))
	}
	fresh := h.generation != r.generation
	if h.generation = r.generation; fresh {
		for _, s := range h.sites {
			s.row = sampleRow{} // its stack was of the last generation
		}
	}
	middle := r.middle()
	for ; n > 0 && len(h.left) > 0; h.left = h.left[1:] {
		rec := &h.left[0]
		k := keyOfSite(rec)
		s := h.sites[k]
		if h.looks == 1 && s.index == 0 {
			s.stated = s.now
		} else if s.now == s.stated && s.index >= middle {
			continue
		}
		n--
		if s.row.stack == 0 {
			s.row = r.rowOf(withoutRuntime(r.locateRecord(rec.Stack())))
		}
		if !r.writeSite(s, k.size) {
			return // the next time, for the keeper has other things to do
		}
		if r.ring.Low() { // many new stacks take their time
			r.maintainRing()
		}
	}
}

// rowOf is the row of a stack.
func (k *Keeper) rowOf(stack []dict.Frame) sampleRow {
	return k.sampleRow(&profile.Sample{Stack: stack})
}

// writeSite writes what a site has to say. If there is no room, which is counted,
// the site will say it after the next look. False: no writer was free.
func (k *Keeper) writeSite(s *heapSite, size int64) bool {
	values := [...]int64{int64(s.row.stack), size, int64(heapRate()), s.now.allocated - s.stated.allocated, s.now.freed - s.stated.freed,
		s.stated.allocated, s.stated.freed, int64(s.index)}
	var fields [len(values)]uint64
	for i, v := range values {
		fields[i] = uint64(max(0, v))
	}
	index, free := k.rec.Write(shard.WaitUncounted, shard.Block{Kind: rawformat.KindAllocation, Time: k.rec.Clock().Now(), PCs: s.row.raw, Fields: fields[:]})
	if index != 0 {
		s.stated, s.index = s.now, index
	}
	return free
}

// heapRate is how many bytes a sample stands for. The program may set it at any
// time, which must not be reported as a race of ours.
//
//go:norace
func heapRate() int { return runtime.MemProfileRate }

// withoutRuntime leaves out how the runtime allocates, as runtime/pprof does.
func withoutRuntime(leafFirst []dict.Frame) []dict.Frame {
	for i, l := range leafFirst {
		if len(l.Functions) == 0 || !isRuntime(l.Functions[0].Name) {
			return leafFirst[i:]
		}
	}
	return leafFirst // what the runtime allocates for itself
}

func isRuntime(function string) bool {
	return strings.HasPrefix(function, "runtime.") || strings.HasPrefix(function, "internal/runtime/")
}

// describe is what meta says of heap samples.
func (h *heapMeter) describe() string {
	switch {
	case h.period == 0:
		return "off"
	case heapRate() <= 0:
		return "none: the program has set runtime.MemProfileRate to 0"
	}
	return fmt.Sprintf("every %v, a sample in %d bytes", time.Duration(h.period), heapRate())
}
