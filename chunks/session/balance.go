package session

import (
	"cmp"
	"errors"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"gprof/chunks/folder"
	"gprof/rawformat"
)

const (
	// probeEvery is how often a process checks whether the owner of one other slot
	// has died. The processes take turns at the slots, so that the cost for each of
	// them does not grow with the number of slots.
	probeEvery = 50 * time.Millisecond

	// pressed is how many slots it checks each time when room is short.
	pressed = 4

	// surveyEvery, times the number of slots, is how often a process reads all slots
	// to find out who is to give room, which costs half a microsecond a slot. Of a
	// thousand processes one still does so each millisecond.
	surveyEvery = time.Millisecond

	// rounds bounds the work of one Balance: a slot lists a few chunks at a time, and
	// reading a directory costs some milliseconds.
	rounds = 3

	// adoptions is how many directories without a slot are read at a time.
	adoptions = 4
)

// Balance does this process' part in keeping the session under its limit. The
// housekeeper calls it at each tick, beside Maintain. While there is room it costs a
// read of each slot's first words. now is the time of day.
//
//  1. The page and the slot are restored if they were damaged or replaced.
//  2. Now and then the owner of another slot is probed, and what a dead one left
//     behind is taken into account.
//  3. While the session holds more than its limit, or this process waits for room,
//     the globally oldest chunk is discarded, among owners that stay at or above
//     their guard without it.
//
// The errors are the disk's; the session goes on.
func (s *Slot) Balance(now time.Time) error {
	return s.c.guard(func() error {
		since := now.Sub(s.probed)
		due := since >= probeEvery || since < 0
		var errs error
		if due {
			s.probed = now
			errs = s.c.follow() // on an error all keep the page that they have
		}
		if err := s.restore(); err != nil {
			return errors.Join(errs, err)
		}
		if due {
			errs = errors.Join(errs, s.probe(s.looks()), s.adopt())
		}
		if since := now.Sub(s.surveyed); since >= surveyEvery*time.Duration(s.c.used()) || since < 0 {
			errs = errors.Join(errs, s.relieve(now))
		}
		return errs
	})
}

func (s *Slot) looks() int {
	if s.c.sum() > s.c.Limit() {
		return pressed
	}
	return 1
}

// probe checks the next slots of other instances, so many of them.
func (s *Slot) probe(looks int) (errs error) {
	n := s.c.used()
	for range n {
		i := atomic.AddUint64(s.c.word(rawformat.OffControlProbe), 1) % uint64(n)
		at := slotAt(int(i))
		instance := s.c.load(at + rawformat.OffSlotInstance)
		if at == s.at || instance == 0 {
			continue
		}
		errs = errors.Join(errs, s.c.look(at, instance))
		if looks--; looks <= 0 {
			break
		}
	}
	return errs
}

// findStrays lists the instances that have a directory but no slot: an earlier version
// left them, or their slot was lost.
func (s *Slot) findStrays() {
	entries, err := os.ReadDir(s.c.session)
	if err != nil {
		return // strays that cannot be seen are not adopted
	}
	known := map[uint64]bool{}
	for i := range s.c.used() {
		known[s.c.load(slotAt(i))] = true
	}
	s.strays = s.strays[:0]
	for _, e := range entries {
		if id, ok := folder.InstanceOf(e.Name()); ok && e.IsDir() && !known[id] {
			s.strays = append(s.strays, id)
		}
	}
}

// adopt gives some strays a slot.
func (s *Slot) adopt() (errs error) {
	n := min(len(s.strays), adoptions)
	for _, id := range s.strays[:n] {
		errs = errors.Join(errs, s.c.adopt(id))
	}
	s.strays = s.strays[n:]
	return errs
}

