package decode

import (
	"encoding/binary"

	"gprof/chunks"
	"gprof/rawformat"
)

// Most entries are samples. The loops below read them in less time than [entry.read] and the handlers, to which they leave
// whatever is not usual: a stack block before the sample, fields that are missing, and integers of more than eight bytes, of
// more than four where these are a thread, a track, a stack, a weight, or an excess. What the loops have in common is no
// function of its own: the compiler would not inline it, and a call for each sample shows.

// sampleReaders read usual samples from an entry of that kind on, as many as may wait, and return where the next entry begins.
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
	waiting, tick, end := w.waiting, w.tick, u.Index+uint64(len(u.Data))
	rest := u.Data[at : len(u.Data)+rawformat.Slack]
	for len(rest) > rawformat.Slack && waiting < uint(len(w.pending)) {
		kind, block := rawformat.Kind(rest[1]), uint(rest[0])
		if kind != rawformat.KindSample && kind != rawformat.KindSameSample {
			break
		}
		s := &w.pending[waiting]
		ints := (*[intBytes]byte)(rest[2:])
		passed, length := rawformat.WordUint(binary.LittleEndian.Uint64(ints[:]))
		n := uint(length)
		thread, size := steady(binary.LittleEndian.Uint32(ints[n&63:]))
		if n += size; length == 0 || size == 0 {
			break
		}
		goroutine := uint64(ints[n&63])
		if length = 1; goroutine >= oneByte {
			goroutine, length = rawformat.WordUint(binary.LittleEndian.Uint64(ints[n&63:]))
		}
		if n += uint(length); length == 0 {
			break
		}
		s.Thread, s.Goroutine, s.link = int64(thread), int64(goroutine), stackLink{}
		s.track, s.stack, s.like = 0, 0, likeStack
		if kind == rawformat.KindSample {
			track, size := steady(binary.LittleEndian.Uint32(ints[n&63:]))
			if n += size; size == 0 {
				break
			}
			stack, size, ok := short(binary.LittleEndian.Uint32(ints[n&63:]))
			if n += size; !ok || stack == inlineStack {
				break
			}
			s.track, s.stack, s.like = uint64(track), uint64(stack), likeNone
		}
		weight, size := steady(binary.LittleEndian.Uint32(ints[n&63:]))
		if n += size; size == 0 {
			break
		}
		word := binary.LittleEndian.Uint64(ints[n&63:])
		least, size, ok := short(uint32(word))
		cpu := uint64(least)
		if !ok {
			cpu, length = rawformat.WordUint(word)
			size = uint(length)
		}
		if n += size; length == 0 {
			break
		}
		s.Weight, s.CPU = int64(weight), int64(cpu)-1
		if kind == rawformat.KindSample {
			_, length = rawformat.WordUint(binary.LittleEndian.Uint64(ints[n&63:]))
			if n += uint(length); length == 0 {
				break
			}
		}
		if n+1 > block || block >= oneByte {
			break
		}
		tick += uint64(rawformat.Unzigzag(passed))
		s.tick, s.Index, s.Labels = tick, end-uint64(len(rest)-rawformat.Slack), w.labels
		waiting++
		rest = rest[1+block:]
	}
	w.waiting, w.tick = waiting, tick
	return len(u.Data) + rawformat.Slack - len(rest)
}

// readBusy reads samples that are relative to the blocks before, with and without CPU time that was measured.
func (w *worker) readBusy(u *chunks.Run, at int) int {
	waiting, tick, of, end := w.waiting, w.tick, w.sampling, u.Index+uint64(len(u.Data))
	rest := u.Data[at : len(u.Data)+rawformat.Slack]
	for len(rest) > rawformat.Slack && waiting < uint(len(w.pending)) {
		kind, block := rawformat.Kind(rest[1]), uint(rest[0])
		if kind != rawformat.KindBusy && kind != rawformat.KindBusyFor {
			break
		}
		s := &w.pending[waiting]
		ints := (*[intBytes]byte)(rest[2:])
		passed, length := rawformat.WordUint(binary.LittleEndian.Uint64(ints[:]))
		n := uint(length)
		thread, size, ok := short(binary.LittleEndian.Uint32(ints[n&63:]))
		if n += size; length == 0 || !ok {
			break
		}
		word := binary.LittleEndian.Uint64(ints[n&63:])
		least, size, ok := short(uint32(word))
		goroutine := uint64(least)
		if !ok {
			goroutine, length = rawformat.WordUint(word)
			size = uint(length)
		}
		if n += size; length == 0 {
			break
		}
		stack, size, ok := short(binary.LittleEndian.Uint32(ints[n&63:]))
		if n += size; !ok || stack == inlineStack {
			break
		}
		s.CPU = of.cpu()
		if kind == rawformat.KindBusyFor {
			excess, size, ok := short(binary.LittleEndian.Uint32(ints[n&63:]))
			if n += size; !ok {
				break
			}
			s.CPU = of.busy(uint64(excess))
		}
		if n+1 > block || block >= oneByte {
			break
		}
		of.thread += uint64(rawformat.Unzigzag(uint64(thread)))
		of.goroutine += uint64(rawformat.Unzigzag(goroutine))
		s.Thread, s.Goroutine, s.Weight = known(of.thread), known(of.goroutine), 1
		s.track, s.stack, s.link, s.like = of.track, uint64(stack), stackLink{}, likeNone
		tick += uint64(rawformat.Unzigzag(passed)) * rawformat.SampleUnit
		s.tick, s.Index, s.Labels = tick, end-uint64(len(rest)-rawformat.Slack), w.labels
		waiting++
		rest = rest[1+block:]
	}
	w.waiting, w.tick, w.sampling = waiting, tick, of
	return len(u.Data) + rawformat.Slack - len(rest)
}

// steady reads an integer of up to four bytes of which most have the same length, so that the processor guesses it right and
// goes on with the next one; size is 0 if it is longer.
func steady(w uint32) (v uint32, size uint) {
	if v = w & 0x7f; w&0x80 == 0 {
		return v, 1
	}
	if v |= w >> 1 & 0x3f80; w&0x8000 == 0 {
		return v, 2
	}
	if v |= w >> 2 & 0x1fc000; w&0x800000 == 0 {
		return v, 3
	}
	return v | w>>3&0x0fe00000, 4 * uint(^w>>31)
}
