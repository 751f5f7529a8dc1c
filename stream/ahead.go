package stream

import "sync"

// aheadBatches is how many batches are made before they are asked for.
const aheadBatches = 2

// ahead calls a function that makes batches on a goroutine of its own, and
// hands them on in order.
type ahead struct {
	made, spare chan madeBatch
	quit        chan struct{}
	working     sync.WaitGroup
}

type madeBatch struct {
	batch *Batch
	err   error // the last one's
}

// startAhead begins to call next, until it returns an error. The caller must
// call stop.
func startAhead(next func(*Batch) error) *ahead {
	a := &ahead{made: make(chan madeBatch, aheadBatches), spare: make(chan madeBatch, aheadBatches), quit: make(chan struct{})}
	for range aheadBatches {
		a.spare <- madeBatch{batch: new(Batch)}
	}
	a.working.Go(func() { a.make(next) })
	return a
}

// make calls next as long as there is a spare batch to fill.
func (a *ahead) make(next func(*Batch) error) {
	for {
		select {
		case m := <-a.spare:
			m.err = next(m.batch)
			a.made <- m // has room for all there are
			if m.err != nil {
				return
			}
		case <-a.quit:
			return
		}
	}
}

// next swaps b for the next batch. After an error it must not be called again.
func (a *ahead) next(b *Batch) error {
	m := <-a.made
	*b, *m.batch = *m.batch, *b
	if m.err == nil {
		a.spare <- m
	}
	return m.err
}

// stop ends the calls.
func (a *ahead) stop() {
	close(a.quit)
	a.working.Wait()
}
