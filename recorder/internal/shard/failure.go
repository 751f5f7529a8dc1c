package shard

import (
	"fmt"
	"runtime/debug"

	"gprof/chunks/mapping"
)

// Contain runs f, work of the recorder on a goroutine of the host. A panic in it, from a
// fault or a bug, ends the recording with that error and goes no further.
func (r *Recording) Contain(f func()) error {
	err := Guard(func() error { f(); return nil })
	if err != nil {
		r.fail(err)
	}
	return err
}

// Guard runs f and turns a panic in it into an error.
func Guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = failure(p)
		}
	}()
	return f()
}

// failure is the error that a panic in the recorder's own work means.
func failure(p any) error {
	if mapping.IsFault(p) {
		return mapping.ErrCut
	}
	return fmt.Errorf("internal error: %v", p)
}

// Failure is the error that ended the recording, nil as long as all is well.
func (r *Recording) Failure() error {
	if p := r.failure.Load(); p != nil {
		return *p
	}
	return nil
}

// fail ends the recording. All data recorded so far stays. Stop still has to be called.
func (r *Recording) fail(err error) {
	r.failure.CompareAndSwap(nil, &err)
	Current.CompareAndSwap(r, nil)
}
