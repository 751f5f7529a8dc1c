package session

import (
	"gprof/chunks"
	"gprof/rawformat"
)

// Tests of a session with rings import this package and need these of it.

const ProbeEvery = probeEvery

var (
	Erase  = erase
	IsTomb = isTomb
)

// SetLimit changes the limit.
func (c *Control) SetLimit(limit int64) error { return c.setLimit(limit) }

// Ask asks the owner of a slot for what was done at or before a time.
func (s *Slot) Ask(done int64) { raise(s.c.word(s.at+rawformat.OffSlotRequest), done) }

// Snapshot is what the slot says.
func (s *Slot) Snapshot() rawformat.Slot { return s.c.slot(s.at) }

// Remains are those of an instance.
type Remains struct{ *remains }

func OpenRemains(dir string) (Remains, error) {
	r, err := openRemains(dir)
	return Remains{r}, err
}

// Done is when the chunks were done, the oldest first.
func (r Remains) Done() (all []int64) {
	for _, c := range r.chunks {
		all = append(all, c.done)
	}
	return all
}

func (r Remains) Held() int64 { return r.held }
func (r Remains) Conclude(session string, slot rawformat.Slot) error {
	return r.conclude(session, slot)
}
func (r Remains) Discard(done, guard int64) error { return r.discard(done, guard) }
func (r Remains) Sweep() error                    { return r.sweep() }
func (r Remains) WriteExit(x *chunks.Exit) error  { return r.writeExit(x) }
