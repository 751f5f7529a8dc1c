package pack

import (
	"math"
	"strconv"
	"time"

	"gprof/rawformat"
)

// Span is a stretch of time, both ends included, in nanoseconds since the Unix
// epoch. The zero value is all time.
type Span struct{ From, To int64 }

// lateness is how much earlier than its chunk was opened an event may have been:
// CPU samples come in windows of a second.
const lateness = 2 * int64(time.Second)

// clock places the monotonic times of a process on the time line: a monotonic
// time m is the moment real + (m - monotonic). It is package decode's rule.
type clock struct {
	monotonic uint64
	real      int64
	known     bool
}

func (c *clock) at(monotonic uint64) int64 { return c.real + int64(monotonic-c.monotonic) }

// clockOf is the clock that a meta file tells of, else the earliest anchor's.
func clockOf(meta []byte, files []entry) clock {
	if c := metaClock(meta); c.known {
		return c
	}
	var c clock
	for i := range files {
		h, _, err := rawformat.ReadHeader(files[i].header[:])
		if a := h.Open; err == nil && h.Epoch != 0 && a.Monotonic != 0 && (!c.known || a.Monotonic < c.monotonic) {
			c = clock{a.Monotonic, a.Realtime, true}
		}
	}
	return c
}

func metaClock(meta []byte) clock {
	m, err1 := strconv.ParseUint(metaValue(meta, rawformat.MetaStartMono), 10, 64)
	t, err2 := strconv.ParseInt(metaValue(meta, rawformat.MetaStartReal), 10, 64)
	return clock{m, t, err1 == nil && err2 == nil}
}

// metaValue is the first value of a key in a meta file, "" if there is none.
func metaValue(meta []byte, key string) string {
	h, err := rawformat.ReadRecordHeader(meta)
	if err != nil {
		return ""
	}
	r := rawformat.NewCursor(meta[rawformat.RecordHeaderSize:], rawformat.RecordHeaderSize)
	for {
		_, fields, intact, ok := r.Record(h.Instance, h.Generation)
		if !ok {
			return ""
		}
		k, v := fields.Text("key"), fields.Text("value")
		if intact && fields.Err() == nil && string(k) == key {
			return string(v)
		}
	}
}

// time is from when to when a chunk's events may be; what is not known is
// without bound.
func (e *entry) time(c *clock) (from, to int64) {
	from, to = math.MinInt64, math.MaxInt64
	h, sealed, err := rawformat.ReadHeader(e.header[:])
	if err != nil || !c.known {
		return from, to
	}
	if h.Open.Monotonic != 0 {
		from = c.at(h.Open.Monotonic) - lateness
	}
	if sealed && h.Close.Monotonic != 0 {
		to = c.at(h.Close.Monotonic)
	}
	return from, to
}

// touches reports whether a chunk may hold an event of the span.
func (s Span) touches(e *entry, c *clock) bool {
	from, to := e.time(c)
	return s == Span{} || from <= s.To && to >= s.From
}
