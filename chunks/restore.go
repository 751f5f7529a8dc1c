package chunks

import (
	"errors"
	"io/fs"
	"sync/atomic"

	"gprof/chunks/folder"
	"gprof/chunks/mapping"
	"gprof/rawformat"
)

// restore sees to it that the page is whole, and that the slot is this process'.
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
			s.probe(maxProbes) // what belongs to nobody makes room for the next try
		}
		return err
	}
	s.findStrays() // others may have lost their slots, too
	if s.ring != nil {
		return s.ring.Publish()
	}
	return nil
}

// heal makes a page whole that was cut short.
func (c *Control) heal() error {
	if err := c.locked(patience, c.repair); err != nil {
		return err
	}
	c.remind()
	return nil
}

// follow goes over to the page that bears the name now, if somebody removed the
// one in use or put another in its place: who starts from now on uses that one,
// and they must know of each other. The mapping stays where it is, because other
// goroutines may be using it.
func (c *Control) follow() error {
	if mapping.MappedKeepsName {
		return nil
	}
	if err := sameFile(c.file, c.path()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := openControlFile(c.path(), false)
	if err != nil {
		return err
	}
	next := &Control{session: c.session, file: f}
	if err = folder.CheckControl(f); err == nil {
		err = next.makeWhole()
	}
	if err == nil {
		err = mapping.RemapFile(f, c.mem)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	c.mu.Lock()
	c.file, f = f, c.file
	c.mu.Unlock()
	c.remind()
	return f.Close()
}

// remind says in a page that lost it what the session was told last.
func (c *Control) remind() {
	atomic.CompareAndSwapUint64(c.word(rawformat.OffControlLimit), 0, uint64(c.limit.Load()))
	raise(c.word(rawformat.OffControlCommand), int64(c.command.Load()))
}
