package decode

import "gprof/stream"

// lastSamples knows the last sample of each thread and goroutine in a chunk. It
// is an open-addressed table whose entries bear the number of the chunk, so that
// to clear it is to count on.
type lastSamples struct {
	slots []lastSample // a power of two
	used  int
	chunk uint32
}

type lastSample struct {
	thread, goroutine uint64
	lane              *lane
	stack             stream.StackID
	chunk             uint32
}

func (l *lastSamples) clear() {
	l.used = 0
	if l.chunk++; l.chunk == 0 || l.slots == nil {
		l.slots, l.chunk = make([]lastSample, 64), 1
	}
}

// find returns the slot of a thread and goroutine, and whether it is in use.
func (l *lastSamples) find(thread, goroutine uint64) (s *lastSample, used bool) {
	mask := uint64(len(l.slots) - 1)
	h := (thread*31 + goroutine) * 0x9e3779b97f4a7c15
	for i := h >> 40 & mask; ; i = (i + 1) & mask {
		s = &l.slots[i]
		if s.chunk != l.chunk {
			return s, false
		}
		if s.thread == thread && s.goroutine == goroutine {
			return s, true
		}
	}
}

func (l *lastSamples) set(thread, goroutine uint64, lane *lane, stack stream.StackID) {
	s, used := l.find(thread, goroutine)
	if !used {
		if l.used++; 2*l.used > len(l.slots) {
			l.grow()
			s, _ = l.find(thread, goroutine)
		}
	}
	*s = lastSample{thread, goroutine, lane, stack, l.chunk}
}

func (l *lastSamples) grow() {
	old := l.slots
	l.slots = make([]lastSample, 2*len(old))
	for i := range old {
		if old[i].chunk == l.chunk {
			s, _ := l.find(old[i].thread, old[i].goroutine)
			*s = old[i]
		}
	}
}
