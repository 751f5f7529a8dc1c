package recorder

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"gprof/rawformat"
)

// How often the housekeeper does what.
const (
	round         = 100 * time.Millisecond
	quickRound    = time.Millisecond // while writers take chunks
	overheadEvery = time.Second
	anchorEvery   = time.Second      // so that what the clocks drift apart in between is some ns
	learnEvery    = 10 * time.Second // new mappings and threads
)

// chores is what the housekeeper does besides the ring's upkeep, when it is due.
type chores struct{ counters, overhead, anchor, learn Time }

// spent is the recorder's own cost since it was last written, in ns, and how many
// samples it took (what it dropped is told by blocks of their own). It is the time that passed: where the housekeeper had to wait for
// a processor, it is more than what was used, which is the counter "recorder CPU".
type spent struct {
	clean, counters, threads, samples atomic.Int64 // ns
	taken                             atomic.Int64
}

// keepHouse runs until Stop. It has a thread of its own, and comes by itself often
// enough as a rule; a writer wakes it when the ring may still grow and the chunks
// that were prepared run out.
func (r *Recorder) keepHouse() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var due chores
	var pace pace
	for {
		r.maintain()
		r.work(&due)
		r.drain()
		r.lookAfterEarly()
		select {
		case <-r.quit:
			r.workLast()
			return
		default:
		}
		r.nap.sleep(min(pace.next(r.ring.RangeEnd(), burst/16), r.sampler.longestSleep()))
	}
}

// workLast states how things are at the end.
func (r *Recorder) workLast() {
	if r.paused.Load() {
		return
	}
	if r.isMapped() {
		r.heap.last(r)
	}
	if r.counterPeriod > 0 {
		r.meter.last(r)
	}
}

// lookAfterEarly takes over markers that were on their way when the recorder was
// started. After a second none should be; one that is finds all shards taken, and is
// counted as lost, however long it was away.
func (r *Recorder) lookAfterEarly() {
	if r.early == nil {
		return
	}
	if Now()-r.begun > Time(time.Second) {
		r.disinherit()
	}
	r.inherit()
}

// pace is how long the housekeeper sleeps. Spare chunks must be there when writers
// want them: it comes the sooner the faster they are taken.
type pace struct {
	sleep time.Duration
	end   uint64 // of the ring's range, last time
}

// next is the time until the next round, given the end of the ring's range and
// how many bytes of it are much for one round.
func (p *pace) next(end, much uint64) time.Duration {
	written := end - p.end
	switch p.end = end; {
	case p.sleep == 0 || written > much:
		p.sleep = max(p.sleep/8, quickRound)
	case written == 0:
		p.sleep = min(2*p.sleep, round)
	}
	return min(p.sleep, round-time.Duration(Now())%round) // counters come at even times
}

// learnModules defines what the process has mapped at the start. It is done
// beside the housekeeper: hashing a large executable may take a while. Frames
// wait for it.
func (r *Recorder) learnModules() {
	defer close(r.mapped)
	r.dict.learn()
}

// learnAgain defines what was mapped since, also beside the housekeeper.
func (r *Recorder) learnAgain() {
	if r.isMapped() && r.learning.CompareAndSwap(false, true) {
		r.employ(func() {
			defer r.learning.Store(false)
			r.dict.learn()
		})
	}
}

// nextAnchor is when the clocks are read next: soon in the beginning, because of a
// program that is killed early there is no later anchor either.
func (r *Recorder) nextAnchor(now Time) Time {
	return now + min(max(now-r.begun, Time(quickRound)), Time(anchorEvery))
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
	r.replaceCut()
	r.maintainRing()
	r.releaseLaggards()
	r.turnDictionary()
	if !r.resting { // else Stop or the next round writes them
		r.writeLosses()
	}
	r.spent.clean.Add(int64(Now() - before))
}

func (r *Recorder) maintainRing() { r.complain("ring", r.ring.Maintain()) }

