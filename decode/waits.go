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

// offKey is where a thread was off the processor, and why; all are as they stand in the
// fields.
type offKey struct{ track, stack, reason uint64 }

// offCPU adds a row of the time that a thread was off the processor.
func (w *worker) offCPU(e *entry) {
	k := offKey{e.v[2], e.v[3], min(e.v[4], uint64(len(rawformat.OffReasons)))}
	at, ok := w.view.offs[k]
	if !ok {
		at = w.offOf(k)
		if k.stack != inlineStack {
			w.view.offs[k] = at
		}
	}
	b := w.rows.in(&at.lane.waits, stream.Series{Process: w.job.process.ID, Kind: stream.Waits, Track: at.lane.id}, 0)
	w.row(b, e.at)
	b.Stack = append(b.Stack, at.stack)
	b.Value, b.Number = append(b.Value, known(e.v[5])), append(b.Number, 1)
}

// offOf finds out where it is.
func (w *worker) offOf(k offKey) (at wait) {
	name := w.job.process.name
	if k.track != 0 {
		name, _ = w.trackName(k.track)
	}
	at.stack = w.waitingAt(w.waitLink(k.stack), rawformat.OffReasons, k.reason)
	at.lane = w.lane(trackKey{name + waitingSuffix, rootTrack})
	return at
}

// waitLink is the link of a stack as it stands in the field.
func (w *worker) waitLink(stack uint64) (link stackLink) {
	switch {
	case stack == inlineStack:
		link = w.inlineLink()
	case stack > inlineStack:
		if link = w.view.dict.stack(stack - 1); link.sid == 0 {
			w.note(stream.ReasonUndefined, "stacks", "")
		}
	}
	return link
}

// waitingAt is a stack with a reason as its innermost frame.
func (w *worker) waitingAt(link stackLink, reasons []string, reason uint64) stream.StackID {
	text := "unknown reason"
	if reason < uint64(len(reasons)) {
		text = reasons[reason]
	}
	w.run.tables.Lock()
	defer w.run.tables.Unlock()
	names := &w.run.names
	return w.run.tables.Stacks.Intern(link.sid, names.label("waiting: "+text, names.category(waitCategory)))
}

// waitOf finds out where it is.
func (w *worker) waitOf(k waitKey) (at wait) {
	link := w.waitLink(k.stack)
	name := w.job.process.name
	at.stack = w.waitingAt(link, rawformat.WaitReasons, k.reason)
	if link.sid != 0 {
		w.run.tables.Lock()
		name = w.view.dict.roots[link.root]
		w.run.tables.Unlock()
	}
	at.lane = w.lane(trackKey{name + waitingSuffix, rootTrack})
	return at
}
