package attach

import (
	"cmp"
	"encoding/binary"
	"slices"

	"gprof/rawformat/perfevent"
)

// batch sorts the records of several processors by time. If all buffers have been read after some moment, all records up to
// that moment are there; later ones stay for the next round.
type batch struct {
	all   []item
	bytes []byte // of the bodies
	spare []byte
}

// item is a record.
type item struct {
	time     uint64
	head     perfevent.Head
	at, size int // of its body
}

// settle is how late the kernel may write a record, in ns: it reads the clock, walks the
// stack, and then writes.
const settle = 2e6

func (b *batch) add(h perfevent.Head, body []byte) {
	b.all = append(b.all, item{when(h, body), h, len(b.bytes), len(body)})
	b.bytes = append(b.bytes, body...)
}

// when is the time of a record, 0 if it has none.
func when(h perfevent.Head, body []byte) uint64 {
	at := len(body) - 8
	if h.Kind == perfevent.KindSample {
		at = 16 // behind ip, pid and tid
	}
	if at < 0 || at+8 > len(body) {
		return 0
	}
	return binary.LittleEndian.Uint64(body[at:])
}

// each calls f for the records up to a moment, in order; f must not keep the body.
func (b *batch) each(until uint64, f func(it *item, body []byte)) {
	slices.SortStableFunc(b.all, func(a, b item) int { return cmp.Compare(a.time, b.time) })
	n := 0
	for ; n < len(b.all) && b.all[n].time <= until; n++ {
		it := &b.all[n]
		f(it, b.bytes[it.at:it.at+it.size])
	}
	rest := b.spare[:0]
	for i := range b.all[n:] {
		it := &b.all[n+i]
		at := len(rest)
		rest = append(rest, b.bytes[it.at:it.at+it.size]...)
		it.at = at
	}
	b.all = append(b.all[:0], b.all[n:]...)
	b.bytes, b.spare = rest, b.bytes
}
