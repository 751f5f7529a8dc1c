package keeper

import (
	"errors"
	"fmt"
	"os"
	"time"

	"gprof/chunks/folder"
	"gprof/chunks/session"
	"gprof/rawformat"
)

// membership ties this process to the others of its session: a slot in the control page.
// Without a slot the process records by itself.
type membership struct {
	control *session.Control // nil: the process is alone
	slot    *session.Slot    // nil: the process is alone
	alone   error            // why there is no slot
	obeyed  uint64           // generation of the last command that was carried out
}

// join takes a slot in the session. It is an error if none is left, because the limit is
// the session's and this process has no part in it, or if somebody could change the session
// who should not. If the control page can't be used for another reason, the process records
// alone and has a limit of its own.
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
	return nil // an error beside a slot is the disk's, concerning others; Balance will meet it again
}

// share is how many bytes this process may hold when all processes hold the same.
func (m *membership) share(c *Config) int64 {
	if m.slot == nil {
		return c.Limit
	}
	return m.slot.Share()
}

// makeRoom takes the room that dead processes left, for the keeper's first round. Errors are
// ignored: the keeper will meet them again.
func (m *membership) makeRoom() {
	if m.slot != nil {
		m.slot.Balance(time.Now())
	}
}

// clearDisk makes room if err says that the disk is full, because earlier processes may
// have left it so. It reports whether another try is worth it.
func (m *membership) clearDisk(err error) bool {
	return m.slot != nil && m.slot.ClearDisk(err, minChunkSize)
}

// command is what the session's processes are told to do now.
func (m *membership) command() rawformat.Command {
	if m.control == nil {
		return rawformat.CommandStart
	}
	what, _ := m.control.State()
	return what
}

// leave is for the end, when the ring is closed and the exit record is written.
func (m *membership) leave() error {
	if m.control == nil {
		return nil
	}
	err := errors.Join(m.slot.Leave(), m.control.Close())
	m.control, m.slot = nil, nil
	return err
}

// describe is the text for meta.
func (m *membership) describe() string {
	if m.alone != nil {
		return fmt.Sprintf("alone, limit of its own: %v", m.alone)
	}
	return "shared limit"
}

// tellGivenUp logs how many chunks were given up since it was last called: the ring's own
// discards stand in the headers of the chunks that took their place.
func (k *Keeper) tellGivenUp() {
	if all := k.ring.GivenUp(); all != k.givenUp {
		k.rec.Log(rawformat.LogInfo, fmt.Sprintf("chunks given up for other processes of the session: %d", all-k.givenUp))
		k.givenUp = all
	}
}

// followSession does this process' part in the session: it balances how much each process
// holds, and carries out the command that all are given. Only the keeper calls it.
func (k *Keeper) followSession() {
	m := &k.member
	if m.slot == nil {
		return
	}
	k.complain("session", m.slot.Balance(time.Now()))
	k.limit = m.slot.Share()
	k.tracer.share.Store(k.limit)
	what, generation := m.control.State()
	if generation == 0 { // there was no command, or it can't be read
		return
	}
	if generation != m.obeyed && k.obey(what) {
		m.obeyed = generation
	}
	m.slot.Obeyed(m.obeyed) // every time, because the page may have been repaired
}
