package chunks

import (
	"cmp"
	"errors"
	"syscall"
	"time"
)

// diskFull reports whether an error is that there is no room on the disk.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// Crowded notes whether a file could not be made because the disk is full, and
// reports it. From then on what the session holds counts as its limit.
func (s *Slot) Crowded(err error) bool {
	if s.crowded = diskFull(err); !s.crowded {
		s.room = 0
	}
	return s.crowded
}

// ClearDisk has what others left behind go, the oldest first, if the error is
// that the disk is full: of so many bytes, as if the session's limit were what
// it holds now. It reports whether it is worth another try.
func (s *Slot) ClearDisk(err error, bytes int64) bool {
	if !diskFull(err) {
		return false
	}
	before := s.want
	defer func() { s.want = before }()
	s.want, s.crowded, s.room = bytes, true, 0
	freed := false
	s.c.guard(func() error { // else nothing goes
		held := s.c.sum()
		s.relieve(time.Now()) // what fails leaves the disk as it is
		freed = s.c.sum() < held
		return nil
	})
	return freed
}

// bound is how many bytes the session may hold: its limit, or what it held when
// the disk turned out to be full. Other programs may take what comes free then;
// since the bound stays, the remains of the dead do not go for nothing again and
// again.
func (s *Slot) bound() int64 {
	limit := s.c.Limit()
	if !s.crowded || s.want == 0 {
		return limit
	}
	s.room = cmp.Or(s.room, s.c.sum())
	return min(limit, s.room)
}
