package flame

import (
	"fmt"

	"gprof/stream"
)

// Left counts rows that have no place in a drawing.
type Left struct{ rows map[left]int64 }

type left struct {
	process stream.ProcessID
	reason  stream.Reason
	what    string
}

// Add counts n of what there is no room for, of a process; 0 is the run.
func (l *Left) Add(process stream.ProcessID, what string, n int64) {
	l.add(left{process, stream.ReasonUnsupported, what}, n)
}

// AddKind counts n of what a drawing is not for, of a process.
func (l *Left) AddKind(process stream.ProcessID, what string, n int64) {
	l.add(left{process, stream.ReasonNoPlace, what}, n)
}

func (l *Left) add(key left, n int64) {
	if n == 0 {
		return
	}
	if l.rows == nil {
		l.rows = make(map[left]int64)
	}
	l.rows[key] += n
}

// Tell adds the lines to the ledger of t.
func (l *Left) Tell(t *stream.Tables) {
	for key, n := range l.rows {
		line := stream.Line{Reason: key.reason, What: key.what, Count: n}
		if key.process != 0 {
			line.Process = fmt.Sprintf("%016x", t.Process(key.process).Instance)
		}
		t.Ledger.Add(line)
	}
}
