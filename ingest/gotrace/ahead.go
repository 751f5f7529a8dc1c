package gotrace

import (
	"errors"
	"sync"
)

// ahead reads portions on a goroutine of its own, while those before them are made into rows.
type ahead struct {
	full, empty chan *portion
	quit        chan struct{}
	reading     sync.WaitGroup
}

// aheadPortions is how many portions there are at a time.
const aheadPortions = 4

func startAhead(r *reader) *ahead {
	a := &ahead{full: make(chan *portion, aheadPortions), empty: make(chan *portion, aheadPortions), quit: make(chan struct{})}
	for range aheadPortions {
		a.empty <- new(portion)
	}
	a.reading.Go(func() { a.run(r) })
	return a
}

func (a *ahead) run(r *reader) {
	for {
		select {
		case p := <-a.empty:
			r.read(p)
			a.full <- p // has room for all there are
			if lost := (*lostError)(nil); p.err != nil && !errors.As(p.err, &lost) {
				return
			}
		case <-a.quit:
			return
		}
	}
}

// turn gives back a portion, nil for none, and returns the next one. Behind one that ends the trace there is none.
func (a *ahead) turn(p *portion) *portion {
	if p != nil {
		a.empty <- p
	}
	return <-a.full
}

func (a *ahead) stop() {
	close(a.quit)
	a.reading.Wait()
}
