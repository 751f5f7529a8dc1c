package recorder

import (
	"fmt"
	"path/filepath"
	"time"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/recorder/internal/counters"
	"gprof/recorder/internal/keeper"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

// ErrStopped means that the recorder has been stopped, or never started.
var ErrStopped = keeper.ErrStopped

// Snapshot copies what was recorded in the time last before now, or everything if last is 0
// or less, into a new directory in dir, and returns its path. Recording goes on meanwhile.
// It is for programs to call when something happens that is worth looking at later, because
// the ring will soon discard it. The snapshot is a session like any other and counts
// against no limit; the caller removes it.
//
// Snapshot reads and writes whole chunks, as many as were recorded in that time, and waits
// for no writer. The error is the disk's or [ErrStopped]; then nothing is left behind.
func (r *Recorder) Snapshot(dir string, last time.Duration) (path string, err error) {
	if r == nil {
		return "", ErrStopped
	}
	spent := counters.Measure(func() { path, err = r.snapshot(dir, last) })
	r.keeper.Spent(spent)
	return path, err
}

func (r *Recorder) snapshot(dir string, last time.Duration) (path string, err error) {
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
		return chunks.CopySince(r.files, filepath.Join(path, folder.InstanceName(r.rec.Instance())), since)
	})
	if err != nil {
		return "", err
	}
	return path, nil
}

// dump copies the recording, when it is over, into [Options.Dump], to the session of the
// same name there. The copy is complete, or there is none.
func (r *Recorder) dump() error {
	if r.dumpDir == "" {
		return nil
	}
	to := filepath.Join(r.dumpDir, filepath.Base(r.session), folder.InstanceName(r.rec.Instance()))
	if err := chunks.CopySince(r.files, to, 0); err != nil {
		return fmt.Errorf("dump: %w", err)
	}
	return nil
}
