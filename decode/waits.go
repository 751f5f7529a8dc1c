package decode

import (
	"math"

	"gprof/rawformat"
	"gprof/stream"
)

// waitingSuffix is behind the names of tracks of what waits: they have none of
// what runs.
const waitingSuffix = " (waiting)"

var waitCategory = stream.Category{Name: "Waiting", Color: "grey"}

// waitKey is a stack and a reason; stack is as it stands in the field.
type waitKey struct{ stack, reason uint64 }

// wait is where goroutines wait.
type wait struct {
	lane  *lane
	stack stream.StackID // the reason is its innermost frame
}

// goroutinesWait adds a row of goroutines that wait.
func (w *worker) goroutinesWait(e *entry) {
	k := waitKey{e.v[1], min(e.v[2], uint64(len(rawformat.WaitReasons)))}
	at, ok := w.view.waits[k]
	if !ok {
		at = w.waitOf(k)
		if k.stack != inlineStack {
			w.view.waits[k] = at
		}
	}
	goroutines, wall := known(e.v[3]), known(e.v[4])
	b := w.rows.in(&at.lane.waits, stream.Series{Process: w.job.process.ID, Kind: stream.Waits, Track: at.lane.id}, 0)
	w.row(b, e.at)
	b.Stack = append(b.Stack, at.stack)
	b.Value, b.Number = append(b.Value, together(goroutines, wall)), append(b.Number, goroutines)
}

// together is the time of so many goroutines, at most the longest there is.
func together(goroutines, wall int64) int64 {
	if goroutines > 0 && wall > math.MaxInt64/goroutines {
		return math.MaxInt64
	}
	return goroutines * wall
}

// waitOf finds out where it is.
func (w *worker) waitOf(k waitKey) (at wait) {
	link := stackLink{}
	switch {
	case k.stack == inlineStack:
		link = w.inlineLink()
	case k.stack > inlineStack:
		if link = w.view.dict.links.stack(k.stack - 1); link.sid == 0 {
			w.note(stream.ReasonUndefined, "stacks", "")
		}
	}
	reason := "unknown reason"
	if k.reason < uint64(len(rawformat.WaitReasons)) {
		reason = rawformat.WaitReasons[k.reason]
	}
	w.run.tables.Lock()
	name := w.job.process.name
	if link.sid != 0 {
		name = w.view.dict.roots[link.root]
	}
	names := &w.run.names
	at.stack = w.run.tables.Stacks.Intern(link.sid, names.label("waiting: "+reason, names.category(waitCategory)))
	w.run.tables.Unlock()
	at.lane = w.lane(trackKey{name + waitingSuffix, rootTrack})
	return at
}
