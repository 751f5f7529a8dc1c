package perf

import "gprof/rawformat/perfevent"

// counts is what counters had been at when they were told before: those of a group
// (perf record -e '{cycles,instructions}:S') are told with each sample of its first event.
type counts map[counted]uint64

// counted is a counter: one of an event on a processor or of a thread, which its children
// may share.
type counted struct {
	id  uint64
	tid int32
}

// maxCounted bounds how many counters are kept in mind, as each takes some memory: groups
// are of few events, and their threads of one command.
const maxCounted = 1 << 18

// since is how far a counter of an event has come since it was told before. It is not ok
// if there are too many of them to know.
func (c counts) since(a *attr, tid int32, v perfevent.Value) (n uint64, ok bool) {
	key := counted{id: v.ID}
	if a.Flags&perfevent.FlagInherit != 0 {
		key.tid = tid
	}
	before, known := c[key]
	if !known && len(c) == maxCounted {
		return 0, false
	}
	c[key] = v.Value
	return v.Value - min(before, v.Value), true
}
