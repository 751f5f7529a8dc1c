package keeper

import "time"

// Drain has the keeper take what threads have sampled until now into
// chunks, and waits for it, but not for long: it may be waiting for the disk.
func (k *Keeper) Drain() error {
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

// drain does what Drain asks for. It is the keeper's.
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
