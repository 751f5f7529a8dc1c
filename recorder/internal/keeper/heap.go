package keeper

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"time"

	"gprof/rawformat"
	"gprof/recorder/internal/backlog"
	"gprof/recorder/internal/counters"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

const (
	// maxSites bounds the memory for sites, about 700 bytes each. A large service has
	// some thousands.
	maxSites = 8192
	// siteShare is how many bytes of the limit there must be for each site, which takes
	// some 25 bytes in each half of the ring.
	siteShare = 1024
	// sitesPerRound is how many sites are written before the keeper looks after the ring
	// again. A new stack takes up to 20 µs.
	sitesPerRound = 128
	// heapShare bounds the cost of reading the heap profile: the next reading is this many
	// times as far away as the last one took of CPU time.
	heapShare = 1000
)

// heapMeter writes what the runtime's heap profile says. It belongs to the keeper.
type heapMeter struct {
	period     rt.Time    // 0: never
	begun      rt.Time    // the last reading
	took       [2]rt.Time // estimates of the CPU time that a reading takes, with writing what is known
	samples    [2]metrics.Sample
	seen       uint64 // how many cycles of the garbage collector there were at the last reading
	changed    bool   // seen had changed then
	looks      int
	records    []runtime.MemProfileRecord
	buckets    []backlog.Bucket // nil: the last reading is in records
	placed     []*heapSite      // of the first buckets, by their places; nil: none yet
	sites      map[site]*heapSite
	order      []*heapSite // all sites
	left       []*heapSite // those that have not been looked at yet
	generation uint16      // of the dictionary that has the stacks of sites
	floor      uint64      // no site's last block lies below this index
	most       int         // how many sites there may be
	crowded    bool        // there are more
	warned     bool        // that has been logged

	near    nearness
	picture picture
}

// Readings are of records or, near a limit, of the buckets that records are made of, which takes a tenth of the time.
const (
	ofRecords = iota
	ofBuckets
)

// site is a place where objects of one size are allocated.
type site struct {
	stack [32]uintptr // as in a MemProfileRecord
	size  int64
}

// tally counts objects that were sampled.
type tally struct{ allocated, freed int64 }

func (t tally) inUse() int64 { return t.allocated - t.freed }

// heapSite is what is known about a site.
type heapSite struct {
	now, stated tally // counted, and written
	size        int64
	at          int    // where the last reading has its stack
	look        int    // the reading that now comes from
	index       uint64 // of the last block written, 0 none
	row         sampleRow
}

// round writes what is new, a limited number of sites at a time.
func (h *heapMeter) round(k *Keeper, now rt.Time) {
	if h.period == 0 {
		return
	}
	w := k.watch()
	start, end := k.ring.RangeStart(), k.ring.RangeEnd()
	switch {
	case len(h.left) > 0:
	case h.looks == 0 || now >= h.due():
		h.most = int(min(maxSites, k.limit/siteShare))
		h.begin(k, now)
		h.floor = k.middle()
	case h.floor < start+(end-start)/4:
		h.left = h.order // some of their blocks will be discarded soon
		h.floor = k.middle()
	}
	if len(h.left) > 0 {
		h.picture.cost += costOf(func() { h.state(k, h.picture.sites()) })
		if len(h.left) == 0 {
			h.picture.end(k, h)
		}
	}
	w.spent(&k.spent.samples)
}

// costOf is what some work takes; where that can't be known, the time until it is done.
func costOf(work func()) rt.Time {
	begun := rt.Now()
	if cpu := counters.Measure(work); cpu > 0 {
		return rt.Time(cpu)
	}
	return rt.Now() - begun
}

// begin reads the heap profile.
func (h *heapMeter) begin(k *Keeper, now rt.Time) {
	h.learn(h.picture.cost - h.picture.fresh)
	h.begun = now
	h.picture.begin(k, h)
	h.picture.cost = costOf(h.look)
}

// learn takes what the last reading took. A single one may have taken long because memory was scarce, or
// because its time is that of waiting for a processor. So the estimate of the cost at most doubles each
// time, and falls at once.
func (h *heapMeter) learn(took rt.Time) {
	estimate := h.estimate()
	*estimate = min(took, 2**estimate+rt.Time(time.Millisecond))
}

// estimate is what a reading of the last one's kind takes.
func (h *heapMeter) estimate() *rt.Time {
	if h.buckets != nil {
		return &h.took[ofBuckets]
	}
	return &h.took[ofRecords]
}

// due is when the next reading is due.
func (h *heapMeter) due() rt.Time {
	every := h.near.every(h.period)
	switch {
	case every == h.period:
		return h.begun + max(every, heapShare*h.took[ofRecords])
	case h.picture.near && h.buckets == nil: // they can't be read
		return h.begun + max(every, nearShare*h.took[ofRecords])
	}
	return h.begun + max(every, nearShare*h.took[ofBuckets])
}

// middle is the index in the middle of the ring: values that lie before it are restated.
func (k *Keeper) middle() uint64 {
	start, end := k.ring.RangeStart(), k.ring.RangeEnd()
	return start + (end-start)/2
}

// last writes everything, at the end.
func (h *heapMeter) last(k *Keeper) {
	if h.period == 0 {
		return
	}
	h.state(k, len(h.left))
	h.picture.near, h.picture.close = false, false
	h.look()
	h.state(k, len(h.left))
}

// What a reading asks of the runtime's metrics.
const (
	sampleCycles = iota
	sampleHeap
)

