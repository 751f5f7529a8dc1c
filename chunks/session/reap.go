package session

import (
	"cmp"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/rawformat"
)

// look finds out whether the owner of a slot has died, and takes what it left into
// account.
func (c *Control) look(at int, instance uint64) error {
	dir := c.dir(instance)
	if c.kind(at) != rawformat.SlotLive {
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
			return c.release(at, instance)
		}
		if c.load(at+rawformat.OffSlotRequest) == 0 {
			return nil
		} // else a process that removed some of it was killed before it updated the slot
	}
	return c.withClaim(at, instance, c.settle)
}

func (c *Control) kind(at int) rawformat.SlotKind {
	return rawformat.SlotKind(c.load(at+rawformat.OffSlotOwner) >> 32)
}

// withClaim runs f while this process owns the slot and the directory of a dead
// instance. It does nothing if the instance lives. If the directory is gone, it frees
// the slot.
func (c *Control) withClaim(at int, instance uint64, f func(at int, instance uint64) error) error {
	take := claimDead
	if c.kind(at) == rawformat.SlotLive {
		take = claim
	}
	lock, err := take(c.dir(instance))
	switch {
	case errors.Is(err, folder.ErrLocked):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return c.release(at, instance)
	case err != nil:
		return err
	}
	defer lock.Close()
	if c.load(at+rawformat.OffSlotInstance) != instance {
		return nil
	}
	return f(at, instance)
}

// release frees a slot whose directory is gone, but not now if another process has
// locked the page.
func (c *Control) release(at int, instance uint64) error {
	err := c.locked(0, func() error {
		if c.load(at+rawformat.OffSlotInstance) == instance {
			c.wipe(at)
		}
		return nil
	})
	if errors.Is(err, ErrBusy) {
		return nil
	}
	return err
}

// settle takes into account what an instance left that has ended, and writes its exit
// record if it has none. This process owns slot and directory. If the instance was found
// dead and recorded nothing, nothing of it is kept.
func (c *Control) settle(at int, instance uint64) error {
	r, err := openRemains(c.dir(instance))
	if errors.Is(err, chunks.ErrNoRecording) || err == nil && r.empty() {
		if err := erase(c.dir(instance)); err != nil {
			return err
		}
		return c.release(at, instance)
	}
	if err != nil {
		return err
	}
	err = errors.Join(r.conclude(c.session, c.slot(at)), r.sweep())
	c.bequeath(at, r)
	return err
}

// bequeath enters in a slot what remains of its owner.
func (c *Control) bequeath(at int, r *remains) {
	keep := time.Duration(c.load(at + rawformat.OffSlotKeep))
	s := r.account(keep)
	c.publish(at, &s)
	store := func(off int, v uint64) { atomic.StoreUint64(c.word(at+off), v) }
	store(rawformat.OffSlotEnded, uint64(s.Ended))
	if s.Kind == rawformat.SlotChild {
		store(rawformat.OffSlotParent, s.Parent)
		store(rawformat.OffSlotMark, s.Mark)
	} else {
		store(rawformat.OffSlotGuarded, uint64(s.Guarded))
	}
	store(rawformat.OffSlotRequest, 0)
	store(rawformat.OffSlotOwner, uint64(s.Kind)<<32|uint64(r.p.Pid))
}

// trim removes the chunks of a dead instance that were asked for, down to its guard.
// When no chunk remains, the instance becomes a tomb.
func (c *Control) trim(a *account) error {
	return c.withClaim(a.at, a.Instance, func(at int, instance uint64) error {
		r, err := openRemains(c.dir(instance))
		if err != nil && !errors.Is(err, chunks.ErrNoRecording) {
			return err
		}
		if err == nil {
			// It has an exit record already, unless the disk was full.
			r.conclude(c.session, c.slot(at))
			// The request stays until bequeath, see look.
			atomic.StoreUint64(c.word(at+rawformat.OffSlotRequest), uint64(max(1, a.ask)))
			if err := r.discard(a.ask, a.guard); err != nil {
				return err
			}
			if len(r.chunks) > 0 {
				c.bequeath(at, r)
				return nil
			}
			if err := r.entomb(a.why); err != nil {
				return err
			}
		} else if err := erase(c.dir(instance)); err != nil {
			return err
		}
		return c.release(at, instance)
	})
}

// adopt gives the remains of an instance a slot if it has none and is dead. A directory
// without a lock that has just been made is about to be locked.
func (c *Control) adopt(instance uint64) error {
	dir := c.dir(instance)
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return nil // it has gone meanwhile
	}
	if isTomb(dir) {
		return nil
	}
	_, err = os.Lstat(filepath.Join(dir, chunks.LockName))
	if errors.Is(err, fs.ErrNotExist) && time.Since(info.ModTime()) < time.Minute {
		return nil
	}
	lock, err := claimDead(dir)
	if errors.Is(err, folder.ErrLocked) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	if entries, err := os.ReadDir(dir); err == nil && len(entries) == 1 { // just the lock: it was killed when it had hardly begun
		return erase(dir)
	}
	at, err := c.register(dir, instance)
	if err != nil || at == 0 {
		return err
	}
	return c.settle(at, instance)
}

// register takes a slot for an instance that is dead; 0 if it has one.
func (c *Control) register(dir string, instance uint64) (at int, err error) {
	r, err := openRemains(dir)
	if err != nil {
		return 0, nil // not ours, or unreadable: it stays as it is
	}
	err = c.locked(patience, func() error {
		for i := range c.used() {
			if c.load(slotAt(i)) == instance {
				return nil
			}
		}
		if at, err = c.free(); err != nil {
			return err
		}
		atomic.StoreUint64(c.word(at+rawformat.OffSlotOwner), uint64(rawformat.SlotLive)<<32|uint64(r.p.Pid))
		atomic.StoreUint64(c.word(at+rawformat.OffSlotKeep), uint64(r.keep()))
		atomic.StoreUint64(c.word(at+rawformat.OffSlotInstance), instance)
		return nil
	})
	return at, err
}

// evict removes the least valuable remains, see [account.rank]: the oldest of those that
// have expired, else without a guard, else of children. It reports false if there are none.
func (c *Control) evict() bool {
	var b budget
	c.survey(&b, c.Limit())
	var worst *account
	for i := range b.accounts {
		a := &b.accounts[i]
		if a.Kind == rawformat.SlotLive || a.worthy {
			continue
		}
		if worst == nil || cmp.Or(cmp.Compare(a.rank(), worst.rank()), crashOrder(a, worst)) < 0 {
			worst = a
		}
	}
	if worst == nil {
		return false
	}
	worst.ask, worst.guard = math.MaxInt64, 0
	return c.trim(worst) == nil
}
