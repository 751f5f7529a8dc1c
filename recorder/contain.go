package recorder

import (
	"fmt"
	"gprof/chunks/mapping"
	"gprof/rawformat"
	"runtime/debug"
)

// contain runs f, the recorder's own work on a goroutine of the host. A panic in it, be
// it a fault or a bug, ends the recording with that error, and nothing else.
func (r *recording) contain(f func()) error {
	err := guarded(func() error { f(); return nil })
	if err != nil {
		r.fail(err)
	}
	return err
}

// guarded runs f. A panic in it becomes an error.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = failure(p)
		}
	}()
	return f()
}

// failure is what a panic of the recorder's own work says.
func failure(p any) error {
	if mapping.IsFault(p) {
		return mapping.ErrCut
	}
	return fmt.Errorf("internal error: %v", p)
}

// describeFaults is what meta says.
func (r *recording) describeFaults() string {
	if r.exposed != nil {
		return fmt.Sprintf("a file that is cut short ends the recording: %v", r.exposed)
	}
	return "a file that is cut short is replaced"
}

// fail ends the recording; what was recorded stays. Stop still has to be called.
func (r *recording) fail(err error) {
	r.failure.CompareAndSwap(nil, &err)
	current.CompareAndSwap(r, nil)
}

// dropCut retires the chunk of a shard that is taken, if its file was cut short.
func (r *recording) dropCut(s *shard) int {
	if s.chunk == nil || s.chunk.LostBytes() == 0 {
		return 0
	}
	r.lose(rawformat.LostCut, 1, uint64(s.chunk.LostBytes()))
	r.retire(s)
	return 1
}
