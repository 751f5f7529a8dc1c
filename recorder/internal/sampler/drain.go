//go:build linux && (amd64 || arm64) && !gprof_portable && !go1.28

package sampler

import (
	"runtime"
	"slices"

	"gprof/rawformat"
	"gprof/recorder/internal/dict"
	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
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

// abandon counts the records left in the ring of a thread that has ended.
func (s *Sampler) abandon(t *threadState) {
	for range maxDrained {
		var rec rawformat.StackRecord
		if ok, err := t.stacks.Next(&rec); !ok && err == nil {
			return
		}
		s.host.Recording.Lose(rawformat.LostSamples, 1, 0)
		t.stacks.Drained()
	}
}

// intern returns the stack of a record as a field of a block: by the id that the dictionary
// gives it, or raw if the dictionary has no room.
func (s *Sampler) intern(rec *rawformat.StackRecord) (field uint64, pcs []uint64) {
	calls := s.key(rec)
	id := s.host.Recording.FindStack(calls)
	if id == 0 {
		leafFirst := s.places(calls)
		if id = s.host.Dict.Stack(leafFirst); id != 0 {
			s.host.Recording.AddStack(calls, id)
			s.host.Dict.Name(wrappers(calls, leafFirst))
		} else {
			return shard.RawStack, pcsOf(leafFirst)
		}
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

// places resolves the addresses of a key to frames, each with all functions inlined there.
func (s *Sampler) places(calls []uintptr) (leafFirst []dict.Frame) {
	for len(calls) > 0 {
		n := 0
		for n < len(calls) && calls[n]&rawformat.StackLabel == 0 {
			n++
		}
		leafFirst = append(leafFirst, locateFrames(calls[:n])...)
		if calls = calls[n:]; len(calls) == 0 {
			break
		}
		if calls[0] == rawformat.StackCut {
			leafFirst = append(leafFirst, dict.Truncated)
		} else if id := uint32(calls[0]); labelKnown(id) {
			leafFirst = append(leafFirst, dict.Frame{Label: id})
		}
		calls = calls[1:]
	}
	return leafFirst
}

func labelKnown(id uint32) bool {
	_, ok := registry.LabelNamed(id)
	return ok
}

// locateFrames resolves return addresses that frame pointers gave. If Go knows no
// function, as in C code, only the pc is known.
func locateFrames(calls []uintptr) (leafFirst []dict.Frame) {
	for len(calls) > 0 && runtime.FuncForPC(calls[0]-1) == nil {
		leafFirst = append(leafFirst, dict.Frame{PC: uint64(calls[0]) - 1})
		calls = calls[1:]
	}
	expanded := make([]uintptr, rt.MaxInlined*len(calls))
	n := rt.ExpandInlined(expanded, append([]uintptr{0}, calls...))
	return append(leafFirst, dict.Locate(expanded[:n])...)
}

// wrappers are the functions that the compiler puts around others; the places of a key
// leave them out. Tools that read the rings of a killed process find them there, and need
// their names.
func wrappers(calls []uintptr, leafFirst []dict.Frame) (left []dict.Frame) {
	for _, call := range calls {
		pc := uint64(call) - 1
		if call&rawformat.StackLabel != 0 || slices.ContainsFunc(leafFirst, func(l dict.Frame) bool { return l.PC == pc }) || !rt.IsWrapper(call) {
			continue
		}
		if f := runtime.FuncForPC(call - 1); f != nil {
			file, line := f.FileLine(call - 1)
			left = append(left, dict.Frame{PC: pc, Functions: []dict.Function{{Name: f.Name(), File: file, Line: int64(line)}}})
		}
	}
	return left
}
