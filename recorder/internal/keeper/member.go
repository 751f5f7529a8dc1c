package keeper

import (
	"errors"
	"fmt"
	"gprof/chunks/ring"
	"os"
	"time"

	"gprof/chunks/folder"
	"gprof/chunks/session"
	"gprof/rawformat"
)

// membership is what ties this process to the others of its session: a slot in
// the control page. Without one it records by itself.
type membership struct {
	control *session.Control // nil: alone
	slot    *session.Slot    // nil: alone
	alone   error            // why there is no slot
	obeyed  uint64           // generation of the last command that was obeyed
}

// join takes a slot in the session. That there is none left is an error: the
// limit is the session's, and this process has no part in it. So is one that somebody
// else could change who should not. Another control page
// that can't be used is none: then this process has a limit of its own.
func (m *membership) join(c *Config, instance uint64) error {
	if c.Session == "" {
		m.alone = c.Alone
		return nil
	}
	m.alone = m.open(c, instance)
	if errors.Is(m.alone, session.ErrSlots) || errors.Is(m.alone, folder.ErrForeign) {
		return m.alone
	}
	if m.control != nil {
		c.Limit = m.control.Limit()
	}
	return nil
}

func (m *membership) open(c *Config, instance uint64) error {
	control, err := session.Open(c.Session, session.Options{Limit: c.Limit, LimitAsked: c.Asked})
	if err != nil {
		return err
	}
	slot, err := control.Join(session.Member{Instance: instance, Pid: uint32(os.Getpid()), Keep: c.Keep})
	if slot == nil {
		return errors.Join(err, control.Close())
	}
	m.control, m.slot = control, slot
	return nil // an error beside a slot is the disk's, about others; Balance meets it again
}

// share is how many bytes this process may hold when all have the same.
func (m *membership) share(c *Config) int64 {
	if m.slot == nil {
		return c.Limit
	}
	return m.slot.Share()
}

// makeRoom has the ring take the room that dead processes left, before the
// first chunks are full. The keeper meets the errors again.
func (m *membership) makeRoom(ring *ring.Ring) {
	if m.slot != nil {
		m.slot.Balance(time.Now())
		ring.Maintain()
	}
}

// clearDisk makes room if the error is that the disk is full: predecessors may
// have left it so. It reports whether it is worth another try.
func (m *membership) clearDisk(err error) bool {
	return m.slot != nil && m.slot.ClearDisk(err, minChunkSize)
}

// told is what the session's processes do now.
func (m *membership) told() rawformat.Command {
	if m.control == nil {
		return rawformat.CommandStart
	}
	what, _ := m.control.State()
	return what
}

// leave is for the end, when the ring is closed and the exit record written.
func (m *membership) leave() error {
	if m.control == nil {
		return nil
	}
	err := errors.Join(m.slot.Leave(), m.control.Close())
	m.control, m.slot = nil, nil
	return err
}

// describe is what meta says.
func (m *membership) describe() string {
	if m.alone != nil {
		return fmt.Sprintf("alone, limit of its own: %v", m.alone)
	}
	return "shared limit"
}

// attend does this process' part in the session: it balances who holds what,
// and obeys what all are told. It is the keeper's.
func (k *Keeper) attend() {
	m := &k.member
	if m.slot == nil {
		return
	}
	k.complain("session", m.slot.Balance(time.Now()))
	k.limit = m.slot.Share()
	k.tracer.share.Store(k.limit)
	what, generation := m.control.State()
	if generation == 0 { // nothing was said, or it can't be read
		return
	}
	if generation != m.obeyed && k.obey(what) {
		m.obeyed = generation
	}
	m.slot.Obeyed(m.obeyed) // again and again: the page may have been repaired
}
