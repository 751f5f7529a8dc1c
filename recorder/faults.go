package recorder

import (
	"fmt"
	"runtime/debug"

	"gprof/chunks/mapping"
	"gprof/rawformat"
)

// A file of ours that somebody else cuts short costs what was in it, and the host
// nothing. Where faults in our mappings are caught, writers go on, and the
// housekeeper gives them other files. Elsewhere no writer is a processor's, because
// a fault in assembly would be the end of the process; each writes prepared for a
// panic, and one ends the recording.

// contain runs f, the recorder's own work on a goroutine of the host. A panic in it, be
// it a fault or a bug, ends the recording with that error, and nothing else.
func (r *Recording) contain(f func()) error {
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
func (r *Recording) describeFaults() string {
	if r.exposed != nil {
		return fmt.Sprintf("a file that is cut short ends the recording: %v", r.exposed)
	}
	return "a file that is cut short is replaced"
}

// replaceCut takes chunks and stack rings out of use whose files were cut short.
// It is the housekeeper's.
func (k *Keeper) replaceCut() {
	faults := mapping.Faults()
	if faults == k.faults {
		return
	}
	found := k.sampler.dropCut(k)
	for i := range k.shards {
		s := &k.shards[i]
		if s.lag.Load() == 0 {
			continue
		}
		if !k.claim(s) {
			faults = k.faults // once more, next time
			continue
		}
		found += k.dropCut(s)
		disclaim(s)
	}
	k.faults = faults
	if found > 0 {
		k.complain("recording", fmt.Errorf("%w: it is replaced", mapping.ErrCut))
	}
}

// dropCut retires the chunk of a shard that is taken, if its file was cut short.
func (r *Recording) dropCut(s *shard) int {
	if s.chunk == nil || s.chunk.LostBytes() == 0 {
		return 0
	}
	r.lose(rawformat.LostCut, 1, uint64(s.chunk.LostBytes()))
	r.retire(s)
	return 1
}
