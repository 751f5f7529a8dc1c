package shard

import (
	"gprof/rawformat"
	"gprof/recorder/internal/rt"
)

// Sample is a CPU sample of a thread.
type Sample struct {
	Time              rt.Tick
	Thread, Goroutine uint64
	Track             uint32
	Stack             uint64   // the stack field: 0 none, [RawStack], else id + 1
	PCs               []uint64 // of a raw stack
	Period            uint64   // ns of CPU time
	Periods           uint64   // how many the sample stands for
	CPU               uint64   // ns of CPU time since the thread's last sample, plus 1; 0: not measured
}

// RawStack is the value of a stack field that refers to the stack block before it.
const RawStack = 1

// LastSample is a thread's last sample, and where it lies, so that it can be repeated. The
// zero LastSample is none.
type LastSample struct {
	at         rt.Tick
	stack      uint64
	thread     uint64
	goroutine  uint64
	track      uint32
	epoch      uint64 // of the chunk; 0: there is no sample to repeat
	generation uint16 // of the dictionary
}

// Valid reports whether there is a sample to repeat.
func (s *LastSample) Valid() bool { return s.epoch != 0 }

// Sample writes a sample as a busy or busy-for block, or as a sample block if it stands for more
// than one period. It calls claim with the block's index before it commits the block. A sample
// for which there is no room is counted, and the LastSample is the zero one. False: no
// shard was free.
func (r *Recording) Sample(s *Sample, claim func(index uint64)) (seen LastSample, ok bool) {
	w := r.awaitShard()
	if w == nil {
		return LastSample{}, false
	}
	if w = r.readyForSample(w, s); w == nil {
		return LastSample{}, true
	}
	var b []byte
	if s.Periods == 1 {
		b = w.busy(s)
	} else {
		cpu := s.CPU
		if cpu == 0 {
			cpu = s.Periods*s.Period + 1
		}
		b = w.sample(s.Time, [...]uint64{s.Thread, s.Goroutine, uint64(s.Track), s.Stack, s.Periods, cpu, 0})
	}
	claim(w.index())
	w.finish(b)
	seen = LastSample{s.Time, s.Stack, s.Thread, s.Goroutine, s.Track, w.chunk.Epoch(), w.generation}
	leave(w)
	return seen, true
}

// Idle repeats a thread's last sample, with no CPU time. If that lies in another chunk it
// is stated anew, so that each chunk decodes without others; if its stack has no id in this
// chunk's dictionary it is forgotten.
func (r *Recording) Idle(last *LastSample, at rt.Tick) {
	w := r.awaitShard()
	if w == nil { // no CPU time is lost, so no loss is counted
		return
	}
	if w = r.ready(w, sampleRoom, anyContext, at); w == nil {
		return
	}
	switch {
	case last.epoch == w.chunk.Epoch():
		after := uint64(max(0, at-last.at)) / rawformat.SampleUnit
		b := rawformat.AppendSint(w.begin(rawformat.KindIdle), int64(last.thread-w.sampled.thread))
		w.finish(rawformat.AppendUint(b, after))
		last.at += rt.Tick(after * rawformat.SampleUnit)
	case last.generation == w.generation && last.stack != RawStack:
		w.finish(w.sample(at, [...]uint64{last.thread, last.goroutine, uint64(last.track), last.stack, 0, 1, 0}))
		last.at, last.epoch = at, w.chunk.Epoch()
	default:
		last.epoch = 0
	}
	leave(w)
}

// readyForSample is ready for a busy block. It writes the sampling block and, if the
// stack has no id yet, the stack block, in the page that the busy block will be in.
func (r *Recording) readyForSample(w *shard, s *Sample) *shard {
	size := uint32(sampleRoom + 2*10*len(s.PCs))
	for w = r.ready(w, size, anyContext, s.Time); w != nil; w = r.ready(w, size, anyContext, s.Time) {
		w.sampling(s.Track, s.Period)
		if len(s.PCs) > 0 {
			w.stack(s.PCs)
		}
		if w.samePage() {
			break
		}
	}
	return w
}

// sampling writes a sampling block, if the last one in this page says something else.
func (s *shard) sampling(track uint32, period uint64) {
	is := &s.sampled
	if is.track == track && is.period == period {
		return
	}
	b := rawformat.AppendUint(s.begin(rawformat.KindSampling), uint64(track))
	if is.period == period {
		b = rawformat.AppendUint(b, 0)
	} else {
		b = rawformat.AppendUint(b, period)
	}
	is.track, is.period = track, period
	s.finish(b)
}

// busy begins a busy or busy-for block; the caller finishes it.
func (s *shard) busy(of *Sample) []byte {
	kind := rawformat.KindBusy
	if of.CPU > 0 {
		kind = rawformat.KindBusyFor
	}
	is := &s.sampled
	b := s.coarseTime(s.begin(kind), of.Time)
	b = rawformat.AppendSint(b, int64(of.Thread-is.thread))
	b = rawformat.AppendSint(b, int64(of.Goroutine-is.goroutine))
	is.thread, is.goroutine = of.Thread, of.Goroutine
	b = rawformat.AppendUint(b, of.Stack)
	if of.CPU > 0 {
		b = rawformat.AppendSint(b, rawformat.BusyExcess(of.CPU-1, of.Period))
	}
	return b
}

// sample begins a sample block with these fields after its time; the caller finishes it.
func (s *shard) sample(at rt.Tick, fields [7]uint64) []byte {
	b := s.time(s.begin(rawformat.KindSample), at)
	for _, v := range fields {
		b = rawformat.AppendUint(b, v)
	}
	return b
}

// coarseTime appends a C, the time since the last block in units of rawformat.SampleUnit.
func (s *shard) coarseTime(b []byte, now rt.Tick) []byte {
	delta := int64(now-s.last) >> sampleShift
	s.last += rt.Tick(delta << sampleShift)
	return rawformat.AppendSint(b, delta)
}

const (
	sampleShift = 8 // of rawformat.SampleUnit

	// sampleRoom is more than a sample block and the length of a stack block take.
	sampleRoom = 96
)
