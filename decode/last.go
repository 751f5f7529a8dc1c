package decode

import "gprof/stream"

// lastSamples knows the last sample of each thread in a chunk. It is an
// open-addressed table whose entries bear the number of the chunk, so that to clear
// it is to count on.
type lastSamples struct {
	slots []lastSample // a power of two
	used  int
	chunk uint32
}

type lastSample struct {
	who       uint64
	goroutine uint64
	tick      uint64
	lane      *lane
	stack     stream.StackID
	labels    stream.LabelsID
	chunk     uint32
}

// whoOf is a thread, or a goroutine where that is not known.
func whoOf(thread, goroutine uint64) uint64 {
	if thread == 0 {
		return ^goroutine
	}
	return thread
}

func (l *lastSamples) clear() {
	l.used = 0
	if l.chunk++; l.chunk == 0 || l.slots == nil {
		l.slots, l.chunk = make([]lastSample, 64), 1
	}
}

// find returns the slot of who, and whether it is in use.
func (l *lastSamples) find(who uint64) (s *lastSample, used bool) {
	mask := uint64(len(l.slots) - 1)
	h := who * 0x9e3779b97f4a7c15
	for i := h >> 40 & mask; ; i = (i + 1) & mask {
		s = &l.slots[i]
		if s.chunk != l.chunk {
			return s, false
		}
		if s.who == who {
			return s, true
		}
	}
}

// of returns the slot of who, to be filled where it lies: see [worker.wait].
func (l *lastSamples) of(who uint64) *lastSample {
	s, used := l.find(who)
	if !used {
		if l.used++; 2*l.used > len(l.slots) {
			l.grow()
			s, _ = l.find(who)
		}
		s.who, s.chunk = who, l.chunk
	}
	return s
}

func (l *lastSamples) grow() {
	old := l.slots
	l.slots = make([]lastSample, 2*len(old))
	for i := range old {
		if old[i].chunk == l.chunk {
			s, _ := l.find(old[i].who)
			*s = old[i]
		}
	}
}
