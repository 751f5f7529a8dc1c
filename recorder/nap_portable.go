//go:build !linux || !(amd64 || arm64) || gprof_portable

package recorder

import (
	"sync/atomic"
	"time"
)

// nap is the sleep of one goroutine, which others can end. The zero nap is ready
// for use.
type nap struct{ note atomic.Pointer[chan struct{}] }

func (n *nap) channel() chan struct{} {
	if n.note.Load() == nil {
		c := make(chan struct{}, 1)
		n.note.CompareAndSwap(nil, &c)
	}
	return *n.note.Load()
}

// sleep sleeps that long, or until wake, or not at all if wake was called since
// the last sleep.
func (n *nap) sleep(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-n.channel():
	case <-t.C:
	}
}

func (n *nap) wake() {
	select {
	case n.channel() <- struct{}{}:
	default:
	}
}
