package slow

import (
	"encoding/binary"

	"gprof/stream"
)

// record is something that a goroutine did, or an interval that it had, in the form in which they are
// sorted: by process, goroutine, time and kind.
type record struct {
	process   stream.ProcessID
	goroutine int64
	from      stream.Time
	kind      recordKind
	to        stream.Time    // of an interval and a state
	stack     stream.StackID // of an interval: the number of its name
	value     int64          // ns of a sample or a wait; which state, group or goroutine
	span      stream.Span
}

type recordKind uint8

// The kinds, in the order in which they count at one time: the end of a wait is told before what follows.
const (
	aWake      recordKind = iota // by the goroutine value, at stack
	aState                       // the state value
	anInterval                   // of the group value
	aSample                      // of value ns of CPU time
	aWait                        // seen in looks that stand for value ns together, the last one now
	nothing
)

// recordSize is the size of a record.
const recordSize = 4 + 8 + 8 + 1 + 8 + 4 + 8 + 24

// sign makes signed numbers sort as their bytes.
const sign = 1 << 63

func (r *record) append(dst []byte) []byte {
	be := binary.BigEndian
	dst = be.AppendUint32(dst, uint32(r.process))
	dst = be.AppendUint64(dst, uint64(r.goroutine)^sign)
	dst = be.AppendUint64(dst, uint64(r.from)^sign)
	dst = append(dst, byte(r.kind))
	dst = be.AppendUint64(dst, uint64(r.to)^sign)
	dst = be.AppendUint32(dst, uint32(r.stack))
	dst = be.AppendUint64(dst, uint64(r.value))
	dst = be.AppendUint64(dst, r.span.Trace[0])
	dst = be.AppendUint64(dst, r.span.Trace[1])
	return be.AppendUint64(dst, r.span.ID)
}

func readRecord(b []byte) (r record) {
	be := binary.BigEndian
	r.process = stream.ProcessID(be.Uint32(b))
	r.goroutine = int64(be.Uint64(b[4:]) ^ sign)
	r.from = stream.Time(be.Uint64(b[12:]) ^ sign)
	r.kind = recordKind(b[20])
	r.to = stream.Time(be.Uint64(b[21:]) ^ sign)
	r.stack = stream.StackID(be.Uint32(b[29:]))
	r.value = int64(be.Uint64(b[33:]))
	r.span = stream.Span{Trace: [2]uint64{be.Uint64(b[41:]), be.Uint64(b[49:])}, ID: be.Uint64(b[57:])}
	return r
}