// relieve makes room: while the session holds more than its limit, or would with what
// this process waits for, the globally oldest chunk is discarded. Empty ones of this
// process go before that, unless others only wait for room.
//
// If it is this process' own, its ring discards it; another live process is asked to;
// that of a dead process is removed here. A process that waits for room and has the
// oldest chunk itself merely reuses that one.
func (s *Slot) relieve(now time.Time) (errs error) {
	limit := s.bound()
	for range rounds {
		over := s.c.sum() - limit
		if over+s.want <= 0 {
			break
		}
		s.surveyed = now
		if over > 0 && s.holder != nil {
			given, err := s.holder.GiveSpares(over)
			errs = errors.Join(errs, err)
			if given {
				continue
			}
		}
		s.c.survey(&s.budget, limit)
		s.budget.choose(s.want, s.at)
		more, err := s.collect()
		errs = errors.Join(errs, err)
		if !more {
			break
		}
	}
	return errs
}

// survey takes all slots into account.
func (c *Control) survey(b *budget, limit int64) {
	b.reset(limit)
	for i := range c.used() {
		if slot := c.slot(slotAt(i)); slot.Instance != 0 {
			b.add(slotAt(i), slot)
		}
	}
	b.protect()
}

// collect discards what was chosen, or has it discarded. More reports that something was
// removed at once, so that the next choice can be made now.
func (s *Slot) collect() (more bool, errs error) {
	for i := range s.budget.accounts {
		a := &s.budget.accounts[i]
		switch {
		case a.ask == 0:
		case a.at == s.at:
			if s.holder != nil {
				errs = errors.Join(errs, s.holder.GiveUp(a.ask))
				more = true
			}
		case a.Kind == rawformat.SlotLive:
			raise(s.c.word(a.at+rawformat.OffSlotRequest), a.ask)
		default:
			errs = errors.Join(errs, s.c.trim(a))
			more = true
		}
	}
	return more, errs
}

// publish enters in a slot what its owner holds. The bytes are stored first: a process
// that reads the slot in between counts too little for a moment, and makes no request
// in vain.
func (c *Control) publish(at int, s *rawformat.Slot) {
	store := func(off int, v uint64) { atomic.StoreUint64(c.word(at+off), v) }
	store(rawformat.OffSlotHeld, uint64(s.Held))
	store(rawformat.OffSlotChunk, uint64(s.Chunk))
	for i, t := range s.Oldest {
		store(rawformat.OffSlotOldest+8*i, uint64(t))
	}
	store(rawformat.OffSlotReleased, uint64(s.Released))
	store(rawformat.OffSlotStart, s.Start)
	store(rawformat.OffSlotEnd, s.End)
	store(rawformat.OffSlotDiscarded, s.Discarded)
}

// diskFull reports whether an error means that there is no room on the disk.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// Crowded takes the outcome of making a file, and reports whether it failed because the
// disk is full. As long as it does, what the session held at first counts as its limit.
func (s *Slot) Crowded(err error) bool {
	if s.crowded = diskFull(err); !s.crowded {
		s.room = 0
	}
	return s.crowded
}

// ClearDisk makes room for so many bytes if the error is that the disk is full: it
// removes what others left behind, the oldest first, as if the session's limit were what
// it holds now. It reports whether another try is worthwhile.
func (s *Slot) ClearDisk(err error, bytes int64) bool {
	if !diskFull(err) {
		return false
	}
	before := s.want
	defer func() { s.want = before }()
	s.want, s.crowded, s.room = bytes, true, 0
	freed := false
	s.c.guard(func() error { // on a fault nothing is removed
		held := s.c.sum()
		s.relieve(time.Now()) // an error leaves the disk as it is
		freed = s.c.sum() < held
		return nil
	})
	return freed
}

// bound is how many bytes the session may hold: its limit, or what it held when the disk
// turned out to be full. Other programs may take the space that becomes free then. As
// the bound stays, no more of what the dead left is removed in vain.
func (s *Slot) bound() int64 {
	limit := s.c.Limit()
	if !s.crowded || s.want == 0 {
		return limit
	}
	s.room = cmp.Or(s.room, s.c.sum())
	return min(limit, s.room)
}
