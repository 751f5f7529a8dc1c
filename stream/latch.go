package stream

import "sync"

// FailureLatch keeps why something failed: the first reason wins. Whoever has
// part in making one thing shares a latch, so that a failure anywhere makes the
// whole fail, rather than cut it short. The zero FailureLatch has not failed;
// any number of goroutines may use it.
//
// A nil latch is for what cannot fail: it has never failed, and to set it is a
// bug.
type FailureLatch struct {
	mu    sync.Mutex
	first error
}

// Set says that something failed. It does nothing if err is nil, or if a reason
// is known already.
func (l *FailureLatch) Set(err error) {
	if err == nil {
		return
	}
	if l == nil {
		panic("internal error: what cannot fail failed: " + err.Error())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.first == nil {
		l.first = err
	}
}

// SetFrom is Set of the reason of another latch.
func (l *FailureLatch) SetFrom(other *FailureLatch) { l.Set(other.Err()) }

// Err is the first reason, or nil.
func (l *FailureLatch) Err() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.first
}

// Failed says whether there is a reason.
func (l *FailureLatch) Failed() bool { return l.Err() != nil }

// Fallible says whether the latch can be set.
func (l *FailureLatch) Fallible() bool { return l != nil }
