package keeper

import (
	"fmt"
	"io/fs"
	"time"

	"gprof/chunks/mapping"
	"gprof/rawformat"
	"gprof/recorder/internal/rt"
)

// maintain prepares and seals chunks, and writes what was lost.
func (k *Keeper) maintain() {
	defer k.watch().spent(&k.spent.clean)
	k.followSession()
	k.replaceCut()
	k.maintainRing()
	k.releaseIdle()
	k.rotateDictionary()
	if !k.resting { // otherwise Stop or the next round writes them
		k.rec.WriteLosses()
	}
}

func (k *Keeper) maintainRing() { k.complain("ring", k.ring.Maintain()) }

// releaseIdle takes chunks away from writers that were idle while others filled half the
// ring. While the ring rests it takes all.
func (k *Keeper) releaseIdle() {
	most := uint64(k.limit) / 2
	if k.resting {
		most = 0
	}
	k.rec.ReleaseIdle(most)
}

// If somebody cuts one of our files short, its content is lost, and the host is not harmed.
// On systems where faults in our mappings are caught, writers go on, and the keeper gives
// them other files. Elsewhere processors have no writers of their own, because a fault in
// assembly would end the process; all writers recover from panics, and a panic ends the
// recording.

// replaceCut takes chunks and sample rings out of use whose files were cut short. Only the
// keeper calls it.
func (k *Keeper) replaceCut() {
	faults := mapping.Faults()
	if faults == k.faults {
		return
	}
	found := k.sampler.DropCut()
	cut, done := k.rec.DropCut()
	if done { // otherwise the next round tries again
		k.faults = faults
	}
	if found+cut > 0 {
		k.complain("recording", fmt.Errorf("%w: it is replaced", mapping.ErrCut))
	}
}

// Drain has the keeper move the samples that threads have taken so far into chunks, and
// waits for that, but only for seconds, because the keeper may be waiting for the disk. The
// error is [ErrStopped].
func (k *Keeper) Drain() error {
	drained := make(chan struct{})
	select {
	case k.drains <- drained:
	case <-time.After(time.Second): // others wait, too
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

// drain does what Drain asks for. Only the keeper calls it.
func (k *Keeper) drain() {
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

// complain logs the first error of the disk, for example that it is full. The ring goes on
// with the chunks that it has.
func (k *Keeper) complain(what string, err error) {
	if err == nil {
		return
	}
	k.trouble.Store(&trouble{fmt.Errorf("%s: %w", what, err), rt.Now()})
	if !k.complained {
		k.complained = true
		k.rec.Log(rawformat.LogWarn, fmt.Sprintf("%s: %v", what, err))
	}
}

// trouble is an error of the disk, and when it happened.
type trouble struct {
	err error
	at  rt.Time
}

// troubling is how long Trouble reports an error. An error that lasts happens again before.
const troubling = 2 * time.Second

// Trouble is the error of the last two seconds, nil if there was none: for example, the
// disk is full.
func (k *Keeper) Trouble() error {
	if t := k.trouble.Load(); t != nil && rt.Now()-t.at < rt.Time(troubling) {
		return t.err
	}
	return nil
}

// lookForDir is nil while the recording's directory exists.
func (k *Keeper) lookForDir() error {
	_, err := fs.Stat(k.files, ".")
	return err
}