// complain logs the first error of the disk's, which is full, say. The ring
// goes on with the chunks that it has.
func (r *Recorder) complain(what string, err error) {
	if err == nil {
		return
	}
	r.trouble.Store(&trouble{fmt.Errorf("%s: %w", what, err), Now()})
	if !r.complained {
		r.complained = true
		r.log(rawformat.LogWarn, fmt.Sprintf("%s: %v", what, err))
	}
}

// leaveCounter does what is to be done once the counter has jumped.
func (r *Recorder) leaveCounter() {
	if r.slowed || !r.clock.jumped() {
		return
	}
	r.slowed = true
	r.sampler.leaveCounter(r)
	r.log(rawformat.LogWarn, "the processor's counter has jumped: times of the last second may be wrong; from now on the monotonic clock is read")
}

// sampleThreads drains what threads have sampled, or stops their timers.
func (r *Recorder) sampleThreads() {
	if r.samples() {
		r.sampler.round(r)
	} else {
		r.sampler.rest(r)
	}
}

func (r *Recorder) work(due *chores) {
	r.leaveCounter()
	if r.paused.Load() {
		r.waits.last = 0 // nobody knows what waited meanwhile
		r.meter.rest()
		r.sampler.rest(r)
		return
	}
	if r.isMapped() {
		r.internStacks()
		r.sampleThreads()
		r.heap.round(r, Now())
		r.waits.round(r, Now())
	}
	r.pages.round(r)
	now := Now()
	defer r.hook.round(now)
	if r.counterPeriod > 0 && now >= due.counters {
		// Regular, without catching up on what was missed.
		due.counters = now - now%r.counterPeriod + r.counterPeriod
		r.meter.round(r, now)
		r.spent.counters.Add(int64(Now() - now))
	}
	if now >= due.anchor {
		due.anchor = r.nextAnchor(now)
		r.writeAnchor()
	}
	if now >= due.learn {
		due.learn = now + Time(learnEvery)
		r.learnAgain()
		before := Now()
		if r.counterPeriod > 0 {
			r.meter.attend()
		}
		r.spent.threads.Add(int64(Now() - before))
	}
	if now >= due.overhead {
		due.overhead = now + Time(overheadEvery)
		r.dict.inspect()
		r.complain("directory", r.lookForDir())
		r.writeOverhead()
	}
}

// releaseLaggards takes chunks away from writers that have been idle while
// others filled half the ring: else the oldest data could never be discarded.
// While the ring rests all chunks are taken, and so they are when a writer has found
// none: where a session leaves a process few, idle writers may have them all.
func (r *Recorder) releaseLaggards() {
	end, most := r.ring.RangeEnd(), uint64(r.limit)/2
	if r.resting || r.starving.Swap(false) && r.ring.Starved() {
		most = 0
	}
	for i := range r.shards {
		s := &r.shards[i]
		if !r.lags(s, end, most) || !r.claim(s) {
			continue
		}
		if r.lags(s, end, most) {
			r.retire(s)
		}
		disclaim(s)
	}
}

// lags reports whether so much more than most was handed out since the shard got
// its chunk.
func (r *Recorder) lags(s *shard, end, most uint64) bool {
	start := s.lag.Load()
	return start != 0 && s.generation == r.generation && // else it is about to be turned
		end-start > most
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
		leave(s)
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
		now := r.clock.now()
		if !r.prepare(s, 64, s.who(), now) {
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

// writeAnchor ties the clocks together, for readers that interpolate. They look
// for it in the last shard's chunks, see [rawformat.FlagAnchors]; if that is taken,
// the next one will do.
func (r *Recorder) writeAnchor() {
	r.clock.note()
	s := &r.shards[len(r.shards)-1]
	if s.generation != r.generation || !r.claim(s) {
		return
	}
	a := r.clock.anchor()
	r.put(s, rawformat.KindAnchor, 0, r.clock.now(), a.TSC, a.Monotonic, rawformat.Zigzag(a.Realtime), boottime())
}

func (r *Recorder) writeOverhead() {
	take := func(n *atomic.Int64) uint64 { return uint64(n.Swap(0)) }
	r.entry(rawformat.KindOverhead, r.clock.now(), 0, take(&r.spent.clean), take(&r.spent.counters), take(&r.spent.threads)+take(&r.spent.samples), take(&r.spent.taken))
}
