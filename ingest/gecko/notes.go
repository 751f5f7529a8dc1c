package gecko

import (
	"fmt"

	"gprof/stream"
)

// notes counts the values of a file that can't be taken as they stand, until there is a
// ledger for them. Parts, tables and objects note them when they are asked for a value,
// so no reader can pass one over.
//
// A file is read several times, each time from its beginning to its end; so a value is
// counted once if those count that lie behind the last one.
type notes struct {
	process int // that is being read, -1 none
	all     map[noteKey]*tally
}

type noteKey struct {
	process int
	reason  stream.Reason
	what    string
}

// tally is how many values there are, and where the first and the last one stand.
type tally struct{ count, first, last int64 }

func newNotes() *notes { return &notes{process: -1, all: map[noteKey]*tally{}} }

// add notes the value at off.
func (n *notes) add(reason stream.Reason, what string, off int64) {
	key := noteKey{n.process, reason, what}
	switch t := n.all[key]; {
	case t == nil:
		n.all[key] = &tally{1, off, off}
	case off > t.last:
		t.count, t.last = t.count+1, off
	}
}

// flush writes the notes into a ledger; instances are the names of the processes there.
func (n *notes) flush(to *stream.Ledger, instances []string) {
	for key, t := range n.all {
		line := stream.Line{Reason: key.reason, What: key.what, Where: fmt.Sprintf("byte %d", t.first), Count: t.count}
		if t.count > 1 {
			line.Where += " and later"
		}
		if key.process >= 0 {
			line.Process = instances[key.process]
		}
		to.Add(line)
	}
	clear(n.all)
}
