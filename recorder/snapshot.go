package recorder

import (
	"path/filepath"
	"time"

	"gprof/chunks"
	"gprof/recorder/internal/keeper"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

// ErrStopped means that the recorder has been stopped, or never started.
var ErrStopped = keeper.ErrStopped

// Snapshot copies what was recorded in the last so many seconds into a directory of
// its own within dir, which it makes, and returns its path; 0 or less is all that
// is kept. Recording goes on meanwhile. A program calls it when something happens
// that is worth to be looked at later: what a ring has kept of it is soon
// discarded. The snapshot is a session like any other, and nobody's limit counts
// it: whoever takes snapshots removes them.
//
// It reads and writes as much as was recorded in that time, in whole chunks, and
// waits for no writer. The error is the disk's or [ErrStopped]; then nothing is
// left behind.
func (r *Recorder) Snapshot(dir string, last time.Duration) (path string, err error) {
	if r == nil {
		return "", ErrStopped
	}
	now := time.Now()
	if err := r.keeper.Drain(); err != nil {
		return "", err
	}
	since := uint64(0)
	if reach := uint64(r.rec.Clock().Base) + uint64(rt.Now()); last > 0 && uint64(last) < reach {
		since = reach - uint64(last)
	}
	path = filepath.Join(dir, now.UTC().Format("20060102T150405.000000000Z"))
	err = shard.Guard(func() error {
		return chunks.CopySince(r.files, filepath.Join(path, instanceName(r.rec.Instance())), since)
	})
	if err != nil {
		return "", err
	}
	return path, nil
}
