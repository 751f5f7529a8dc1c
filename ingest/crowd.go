package ingest

import "sync"

// crowd does some things at once, as many as it has places.
type crowd struct {
	places chan struct{}
	all    sync.WaitGroup
}

// newCrowd returns one of at least one place.
func newCrowd(places int) *crowd { return &crowd{places: make(chan struct{}, max(1, places))} }

// do waits for a place, and does something there on a goroutine of its own.
func (c *crowd) do(something func()) {
	c.places <- struct{}{}
	c.all.Go(func() {
		defer func() { <-c.places }()
		something()
	})
}

// wait waits until all is done.
func (c *crowd) wait() { c.all.Wait() }
