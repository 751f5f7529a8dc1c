package recorder

import (
	"fmt"
	"sync/atomic"
	"time"

	"gprof/rawformat"
)

// How often the housekeeper does what.
const (
	tick          = 100 * time.Millisecond
	overheadEvery = time.Second
	anchorEvery   = 10 * time.Second // also looks for new mappings and threads
)

// chores is what the housekeeper does besides the ring's upkeep, when it is due.
type chores struct{ counters, overhead, anchor Time }

// spent is the recorder's own cost since it was last written, in ns.
type spent struct{ clean, counters, threads, samples atomic.Int64 }

// keepHouse runs until Stop.
func (r *Recorder) keepHouse() {
	t := time.NewTicker(tick)
	defer t.Stop()
	var due chores
	for {
		r.maintain()
		r.work(&due)
		select {
		case <-r.quit:
			return
		case <-r.wake:
		case <-t.C:
		}
	}
}

// learnModules defines what the process has mapped at the start. It is done
// beside the housekeeper: hashing a large executable may take a while. Frames
// wait for it.
func (r *Recorder) learnModules() {
	defer close(r.mapped)
	r.dict.learn()
}

// isMapped reports whether frames can be defined.
func (r *Recorder) isMapped() bool {
	select {
	case <-r.mapped:
		return true
	default:
		return false
	}
}

// fail ends the recording; what was recorded stays. Stop still has to be called.
func (r *Recorder) fail(err error) {
	r.failure.CompareAndSwap(nil, &err)
	recording.CompareAndSwap(r, nil)
}

// maintain prepares and seals chunks, and writes what was lost.
func (r *Recorder) maintain() {
	before := Now()
	r.attend()
	r.maintainRing()
	r.releaseLaggards()
	if !r.resting { // else Stop or the next round writes them
		r.writeLosses()
	}
	r.spent.clean.Add(int64(Now() - before))
}

func (r *Recorder) maintainRing() { r.complain("ring", r.ring.Maintain()) }

// complain logs the first error of the disk's, which is full, say. The ring
// goes on with the chunks that it has.
func (r *Recorder) complain(what string, err error) {
	if err != nil && !r.complained {
		r.complained = true
		r.log(rawformat.LogWarn, fmt.Sprintf("%s: %v", what, err))
	}
}

func (r *Recorder) work(due *chores) {
	if r.paused.Load() {
		r.sampler.rest()
		return
	}
	if r.isMapped() {
		r.internStacks()
		r.sampler.round(r)
	}
	now := Now()
	if r.counterPeriod > 0 && now >= due.counters {
		// Regular, without catching up on what was missed.
		due.counters = now - now%r.counterPeriod + r.counterPeriod
		r.sampleCounters()
		r.spent.counters.Add(int64(Now() - now))
	}
	if now >= due.anchor {
		due.anchor = now + Time(anchorEvery)
		if r.isMapped() {
			r.dict.learn()
		}
		before := Now()
		if r.counterPeriod > 0 {
			r.probeThreads()
		}
		r.spent.threads.Add(int64(Now() - before))
		r.writeAnchor()
	}
	if now >= due.overhead {
		due.overhead = now + Time(overheadEvery)
		r.writeOverhead()
	}
}

// releaseLaggards takes chunks away from writers that have been idle while
// others filled half the ring: else the oldest data could never be discarded.
// While the ring rests all chunks are taken.
func (r *Recorder) releaseLaggards() {
	end := r.ring.RangeEnd()
	for i := range r.shards {
		s := &r.shards[i]
		if !r.lags(s, end) || atomic.SwapUint32(&s.lock, 1) != 0 {
			continue
		}
		if r.lags(s, end) {
			r.retire(s)
		}
		releaseLock(&s.lock)
	}
}

func (r *Recorder) lags(s *shard, end uint64) bool {
	start := s.lag.Load()
	return start != 0 && (r.resting || end-start > uint64(r.limit)/2)
}

// loss counts what was dropped for one reason.
type loss struct{ count, bytes atomic.Uint64 }

// writeLosses writes what was lost since the last time. What can't be written
// now is written later; that is no loss.
func (r *Recorder) writeLosses() {
	if !r.hasLost() {
		return
	}
	if s := r.acquireAny(); s != nil {
		r.writeLossesTo(s)
		releaseLock(&s.lock)
	}
}

func (r *Recorder) hasLost() bool {
	for why := range r.lost {
		if r.lost[why].count.Load() != r.told[why].count {
			return true
		}
	}
	return false
}

// writeLossesTo is writeLosses to a shard that is locked, and stays so.
func (r *Recorder) writeLossesTo(s *shard) {
	for why := range r.lost {
		count := r.lost[why].count.Load()
		bytes := r.lost[why].bytes.Load()
		told := &r.told[why]
		if count == told.count {
			continue
		}
		now := Now()
		if !r.prepare(s, 64, 0, now) {
			return
		}
		b := s.time(s.begin(rawformat.KindLost), now)
		for _, v := range [...]uint64{uint64(why), count - told.count, bytes - told.bytes} {
			b = rawformat.AppendUint(b, v)
		}
		s.finish(b)
		told.count, told.bytes = count, bytes
	}
}

// writeAnchor ties the clocks together, for readers that interpolate.
func (r *Recorder) writeAnchor() {
	now := Now()
	a := r.anchor()
	r.entry(rawformat.KindAnchor, now, a.TSC, a.Monotonic, rawformat.Zigzag(a.Realtime), boottime())
}

// anchor reads the clocks. time.Now reads both at once.
func (r *Recorder) anchor() rawformat.Anchor {
	now := time.Now()
	return rawformat.Anchor{Monotonic: r.monotonic + uint64(now.Sub(base)), Realtime: now.UnixNano()}
}

func (r *Recorder) writeOverhead() {
	take := func(n *atomic.Int64) uint64 { return uint64(n.Swap(0)) }
	r.entry(rawformat.KindOverhead, Now(), 0, take(&r.spent.clean), take(&r.spent.counters), take(&r.spent.threads), take(&r.spent.samples))
}

// wakeKeeper never blocks: one note is enough.
func (r *Recorder) wakeKeeper() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}
