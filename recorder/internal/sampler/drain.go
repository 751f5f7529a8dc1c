//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package sampler

import (
	"gprof/rawformat"
	"gprof/recorder/internal/dict"
	"gprof/recorder/internal/shard"
)

// maxDrained is how many records a ring can hold. No more are drained at once, because
// otherwise the keeper might never finish with a busy thread, above all with its own.
const maxDrained = rawformat.StacksWords / rawformat.StackFixed

// drain moves the records of a thread's ring into chunks, and returns how many there were.
// A record for which no writer is free stays in the ring until the next time.
func (s *Sampler) drain(tid int, t *threadState) (drained int) {
	if n := t.stacks.Lost(); n > 0 {
		s.host.Recording.Lose(rawformat.LostSamples, n, 0)
	}
	for range maxDrained {
		var rec rawformat.StackRecord
		ok, err := t.stacks.Next(&rec)
		if err != nil {
			s.host.Recording.Lose(rawformat.LostSamples, 1, 0)
		}
		if !ok {
			return drained
		}
		if sampleClock() == rawformat.ClockMonotonic {
			rec.Time = uint64(s.host.Recording.Clock().OfMonotonic(rec.Time))
		}
		s.endIdle(t)
		if !s.write(tid, t, &rec) {
			t.stacks.Back()
			return drained
		}
		t.stacks.Drained()
		drained++
		if s.host.Ring.Low() { // many new stacks take a while
			s.host.Maintain()
		}
	}
	return drained
}

// drainAll drains the ring of a thread that has ended, or is not sampled for now. What can't be
// written is counted as lost.
func (s *Sampler) drainAll(tid int, t *threadState) {
	s.drain(tid, t)
	s.endIdle(t)
	s.host.Recording.Lose(rawformat.LostSamples, s.forget(t), 0)
}

// forget drops what is left in a thread's ring, and returns how many records that are.
func (s *Sampler) forget(t *threadState) (dropped uint64) {
	for range maxDrained {
		var rec rawformat.StackRecord
		if ok, err := t.stacks.Next(&rec); !ok && err == nil {
			break
		}
		t.stacks.Drained()
		dropped++
	}
	return dropped
}

// intern returns the stack of a record as a field of a block: by the id that the dictionary
// gives it, or raw if the dictionary has no room.
func (s *Sampler) intern(rec *rawformat.StackRecord) (field uint64, pcs []uint64) {
	calls := s.key(rec)
	id := s.host.Recording.FindStack(calls)
	if id == 0 {
		leafFirst, wrappers := s.placed.stack(calls)
		if id = s.host.Dict.Stack(leafFirst); id == 0 && s.placed.forget() { // the dictionary may have begun anew
			leafFirst, wrappers = s.placed.stack(calls)
			id = s.host.Dict.Stack(leafFirst)
		}
		if id == 0 {
			return shard.RawStack, pcsOf(leafFirst)
		}
		s.placed.remember()
		s.host.Recording.AddStack(calls, id)
		s.host.Dict.Name(wrappers)
	}
	return uint64(id) + 1, nil
}

// pcsOf is a stack as pcs, without labels.
func pcsOf(leafFirst []dict.Frame) (pcs []uint64) {
	for _, l := range leafFirst[:min(len(leafFirst), shard.MaxPCs)] {
		if l.Label == 0 {
			pcs = append(pcs, l.PC)
		}
	}
	return pcs
}

// key is the stack as frame pointers gave it, leaf first: return addresses, and labels
// marked by a bit. A function without a frame may have its caller's stack pointer; labels
// at that address belong to the caller if the pc is in such a function, else to the
// function itself. Valid until the next call.
func (s *Sampler) key(rec *rawformat.StackRecord) []uintptr {
	calls, labels := s.calls[:0], rec.Returns
	take := func(where uint64) {
		for len(labels) > 0 && labels[0]&(rawformat.StackLabel|where) == rawformat.StackLabel|where {
			calls = append(calls, rawformat.StackLabel|uintptr(uint32(labels[0])))
			labels = labels[1:]
		}
	}
	frameless := s.leaf.frameless(uintptr(rec.PC))
	take(rawformat.StackLabelPC)
	if sharesStack && !frameless {
		take(rawformat.StackLabelTop)
	}
	calls = append(calls, uintptr(rec.PC)+1)
	take(rawformat.StackLabelTop)
	if frameless && isCode(uintptr(rec.Top)) {
		calls = append(calls, uintptr(rec.Top))
	}
	for _, pc := range labels {
		if sharesStack && pc&(rawformat.StackLabel|3) == unfinished {
			if frameless { // the function was begun by a signal, so this is no return address
				continue
			}
			pc += 4 - unfinished
		}
		calls = append(calls, uintptr(pc))
	}
	s.calls = calls
	return calls
}

// unfinished is the offset into an instruction of a return address whose function was about
// to make its frame. Other return addresses lie at the beginning of an instruction.
const unfinished = 2

func isCode(pc uintptr) bool { return sampleLayout.text <= pc && pc < sampleLayout.etext }
