package pipeline

import "sync/atomic"

// failure keeps the first error that any goroutine sets.
type failure struct{ first atomic.Pointer[error] }

func (f *failure) set(err error) {
	if err != nil {
		f.first.CompareAndSwap(nil, &err)
	}
}

// err is the first error, or nil.
func (f *failure) err() error {
	if err := f.first.Load(); err != nil {
		return *err
	}
	return nil
}
