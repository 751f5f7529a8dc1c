package recorder

import (
	"errors"
	"path/filepath"
	"time"

	"gprof/chunks"
	"gprof/recorder/internal/rt"
	"gprof/recorder/internal/shard"
)

// ErrStopped means that the recorder has been stopped, or never started.
var ErrStopped = errors.New("nothing is recorded")

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
	if err := r.drainNow(); err != nil {
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

// drainNow has the keeper take what threads have sampled until now into
// chunks, and waits for it, but not for long: it may be waiting for the disk.
func (k *keeper) drainNow() error {
	drained := make(chan struct{})
	select {
	case k.drains <- drained:
	case <-time.After(time.Second): // somebody else waits, too
		return nil
	case <-k.quit:
		return ErrStopped
	}
	k.rec.Nap().Wake()
	select {
	case <-drained:
		return nil
	case <-time.After(time.Second):
		return nil
	case <-k.quit:
		return ErrStopped
	}
}

// drain does what drainNow asks for. It is the keeper's.
func (k *keeper) drain() {
	for {
		select {
		case drained := <-k.drains:
			if k.isMapped() && k.samples() {
				k.sampleThreads()
			}
			close(drained)
		default:
			return
		}
	}
}
