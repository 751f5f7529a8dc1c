package decode

import (
	"encoding/binary"
	"slices"

	"gprof/chunks"
	"gprof/rawformat"
)

// Most entries are samples. The loops below read them in less time than [entry.read] and the handlers, to which they leave
// whatever is not usual: integers that are too long, a stack block before the sample, fields that are missing. What the
// loops have in common is no function of its own: the compiler would not inline it, and a call for each sample shows.

// sampleReaders read usual samples from an entry of that kind on, and return where the next entry begins that is none.
var sampleReaders = [256]func(w *worker, u *chunks.Run, at int) int{
	rawformat.KindSample:     (*worker).readPlain,
	rawformat.KindSameSample: (*worker).readPlain,
	rawformat.KindBusy:       (*worker).readBusy,
	rawformat.KindBusyFor:    (*worker).readBusy,
}

// oneByte is what integers of one byte are less than.
const oneByte = 0x80

// readPlain reads samples, with and without stacks of their own. Their windows are ignored: the recorder's "cpu window" markers
// show them.
func (w *worker) readPlain(u *chunks.Run, at int) int {
	data, pending, tick := u.Data[:len(u.Data)+rawformat.Slack], w.pending, w.tick
	for at < len(u.Data) {
		kind, size := rawformat.Kind(data[at+1]), uint(data[at])
		if kind != rawformat.KindSample && kind != rawformat.KindSameSample {
			break
		}
		if len(pending) == cap(pending) {
			pending = slices.Grow(pending, 1)
		}
		s := &pending[:len(pending)+1][len(pending)]
		ints := (*[intBytes]byte)(data[at+2:])
		passed, length := rawformat.WordUint(binary.LittleEndian.Uint64(ints[:]))
		n := uint(length)
		thread, n := uint64(ints[n&63]), n+1
		if thread >= oneByte {
			thread, n = longer(ints, n-1)
		}
		goroutine, n := uint64(ints[n&63]), n+1
		if goroutine >= oneByte {
			goroutine, n = longer(ints, n-1)
		}
		s.Thread, s.Goroutine, s.link = int64(thread), int64(goroutine), stackLink{}
		s.track, s.stack, s.like = 0, 0, likeStack
		bits := uint(0)
		if kind == rawformat.KindSample {
			track := uint64(ints[n&63])
			if n++; track >= oneByte {
				track, n = longer(ints, n-1)
			}
			stack, stackBits := short(binary.LittleEndian.Uint32(ints[n&63:]))
			bits, n = stackBits, n+stackBits/8
			s.track, s.stack, s.like = track, uint64(stack), likeNone
		}
		weight, n := uint64(ints[n&63]), n+1
		if weight >= oneByte {
			weight, n = longer(ints, n-1)
		}
		cpu, cpuBits := short(binary.LittleEndian.Uint32(ints[n&63:]))
		s.Weight, s.CPU, n = int64(weight), int64(cpu)-1, n+cpuBits/8
		if kind == rawformat.KindSample {
			if n++; ints[(n-1)&63] >= oneByte {
				_, n = longer(ints, n-1)
			}
		}
		if length == 0 || (bits|cpuBits)%8 != 0 || n+1 > size || size >= oneByte || s.stack == inlineStack {
			break
		}
		tick += uint64(rawformat.Unzigzag(passed))
		s.tick, s.Index, s.Labels = tick, u.Index+uint64(at), w.labels
		pending = pending[:len(pending)+1]
		at += 1 + int(size)
	}
	w.pending, w.tick = pending, tick
	return at
}

// readBusy reads samples that are relative to the blocks before, with and without CPU time that was measured.
func (w *worker) readBusy(u *chunks.Run, at int) int {
	data, pending, tick, of := u.Data[:len(u.Data)+rawformat.Slack], w.pending, w.tick, w.sampling
	for at < len(u.Data) {
		kind, size := rawformat.Kind(data[at+1]), uint(data[at])
		if kind != rawformat.KindBusy && kind != rawformat.KindBusyFor {
			break
		}
		if len(pending) == cap(pending) {
			pending = slices.Grow(pending, 1)
		}
		s := &pending[:len(pending)+1][len(pending)]
		ints := (*[intBytes]byte)(data[at+2:])
		passed, length := rawformat.WordUint(binary.LittleEndian.Uint64(ints[:]))
		n := uint(length)
		thread, n := uint64(ints[n&63]), n+1
		if thread >= oneByte {
			thread, n = longer(ints, n-1)
		}
		goroutine, n := uint64(ints[n&63]), n+1
		if goroutine >= oneByte {
			goroutine, n = longer(ints, n-1)
		}
		stack, bits := short(binary.LittleEndian.Uint32(ints[n&63:]))
		n += bits / 8
		s.CPU = of.cpu()
		if kind == rawformat.KindBusyFor {
			excess := uint64(ints[n&63])
			if n++; excess >= oneByte {
				excess, n = longer(ints, n-1)
			}
			s.CPU = of.busy(excess)
		}
		if length == 0 || bits%8 != 0 || n+1 > size || size >= oneByte || stack == inlineStack {
			break
		}
		of.thread += uint64(rawformat.Unzigzag(thread))
		of.goroutine += uint64(rawformat.Unzigzag(goroutine))
		s.Thread, s.Goroutine, s.Weight = known(of.thread), known(of.goroutine), 1
		s.track, s.stack, s.link, s.like = of.track, uint64(stack), stackLink{}, likeNone
		tick += uint64(rawformat.Unzigzag(passed)) * rawformat.SampleUnit
		s.tick, s.Index, s.Labels = tick, u.Index+uint64(at), w.labels
		pending = pending[:len(pending)+1]
		at += 1 + int(size)
	}
	w.pending, w.tick, w.sampling = pending, tick, of
	return at
}

// longer reads an integer that is longer than a byte. It is no part of what calls it, so that the usual case is short. If it is
// longer than a word, next is beyond the end of any block whose length is a byte.
//
//go:noinline
func longer(ints *[intBytes]byte, n uint) (v uint64, next uint) {
	x := binary.LittleEndian.Uint64(ints[n&63:])
	if x&0x8000 == 0 {
		return x&0x7f | x>>1&0x3f80, n + 2
	}
	v, size := rawformat.WordUint(x)
	if size == 0 {
		return 0, oneByte
	}
	return v, n + uint(size)
}
