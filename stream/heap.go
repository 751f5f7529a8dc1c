package stream

import (
	"fmt"
	"time"
)

// Text says it to a person, of a process that ended then.
func (h *Heap) Text(end Time) string {
	const mebi = 1 << 20
	text := fmt.Sprintf("%.1f s before the end, %.1f MiB", max(0, time.Duration(end-h.Sampled)).Seconds(), float64(h.Explained)/mebi)
	had := fmt.Sprintf("the %.1f MiB that the heap had %.1f s before the end", float64(h.InUse)/mebi, max(0, time.Duration(end-h.Counted)).Seconds())
	switch share := h.Share(); {
	case share > 100: // of a small heap, of which a sample stands for much
		text += ", an estimate of " + had
	case share >= 0:
		text += fmt.Sprintf(", which is %d %% of %s", share, had)
	}
	return text
}
