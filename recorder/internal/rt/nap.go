package rt

import (
	"sync/atomic"
	"time"
)

// timerNap is the sleep of one goroutine by a timer of Go's.
type timerNap struct{ note atomic.Pointer[chan struct{}] }

func (n *timerNap) channel() chan struct{} {
	if n.note.Load() == nil {
		c := make(chan struct{}, 1)
		n.note.CompareAndSwap(nil, &c)
	}
	return *n.note.Load()
}

func (n *timerNap) Sleep(d time.Duration) (woken bool) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-n.channel():
		return true
	case <-t.C:
		return false
	}
}

func (n *timerNap) Wake() {
	select {
	case n.channel() <- struct{}{}:
	default:
	}
}
