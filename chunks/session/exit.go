package session

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/rawformat"
)

// End is how a process ended, as its parent saw it.
type End struct {
	Pid    uint32
	Code   int // exit status
	Signal int // what killed it, 0: nothing did
}

// WriteExit writes the exit record of a process that could not write it itself, in its
// instance directory. It does nothing if the directory is of a process with another pid,
// if its recorder still holds the lock, or if the record says how it ended. A record
// that says just "found dead" is replaced, as a parent knows how its child ended.
//
// The record's ranges are those of the headers of the chunks; the parent's index is the
// present one. Chunk files that hold nothing are removed. The error is the disk's, or
// [chunks.ErrNoRecording].
func WriteExit(dir string, e End) error {
	if r, err := openRemains(dir); err != nil || r.p.Pid != e.Pid || r.told() {
		return err
	}
	lock, err := claimSoon(dir)
	if errors.Is(err, folder.ErrLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	r, err := openRemains(dir) // again: another process may have concluded it meanwhile
	if err != nil || r.told() {
		return err
	}
	x := r.p.Exit
	if x == nil {
		x = r.conclusion(filepath.Dir(dir), time.Now())
	}
	x.Reason, x.Code = rawformat.ExitNormal, int64(e.Code)
	if e.Signal != 0 {
		x.Reason, x.Code = rawformat.ExitSignal, int64(e.Signal)
	}
	return errors.Join(r.writeExit(x), r.sweep(), r.restand(filepath.Dir(dir)))
}

// restand enters in the session's control page how the process ended, if there is a page
// and the process has a slot in it.
func (r *remains) restand(session string) error {
	c, err := Open(session, Options{Existing: true})
	if err != nil {
		return nil // it records alone
	}
	defer c.Close()
	return c.guard(func() error {
		for i := range c.used() {
			if c.load(slotAt(i)) == r.p.Instance {
				c.bequeath(slotAt(i), r)
			}
		}
		return nil
	})
}

// claimSoon is claimDead with patience: a peer that is looking after the directory does
// not take long.
func claimSoon(dir string) (*os.File, error) {
	for range 100 {
		lock, err := claimDead(dir)
		if !errors.Is(err, folder.ErrLocked) {
			return lock, err
		}
		time.Sleep(time.Millisecond)
	}
	return nil, folder.ErrLocked
}

// told reports whether it is known how the process ended.
func (r *remains) told() bool { return r.p.Exit != nil && r.p.Exit.Reason != rawformat.ExitUnknown }

// conclusion is the exit record of a process of a session that was found dead at a time,
// and of which nobody knows how it ended.
func (r *remains) conclusion(session string, now time.Time) *chunks.Exit {
	p := r.p
	x := &chunks.Exit{Realtime: now.UnixNano(), Reason: rawformat.ExitUnknown, RangeStart: p.Held, Discarded: p.Number(rawformat.MetaDiscarded)}
	for _, im := range p.Chunks {
		x.RangeEnd = max(x.RangeEnd, im.End())
		x.Discarded = max(x.Discarded, uint64(im.Header.Discarded))
	}
	for _, pr := range p.Problems {
		if pr.Class == chunks.Stale { // discarded, and no header says so
			x.Discarded++
		}
	}
	// The wall clock says how long ago the last commit was.
	x.Monotonic = r.last.Monotonic
	if r.last.Monotonic != 0 && x.Realtime > r.last.Realtime {
		x.Monotonic += uint64(x.Realtime - r.last.Realtime)
	}
	x.Parent, _ = strconv.ParseUint(p.Value(rawformat.MetaParent), 16, 64) // 0: none
	x.ParentIndex, _ = IndexNow(session, x.Parent)
	return x
}
