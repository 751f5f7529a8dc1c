package decode

import (
	"fmt"

	"gprof/chunks"
	"gprof/stream"
)

// notes gathers lines of the ledger, so that it is locked once for many.
type notes struct {
	lines map[stream.Line]sum // key: Count and Bytes 0
}

type sum struct{ count, bytes int64 }

// maxNotes is how many different lines are gathered.
const maxNotes = 256

func (n *notes) add(l stream.Line) {
	key := stream.Line{Process: l.Process, Reason: l.Reason, What: l.What, Where: l.Where}
	if n.lines == nil {
		n.lines = map[stream.Line]sum{}
	}
	s := n.lines[key]
	n.lines[key] = sum{s.count + l.Count, s.bytes + l.Bytes}
}

func (n *notes) full() bool { return len(n.lines) >= maxNotes }

// flush adds the lines to the ledger, which does not mind their order.
func (n *notes) flush(to *stream.Ledger) {
	for l, s := range n.lines {
		l.Count, l.Bytes = s.count, s.bytes
		to.Add(l)
	}
	clear(n.lines)
}

// reasons maps what package chunks found to lines of the ledger.
var reasons = map[chunks.ProblemClass]stream.Reason{
	chunks.Gap:        stream.ReasonGap,
	chunks.Missing:    stream.ReasonMissing,
	chunks.Torn:       stream.ReasonTorn,
	chunks.Damaged:    stream.ReasonDamaged,
	chunks.Foreign:    stream.ReasonForeign,
	chunks.Stale:      stream.ReasonStale,
	chunks.Unproven:   stream.ReasonUnproven,
	chunks.Duplicate:  stream.ReasonDuplicate,
	chunks.Unreadable: stream.ReasonUnreadable,
	chunks.LeftOut:    stream.ReasonLeftOut,
}

// line is the ledger's line of what package chunks found.
func (p *process) line(pr chunks.Problem) stream.Line {
	l := stream.Line{Process: p.instance, Reason: reasons[pr.Class], What: "blocks", Where: pr.Where + ": " + pr.What, Count: pr.Blocks, Bytes: pr.Bytes}
	if pr.Blocks < 0 {
		l.What, l.Count = "places", 1
	}
	return l
}

func instanceName(instance uint64) string { return fmt.Sprintf("%016x", instance) }
