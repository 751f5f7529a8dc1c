package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"gprof/chunks/folder"
	"gprof/rawformat"
)

// Member is a process that takes a slot.
type Member struct {
	Instance uint64
	Pid      uint32
	Keep     time.Duration // how long before a crash recorded data is protected, while half the limit suffices
}

// Slot is the place of this process in its session's control page. It is for one
// goroutine, the housekeeper, and for the ring of chunks that it was given to.
type Slot struct {
	c      *Control
	at     int // offset in the page
	member Member
	holder Holder // nil: none yet, or it is closed

	want     int64     // bytes of chunks for which there was no room
	crowded  bool      // because the disk is full
	room     int64     // bytes that the session held when the disk was full, 0: not known
	probed   time.Time // when dead owners were last looked for
	surveyed time.Time // when all slots were last read to make room
	strays   []uint64  // instances that may have no slot
	budget   budget    // reused
}

// Join takes a slot for m, whose directory this process has locked, see [Lock]:
// without the lock, others would take it for dead. It also does what [Slot.Balance]
// does, so that a process that dies at once, again and again, leaves no more behind
// than the session may hold. The error is [ErrSlots] when the session has no slot
// left, [ErrBusy] or [mapping.ErrCut].
func (c *Control) Join(m Member) (*Slot, error) {
	s := &Slot{c: c, member: m}
	if err := c.guard(s.enter); err != nil {
		return nil, err
	}
	// Failures from here on concern what others left, or the next Balance reports
	// them.
	c.guard(func() error {
		s.findStrays()
		return s.probe(maxProbes)
	})
	s.Balance(time.Now())
	return s, nil
}

// enter takes a slot, if need be that of the least valuable remains.
func (s *Slot) enter() error {
	err := s.c.locked(patience, s.take)
	for looked := 0; errors.Is(err, ErrSlots) && looked < rawformat.MaxSlots; looked += maxProbes {
		s.probe(maxProbes) // the next steps meet its errors again
		if err = s.c.locked(patience, s.take); errors.Is(err, ErrSlots) && s.c.evict() {
			err = s.c.locked(patience, s.take)
		}
	}
	return err
}

// maxProbes bounds how many owners are probed before taking a slot is tried again: a
// thousand processes that start at once should not probe a million times.
const maxProbes = 32

// take claims a free slot. The page is locked.
func (s *Slot) take() error {
	at, err := s.c.free()
	if err != nil {
		return err
	}
	s.at = at
	s.live()
	s.store(rawformat.OffSlotKeep, uint64(max(0, s.member.Keep)))
	s.store(rawformat.OffSlotStart, 1)
	s.store(rawformat.OffSlotEnd, 1)
	s.store(rawformat.OffSlotInstance, s.member.Instance)
	return nil
}

// live marks the owner as live.
func (s *Slot) live() {
	s.store(rawformat.OffSlotOwner, uint64(rawformat.SlotLive)<<32|uint64(s.member.Pid))
}

// free returns the offset of a free slot, whose words are 0. The page is locked.
func (c *Control) free() (at int, err error) {
	for i := range rawformat.MaxSlots {
		at := slotAt(i)
		if c.load(at+rawformat.OffSlotInstance) != 0 {
			continue
		}
		c.wipe(at)
		if i >= c.used() {
			atomic.StoreUint64(c.word(rawformat.OffControlSlots), uint64(i+1))
		}
		return at, nil
	}
	atomic.StoreUint64(c.word(rawformat.OffControlSlots), rawformat.MaxSlots) // if it was less, some slots were ignored
	return 0, fmt.Errorf("%s: %w: %d processes lie in it; record in another session", c.session, ErrSlots, rawformat.MaxSlots)
}

// wipe frees a slot. The page is locked.
func (c *Control) wipe(at int) {
	atomic.StoreUint64(c.word(at+rawformat.OffSlotInstance), 0)
	for off := 8; off < rawformat.SlotSize; off += 8 {
		atomic.StoreUint64(c.word(at+off), 0)
	}
}

func slotAt(i int) int { return rawformat.ControlHeadSize + i*rawformat.SlotSize }

// used is how many slots were ever used.
func (c *Control) used() int {
	return int(min(c.load(rawformat.OffControlSlots), rawformat.MaxSlots))
}

// slot is a snapshot of the slot at an offset.
func (c *Control) slot(at int) rawformat.Slot {
	return rawformat.MakeSlot(func(off int) uint64 { return c.load(at + off) })
}

func (s *Slot) store(off int, v uint64) { atomic.StoreUint64(s.c.word(s.at+off), v) }

func (s *Slot) load(off int) uint64 { return s.c.load(s.at + off) }

// mine reports whether the slot still belongs to this process. It doesn't if the page
// was damaged or replaced, or the directory removed.
func (s *Slot) mine() bool { return s.load(rawformat.OffSlotInstance) == s.member.Instance }

// Share is how many bytes this process may hold if all live processes hold the same.
func (s *Slot) Share() int64 {
	live := int64(1)
	s.peers(func(int, uint64) { live++ })
	return s.c.Limit() / live
}