// look reads the heap profile. That changes only with a cycle of the garbage collector, so
// there is nothing new before the next cycle is complete. The runtime publishes the change
// some time after the cycle was counted, so each cycle needs one more reading. A close picture
// has what is not published, too, and that changes all the time.
func (h *heapMeter) look() {
	h.samples[sampleCycles].Name, h.samples[sampleHeap].Name = "/gc/cycles/total:gc-cycles", "/memory/classes/heap/objects:bytes"
	metrics.Read(h.samples[:])
	cycles := value(&h.samples[sampleCycles])
	if cycles == 0 || cycles != h.seen || h.changed || h.picture.near {
		h.sum()
	}
	h.changed = cycles != h.seen
	h.seen, h.left = cycles, h.order
}

// value is that of a metric, 0 if this version of Go lacks it.
func value(s *metrics.Sample) uint64 {
	if s.Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return s.Value.Uint64()
}

// take gets all records. There may be more of them by the time there is room.
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

// sum reads what was counted, and adds it up for each site: stacks that are too long for a record may have
// several that begin alike.
func (h *heapMeter) sum() {
	if h.sites == nil {
		h.sites = make(map[site]*heapSite)
	}
	h.looks++
	h.picture.published, h.picture.explained = 0, 0
	if h.picture.near && h.picture.read(h) {
		h.sumBuckets()
	} else {
		h.sumRecords()
	}
	for _, s := range h.order { // a close picture had what is published later
		s.now = tally{max(s.now.allocated, s.stated.allocated), max(s.now.freed, s.stated.freed)}
	}
}

func (h *heapMeter) sumRecords() {
	h.buckets, h.placed = nil, nil
	h.take()
	rate := heapRate()
	for i := range h.records {
		rec, n := &h.records[i], tally{h.records[i].AllocObjects, h.records[i].FreeObjects}
		if n.allocated == 0 {
			continue
		}
		if s := h.site(site{rec.Stack0, rec.AllocBytes / rec.AllocObjects}); s != nil {
			h.add(s, i, n)
			h.picture.count(s.size, rate, n, n)
		}
	}
}

func (h *heapMeter) sumBuckets() {
	rate := heapRate()
	for i := range h.buckets {
		b := &h.buckets[i]
		all := tallyOf(b.All())
		if all.allocated == 0 {
			continue // it is being made
		}
		s := h.placed[i]
		if s == nil {
			if s = h.site(site{b.Stack(), b.Size()}); s == nil {
				continue
			}
			h.placed[i] = s
		}
		published := tallyOf(b.Published())
		h.picture.count(s.size, rate, published, all)
		if !h.picture.close {
			all = published
		}
		h.add(s, i, all)
	}
}

func tallyOf(allocated, freed int64) tally { return tally{allocated, freed} }

// add adds to what is counted at a site.
func (h *heapMeter) add(s *heapSite, at int, n tally) {
	if s.look != h.looks {
		s.look, s.at, s.now = h.looks, at, tally{}
	}
	s.now.allocated += n.allocated
	s.now.freed += n.freed
}

// site is the site with that key; nil: there are too many.
func (h *heapMeter) site(k site) *heapSite {
	s := h.sites[k]
	if s == nil {
		if len(h.sites) >= h.most {
			h.crowded = true
			return nil
		}
		s = &heapSite{size: k.size}
		h.sites[k], h.order = s, append(h.order, s)
	}
	return s
}

// stack is that of a site.
func (h *heapMeter) stack(s *heapSite) []uintptr {
	var rec runtime.MemProfileRecord
	if h.buckets != nil {
		rec.Stack0 = h.buckets[s.at].Stack()
	} else {
		rec.Stack0 = h.records[s.at].Stack0
	}
	return rec.Stack()
}

// state writes up to n sites that have something new. Memory that the first reading
// finds was allocated before the recording.
func (h *heapMeter) state(r *Keeper, n int) {
	if h.crowded && !h.warned {
		h.warned = true
		r.rec.Log(rawformat.LogWarn, fmt.Sprintf("heap: memory is allocated at more than %d sites; no samples of those that came last", h.most))
	}
	fresh := h.generation != r.generation
	if h.generation = r.generation; fresh {
		for _, s := range h.order {
			s.row = sampleRow{} // its stack belongs to the last generation
		}
	}
	middle := r.middle()
	for ; n > 0 && len(h.left) > 0; h.left = h.left[1:] {
		s := h.left[0]
		if s.look != h.looks { // only a close picture had it, and it is not published
			continue
		}
		if h.looks == 1 && s.index == 0 {
			s.stated = s.now
		} else if s.index >= middle && (s.now == s.stated || h.picture.close && s.now.inUse() == s.stated.inUse()) {
			continue
		}
		n--
		if s.row.stack == 0 && !s.row.unwanted {
			h.picture.fresh += costOf(func() { s.row = r.rowOf(withoutRuntime(r.locateRecord(h.stack(s), maxPublic))) })
		}
		if !s.row.unwanted && !r.writeSite(s) {
			return // try again next time; the keeper has other work
		}
		if r.ring.Low() { // many new stacks take a while
			r.maintainRing()
		}
	}
}

// writeSite writes the counts of a site. If there is no room, which is counted, the site is
// written after the next reading. False: no writer was free.
func (k *Keeper) writeSite(s *heapSite) bool {
	values := [...]int64{int64(s.row.stack), s.size, int64(heapRate()), s.now.allocated - s.stated.allocated, s.now.freed - s.stated.freed,
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

// heapRate is how many bytes a sample stands for. The program may set the variable at any
// time, which must not be reported as a race in the recorder.
//
//go:norace
func heapRate() int { return runtime.MemProfileRate }

// describe is the text for meta about heap samples.
func (h *heapMeter) describe() string {
	switch {
	case h.period == 0:
		return "off"
	case heapRate() <= 0:
		return "none: the program has set runtime.MemProfileRate to 0"
	}
	return fmt.Sprintf("every %v, a sample in %d bytes", time.Duration(h.period), heapRate())
}
