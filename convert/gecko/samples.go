package gecko

import (
	"strconv"

	"gprof/stream"
)

// MaxRepeat is how many rows one sample becomes at most.
const MaxRepeat = 10_000

// beginSamples begins the list of samples. The viewer wants a column of delays,
// but not that rows reach it.
func (s *Sink) beginSamples() {
	s.beginTable("samples", `{"stack":0,"time":1,"threadCPUDelta":2,"eventDelay":3}`)
}

func (s *Sink) samples(b *stream.Batch) {
	for i, at := range b.Time {
		row := append(s.row[:0], '[')
		if b.Stack[i] == 0 || b.Weight[i] <= 0 {
			row = append(row, "null,"...)
		} else {
			row = append(strconv.AppendInt(row, int64(s.thread.stack(b.Stack[i])), 10), ',')
		}
		row = s.appendTime(row, at)
		cells := len(row)
		if cpu := b.CPU[i]; cpu >= 0 {
			row = strconv.AppendInt(append(row, ','), cpu, 10)
		}
		s.endRow(row)
		if b.Weight[i] > 1 {
			s.repeat(row[:cells], b.CPU[i] >= 0, b.Weight[i]-1)
		}
	}
}

// repeat writes a sample's row again, without CPU time: zero if it is known.
func (s *Sink) repeat(row []byte, cpu bool, times int64) {
	if times >= MaxRepeat {
		s.lose("samples", times-(MaxRepeat-1))
		times = MaxRepeat - 1
	}
	if cpu {
		row = append(row, ",0"...)
	}
	row = append(row, ']')
	for range times {
		s.out.RawBytes(row)
	}
	s.row = row[:0]
}
