package keeper

import (
	"fmt"

	"gprof/chunks/mapping"
)

// A file of ours that somebody else cuts short costs what was in it, and the host
// nothing. Where faults in our mappings are caught, writers go on, and the
// keeper gives them other files. Elsewhere no writer is a processor's, because
// a fault in assembly would be the end of the process; each writes prepared for a
// panic, and one ends the recording.

// replaceCut takes chunks and stack rings out of use whose files were cut short.
// It is the keeper's.
func (k *Keeper) replaceCut() {
	faults := mapping.Faults()
	if faults == k.faults {
		return
	}
	found := k.sampler.DropCut()
	cut, done := k.rec.DropCut()
	if done { // else once more, next time
		k.faults = faults
	}
	if found+cut > 0 {
		k.complain("recording", fmt.Errorf("%w: it is replaced", mapping.ErrCut))
	}
}
