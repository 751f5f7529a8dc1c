package chrometrace

import (
	"cmp"
	"encoding/binary"
	"strconv"

	"gprof/convert/internal/jsontext"
	"gprof/stream"
)

// addSamples keeps samples until the events are written.
func (s *Sink) addSamples(b *stream.Batch) {
	timed, owned := int64(0), int64(0)
	for i, at := range b.Time {
		if b.CPU[i] > 0 {
			timed++
		}
		if o := b.Owner(i); o.Goroutine != 0 || o.Labels != 0 {
			owned++
		}
		if b.Weight[i] <= 0 {
			continue
		}
		le := binary.LittleEndian
		row := le.AppendUint64(s.body[:0], uint64(s.pid))
		row = le.AppendUint64(row, uint64(s.tid))
		row = le.AppendUint64(row, uint64(at))
		row = le.AppendUint64(row, uint64(b.Weight[i]))
		stack := uint32(b.Stack[i])
		if stack == 0 {
			stack, s.stackless = uint32(s.tables.Stacks.Len())+1, true
		}
		s.body = le.AppendUint32(row, stack)
		s.rows.Write(s.body) // the file keeps the error
	}
	if timed > 0 {
		s.lost.Add(s.process, stream.ReasonNoPlace, "CPU times of samples", timed)
	}
	if owned > 0 {
		s.lost.Add(s.process, stream.ReasonNoPlace, "goroutines and labels of samples", owned)
	}
}

// sampleSize is how long a kept sample is.
const sampleSize = 4*8 + 4

// writeSamples writes the samples.
func (s *Sink) writeSamples() {
	s.write([]byte(`,"samples":[`))
	separator := "\n"
	var out []byte
	s.rows.Drain(func(block []byte) { // the file keeps the error
		out = out[:0]
		for ; len(block) >= sampleSize; block = block[sampleSize:] {
			le := binary.LittleEndian
			out = append(append(out, separator...), `{"cpu":0,"pid":`...)
			out = strconv.AppendUint(out, le.Uint64(block), 10)
			out = strconv.AppendUint(append(out, `,"tid":`...), le.Uint64(block[8:]), 10)
			out = s.appendTime(append(out, `,"ts":`...), stream.Time(le.Uint64(block[16:])))
			out = strconv.AppendUint(append(out, `,"name":"samples","weight":`...), le.Uint64(block[24:]), 10)
			out = strconv.AppendUint(append(out, `,"sf":`...), uint64(le.Uint32(block[32:])), 10)
			out = append(out, '}')
			separator = ",\n"
		}
		s.write(out)
	})
	s.write([]byte("]"))
}

// writeFrames writes the stacks: each is a frame and its caller's. Samples without one have a frame as well, as Chrome's viewer fails
// on those that have none.
func (s *Sink) writeFrames() {
	out := []byte(`,"stackFrames":{`)
	for id := stream.StackID(1); int(id) <= s.tables.Stacks.Len(); id++ {
		if id > 1 {
			out = append(out, ",\n"...)
		}
		caller, frame := s.tables.Stacks.At(id)
		f := s.tables.Frames.At(frame)
		out = strconv.AppendUint(append(out, '"'), uint64(id), 10)
		out = jsontext.AppendString(append(out, `":{"name":`...), s.nameOf(f))
		category := "code"
		if f.Module != 0 {
			category = s.tables.Modules.At(f.Module).Name
		}
		out = jsontext.AppendString(append(out, `,"category":`...), category)
		if f.File != 0 {
			out = jsontext.AppendString(append(out, `,"file":`...), s.tables.Strings.At(f.File))
			out = strconv.AppendInt(append(out, `,"line":`...), int64(max(0, f.Line)), 10)
		}
		if caller != 0 {
			out = strconv.AppendUint(append(out, `,"parent":`...), uint64(caller), 10)
		}
		if out = append(out, '}'); len(out) >= 64<<10 {
			s.write(out)
			out = out[:0]
		}
	}
	if s.stackless {
		if s.tables.Stacks.Len() > 0 {
			out = append(out, ",\n"...)
		}
		out = strconv.AppendUint(append(out, '"'), uint64(s.tables.Stacks.Len())+1, 10)
		out = append(out, `":{"name":"(no stack)","category":"code"}`...)
	}
	s.write(append(out, '}'))
}

// nameOf is what a frame's function is called: an address if nothing else.
func (s *Sink) nameOf(f stream.Frame) string {
	if f.Function == 0 {
		return "0x" + strconv.FormatUint(f.Offset, 16)
	}
	return cmp.Or(s.tables.Strings.At(f.Function), "(no name)")
}

// addWeighted writes waits and measurements as instants with a stack and a value.
func (s *Sink) addWeighted(b *stream.Batch) {
	kind := "waits"
	if b.Series.Kind == stream.Measurements {
		kind = s.tables.Counters.At(b.Series.Counter).Name
	}
	tid := s.tidOf(s.tables.Tracks.At(s.track).Name + ": " + kind)
	head := appendHead(nil, []byte(kind), b.Series.Kind.String())
	form := eventForm{goroutine: "goroutine", thread: "thread", label: "label"}
	for i, at := range b.Time {
		event := append(append(s.at('i', tid, at), `,"s":"t"`...), head...)
		if id := b.Stack[i]; id != 0 {
			event = strconv.AppendUint(append(event, `,"sf":`...), uint64(id), 10)
		}
		event = strconv.AppendInt(append(event, `,"args":{"value":`...), b.Value[i], 10)
		if n := b.Number[i]; n != 0 {
			event = strconv.AppendInt(append(event, `,"number":`...), n, 10)
		}
		event = s.appendOwner(append(event, ','), &form, b.Owner(i))
		s.end(append(event[:len(event)-1], '}'))
	}
}

// tidOf is the tid of what has a name in the process, but is no track.
func (s *Sink) tidOf(name string) int64 {
	tid, ok := s.below[name]
	if !ok {
		tid = s.numbers.Another()
		s.below[name] = tid
		s.name("thread_name", "name", tid, name)
	}
	return tid
}