// peers calls f with the slots of other processes that are marked as live, and their
// instances; with none if the page is cut short.
func (s *Slot) peers(f func(at int, instance uint64)) {
	s.c.guard(func() error {
		for i := range s.c.used() {
			at := slotAt(i)
			if id := s.c.load(at); at != s.at && id != 0 && s.c.kind(at) == rawformat.SlotLive {
				f(at, id)
			}
		}
		return nil
	})
}

// ShareFor is Share for a process that needs so many bytes. If its share is less, it
// first looks for peers that have died and were not found yet.
func (s *Slot) ShareFor(bytes int64) int64 {
	if share := s.Share(); share >= bytes {
		return share
	}
	s.peers(func(at int, instance uint64) { s.c.look(at, instance) }) // an error leaves the slot as it is
	return s.Share()
}

// Holder holds what a slot accounts for: a ring of chunks.
type Holder interface {
	// GiveUp discards what was done at or before a time, in ns of realtime.
	GiveUp(done int64) error
	// GiveSpares gives back room of up to so many bytes that nothing was recorded in and that is not about to be used. It
	// reports whether there was any.
	GiveSpares(bytes int64) (given bool, err error)
	// Publish enters what is held in the slot, by [Slot.Publish].
	Publish() error
}

// Bind sets the holder of what the slot accounts for; nil: there is none any more.
func (s *Slot) Bind(h Holder) { s.holder = h }

// Limit is the limit of the session, see [Control.Limit].
func (s *Slot) Limit() int64 { return s.c.Limit() }

// Want says how many bytes there was no room for. Balance asks other processes for
// them.
func (s *Slot) Want(bytes int64) { s.want = bytes }

// Obey has the holder give up what another process asked for.
func (s *Slot) Obey() error {
	return s.c.guard(func() error {
		if !s.mine() {
			return nil // a request there is for another process
		}
		done := s.load(rawformat.OffSlotRequest)
		if done == 0 || s.holder == nil {
			return nil
		}
		err := s.holder.GiveUp(int64(done))
		// The request must not stay: if the clock is set back, it would apply to what
		// is recorded from now on.
		atomic.CompareAndSwapUint64(s.c.word(s.at+rawformat.OffSlotRequest), done, 0)
		return err
	})
}

// Publish enters in the slot what the process holds.
func (s *Slot) Publish(p *rawformat.Slot) error {
	return s.c.guard(func() error {
		if s.mine() {
			s.c.publish(s.at, p)
			s.live()
		}
		return nil
	})
}

// Obeyed enters in the slot that a command was obeyed.
func (s *Slot) Obeyed(generation uint64) {
	s.c.guard(func() error { // if it cannot be written, nobody could read it
		if s.mine() {
			s.store(rawformat.OffSlotObeyed, generation)
		}
		return nil
	})
}

// Leave ends the use of the slot. The ring is closed by then, the exit record is
// written and the lock still held. The recording stays in the session's account until
// its room is needed: if its last bytes were too many, others that have ended give way now,
// since nobody may come after this process.
func (s *Slot) Leave() error {
	return s.c.guard(func() error {
		if !s.mine() {
			return nil
		}
		dir := s.c.dir(s.member.Instance)
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			return s.c.release(s.at, s.member.Instance)
		}
		err := s.c.settle(s.at, s.member.Instance)
		s.holder, s.want = nil, 0
		return errors.Join(err, s.relieve(time.Now()))
	})
}

// dir is the directory of an instance.
func (c *Control) dir(instance uint64) string {
	return filepath.Join(c.session, folder.InstanceName(instance))
}

// Grow announces that the process is going to hold that many bytes more, and reports
// whether the session has room for them. The announcement is made before the sum is
// taken: of two processes that grow at once, at least one sees the other.
func (s *Slot) Grow(bytes int64) bool {
	ok := false
	s.c.guard(func() error { // on a fault there is no room
		held := s.load(rawformat.OffSlotHeld)
		s.store(rawformat.OffSlotHeld, held+uint64(bytes))
		if ok = s.c.sum() <= s.c.Limit(); !ok {
			s.store(rawformat.OffSlotHeld, held)
		}
		return nil
	})
	return ok
}

// sum is how many bytes all instances hold.
func (c *Control) sum() (sum int64) {
	for i := range c.used() {
		if at := slotAt(i); c.load(at+rawformat.OffSlotInstance) != 0 {
			sum += int64(min(c.load(at+rawformat.OffSlotHeld), rawformat.MaxLimit))
		}
	}
	return sum
}

// raise stores v in a word unless it holds more.
func raise(w *uint64, v int64) {
	for {
		old := atomic.LoadUint64(w)
		if int64(old) >= v || atomic.CompareAndSwapUint64(w, old, uint64(v)) {
			return
		}
	}
}

// restore repairs the page if it was cut short, and takes a new slot if this process
// has lost its own.
func (s *Slot) restore() error {
	info, err := s.c.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() < rawformat.ControlSize {
		if err := s.c.heal(); err != nil {
			return err
		}
	}
	if s.mine() {
		return nil
	}
	if err := s.c.locked(patience, s.take); err != nil {
		if errors.Is(err, ErrSlots) {
			s.probe(maxProbes) // slots that belong to nobody become free for the next try
		}
		return err
	}
	s.findStrays() // others may have lost their slots, too
	if s.holder != nil {
		return s.holder.Publish()
	}
	return nil
}
