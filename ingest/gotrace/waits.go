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
	known   map[waitKey]int // index in sums
	sums    []waitSum       // by first wait
	began   int64           // beginning of the window
	last    int64           // the last wait
	under   map[whyKey]stream.StackID
	numbers map[string]int32 // of reasons
	common  []string         // the first reasons, by number
}

func newWaits() waits {
	return waits{known: map[waitKey]int{}, under: map[whyKey]stream.StackID{}, numbers: map[string]int32{}}
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

// whyKey is a stack and a reason.
type whyKey struct {
	stack  stream.StackID
	reason int32
}

// add adds a part of a wait, or its last part.
func (w *waits) add(k waitKey, now, ns, ended int64) {
	i, ok := w.known[k]
	if !ok {
		if len(w.sums) == 0 {
			w.began = now
		}
		i = len(w.sums)
		w.sums = append(w.sums, waitSum{waitKey: k})
		w.known[k] = i
	}
	w.sums[i].ns += ns
	w.sums[i].count += ended
	w.last = now
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
	w.sums = w.sums[:0]
	clear(w.known)
}

// reasons map Go's wait reasons to ours, where they differ.
var reasons = map[string]string{"chan receive": "channel receive", "chan send": "channel send", "": "unknown reason"}

const (
	runnableReason = "runnable"
	callReason     = "system call"
)

// why is a stack with the reason of a wait as its innermost frame.
func (s *Source) why(stack stream.StackID, reason string) stream.StackID {
	k := whyKey{stack, s.waits.number(reason)}
	id, ok := s.waits.under[k]
	if !ok {
		name := reason
		if ours := reasons[reason]; ours != "" {
			name = ours
		}
		id = s.stacks.withLabel(stack, "waiting: "+name, waitingFor)
		s.waits.under[k] = id
	}
	return id
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
