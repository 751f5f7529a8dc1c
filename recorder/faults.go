package recorder

import (
	"fmt"
	"runtime/debug"

	"gprof/chunks"
	"gprof/rawformat"
)

// A file of ours that somebody else cuts short costs what was in it, and the host
// nothing. Where faults in our mappings are caught, writers go on, and the
// housekeeper gives them other files. Elsewhere no writer is a processor's, because
// a fault in assembly would be the end of the process; each writes prepared for a
// panic, and one ends the recording.

// survive runs f, which writes into chunks. If faults are not caught and there is
// one, the recording ends with the error.
func (r *Recorder) survive(f func()) (err error) {
	if r.exposed != nil {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() {
			if p := recover(); p != nil {
				if !chunks.IsFault(p) {
					panic(p)
				}
				err = chunks.ErrCut
				r.fail(err)
			}
		}()
	}
	f()
	return nil
}

// describeFaults is what meta says.
func (r *Recorder) describeFaults() string {
	if r.exposed != nil {
		return fmt.Sprintf("a file that is cut short ends the recording: %v", r.exposed)
	}
	return "a file that is cut short is replaced"
}

// replaceCut takes chunks and stack rings out of use whose files were cut short.
// It is the housekeeper's.
func (r *Recorder) replaceCut() {
	faults := chunks.Faults()
	if faults == r.faults {
		return
	}
	found := r.sampler.dropCut(r)
	for i := range r.shards {
		s := &r.shards[i]
		if s.lag.Load() == 0 {
			continue
		}
		if !r.claim(s) {
			faults = r.faults // once more, next time
			continue
		}
		found += r.dropCut(s)
		disclaim(s)
	}
	r.faults = faults
	if found > 0 {
		r.complain("recording", fmt.Errorf("%w: it is replaced", chunks.ErrCut))
	}
}

// dropCut retires the chunk of a shard that is taken, if its file was cut short.
func (r *Recorder) dropCut(s *shard) int {
	if s.chunk == nil || s.chunk.LostBytes() == 0 {
		return 0
	}
	r.lose(rawformat.LostCut, 1, uint64(s.chunk.LostBytes()))
	r.retire(s)
	return 1
}
