//go:build !linux || !(amd64 || arm64) || gprof_portable

package rt

import (
	"sync/atomic"
	"time"
)

// Nap is the sleep of one goroutine, which others can end. The zero nap is ready
// for use.
type Nap struct{ note atomic.Pointer[chan struct{}] }

func (n *Nap) channel() chan struct{} {
	if n.note.Load() == nil {
		c := make(chan struct{}, 1)
		n.note.CompareAndSwap(nil, &c)
	}
	return *n.note.Load()
}

// Sleep sleeps that long, or until Wake is called, or not at all if Wake was called since the last Sleep. It reports
// whether Wake was called.
func (n *Nap) Sleep(d time.Duration) (woken bool) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-n.channel():
		return true
	case <-t.C:
		return false
	}
}

func (n *Nap) Wake() {
	select {
	case n.channel() <- struct{}{}:
	default:
	}
}
