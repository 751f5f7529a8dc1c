package gotrace

import (
	"slices"

	"gprof/stream"
)

// waitWindow is how long waits at one stack are summed up into a row, in ns. There may be millions
// in a second.
const waitWindow = 10_000_000

// waits sums up waits by stack and reason.
type waits struct {
	known   map[waitKey]int   // index in sums
	sums    []waitSum         // by first wait
	began   int64             // beginning of the window
	last    int64             // the last wait
	window  int               // number of the window
	under   lookup[waitStack] // by stack and reason
	numbers map[string]int32  // of reasons
	common  []string          // the first reasons, by number
}

func newWaits() waits {
	return waits{known: map[waitKey]int{}, under: newLookup[waitStack](), numbers: map[string]int32{}}
}

// waitStack is a stack with a reason as its innermost frame.
type waitStack struct {
	stack stream.StackID
	// Where the last wait was added: its lane, and the index of the sum in a window.
	lane   *lane
	window int
	sum    int
}

type waitKey struct {
	lane  *lane
	stack stream.StackID // with the reason as its innermost frame
}

type waitSum struct {
	waitKey
	ns    int64
	count int64 // ended waits
}

// add adds a part of a wait, or its last part.
func (w *waits) add(l *lane, y *waitStack, now, ns, ended int64) {
	if y.lane != l || y.window != w.window {
		y.lane, y.window, y.sum = l, w.window, w.find(waitKey{l, y.stack}, now)
	}
	w.sums[y.sum].ns += ns
	w.sums[y.sum].count += ended
	w.last = now
}

// find returns the index of a sum.
func (w *waits) find(k waitKey, now int64) int {
	i, ok := w.known[k]
	if !ok {
		if len(w.sums) == 0 {
			w.began = now
		}
		i = len(w.sums)
		w.sums = append(w.sums, waitSum{waitKey: k})
		w.known[k] = i
	}
	return i
}

// due reports whether the window is over.
func (w *waits) due(now int64) bool { return len(w.sums) > 0 && now-w.began >= waitWindow }

// tellWaits makes rows of the window.
func (s *Source) tellWaits() {
	w := &s.waits
	at := s.clock.at(w.last)
	for i := range w.sums {
		if s.leaveOut(stream.Waits) {
			continue
		}
		sum := &w.sums[i]
		b := s.rows.Row(stream.Series{Process: s.process, Kind: stream.Waits, Track: s.tracks.waitsTrack(sum.lane)}, 0, at)
		b.Stack = append(b.Stack, sum.stack)
		b.Value, b.Number = append(b.Value, sum.ns), append(b.Number, sum.count)
	}
	w.window++
	w.sums = w.sums[:0]
	clear(w.known)
}

// reasons map Go's wait reasons to ours, where they differ.
var reasons = map[string]string{"chan receive": "channel receive", "chan send": "channel send", "": "unknown reason"}

const (
	runnableReason = "runnable"
	callReason     = "system call"
)

// why returns a stack with the reason of a wait.
func (s *Source) why(stack stream.StackID, reason string) *waitStack {
	k := int64(stack)<<32 | int64(s.waits.number(reason))
	y := s.waits.under.at(k)
	if y == nil {
		name := reason
		if ours := reasons[reason]; ours != "" {
			name = ours
		}
		y = &waitStack{stack: s.stacks.withLabel(stack, "waiting: "+name, waitingFor)}
		s.waits.under.set(k, y)
	}
	return y
}

// number is the number of a reason. The library mostly returns the same string for one, so
// comparing with the first dozens, of which there are seldom more, is faster than hashing.
func (w *waits) number(reason string) int32 {
	if i := slices.Index(w.common, reason); i >= 0 {
		return int32(i)
	}
	n, ok := w.numbers[reason]
	if !ok {
		n = int32(len(w.numbers))
		w.numbers[reason] = n
		if n < maxCommon {
			w.common = append(w.common, reason)
		}
	}
	return n
}

const maxCommon = 32
