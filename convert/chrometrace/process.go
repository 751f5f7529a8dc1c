package chrometrace

import (
	"bytes"
	"math"
	"strconv"
	"time"

	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/timeline"
	"gprof/stream"
)

// counterKeys are the names of values of counters, by unit.
var counterKeys = map[stream.Format]string{
	stream.FormatBytes: "bytes", stream.FormatNanoseconds: "ns", stream.FormatPicowatt: "pWh", stream.FormatPercentage: "ratio",
}

// count writes a value of a counter, and how many operations led to it if that is known.
func (s *Sink) count(at stream.Time, name string, unit stream.Format, value, number int64) {
	key, ok := counterKeys[unit]
	if !ok {
		key = "value"
	}
	event := jsontext.AppendString(append(s.at('C', 0, at), `,"name":`...), name)
	event = strconv.AppendInt(append(event, `,"args":{"`+key+`":`...), value, 10)
	if number != 0 {
		event = strconv.AppendInt(append(event, `,"operations":`...), number, 10)
	}
	s.end(append(event, '}'))
}

func (s *Sink) addCounts(b *stream.Batch) {
	of := s.tables.Counters.At(b.Series.Counter)
	for i, at := range b.Time {
		s.count(at, of.Name, of.Unit, b.Value[i], b.Number[i])
	}
}

func (s *Sink) addDelays(b *stream.Batch) {
	name := "delay of " + s.tables.Tracks.At(s.track).Name
	for i, at := range b.Time {
		s.count(at, name, stream.FormatNanoseconds, b.Value[i], 0)
	}
}

// addOverheads writes the recorder's own cost.
func (s *Sink) addOverheads(b *stream.Batch) {
	for k, field := range stream.OverheadFields {
		unit := stream.FormatNanoseconds
		if field == "samples" {
			unit = stream.FormatInteger
		}
		for i, at := range b.Time {
			if typ := b.Args[k].TypeAt(i); typ == stream.Int || typ == stream.Uint {
				s.count(at, "recorder: "+field, unit, int64(min(b.Args[k].BitsAt(i), math.MaxInt64)), 0)
			}
		}
	}
}

// addLogs writes messages as instants of the process.
func (s *Sink) addLogs(b *stream.Batch) {
	tid := s.tidOf("log")
	for i, at := range b.Time {
		var text []byte
		if c := &b.Args[0]; c.TypeAt(i).Textual() {
			text = c.TextAt(i)
		}
		event := appendHead(append(s.at('i', tid, at), `,"s":"p"`...), text, "log")
		event = strconv.AppendInt(append(event, `,"args":{"level":`...), b.Value[i], 10)
		s.end(append(event, '}'))
	}
}

// addPauses collects the pauses of the recording.
func (s *Sink) addPauses(b *stream.Batch) {
	for i := range b.Time {
		s.collectPart(b, i, "pauses", timeline.PauseName(b.Value[i]), uint64(b.Value[i]), nil)
	}
}

// addPages collects the pages that were open.
func (s *Sink) addPages(b *stream.Batch) {
	for i := range b.Time {
		var args []byte
		for k, field := range stream.PageFields {
			args = appendArgument(args, append(jsontext.AppendString(nil, field), ':'), stream.FormatInteger, &b.Args[k], i)
		}
		name, window := timeline.PageName(b, i)
		s.collectPart(b, i, "pages", name, window, bytes.TrimSuffix(args, []byte(",")))
	}
}

// collectPart adds row i of a kind of rows of the process to the marks.
func (s *Sink) collectPart(b *stream.Batch, i int, kind, name string, match uint64, args []byte) {
	if s.lanes == nil {
		s.lanes = s.newLanes(s.tidOf(kind), kind)
	}
	s.marks.Begin(b.Series)
	m := timeline.MarkAt(b, i)
	m.Match = match
	m.Body = appendHead([]byte{0}, []byte(name), kind)
	m.Body = append(append(append(m.Body, `,"args":{`...), args...), '}')
	s.marks.Add(&m)
}

// writeOther writes what is known of processes, and what is missing from the recording.
func (s *Sink) writeOther() {
	s.write([]byte(`,"otherData":`))
	out := jsontext.NewWriter(s.pipe)
	out.BeginObject()
	out.Member("exporter", "gprof")
	out.Member("startTime", time.Unix(0, int64(s.start)).UTC().Format(time.RFC3339Nano))
	out.Array("processes")
	for i := range s.tables.Processes {
		id := stream.ProcessID(i + 1)
		p := s.tables.Process(id)
		out.BeginObject()
		out.Number("pid", s.numbers.Pids[id])
		for _, a := range timeline.About(p) {
			out.Member(a.Key, a.Value)
		}
		out.Number("start", int64(p.Start-s.start))
		out.Number("end", int64(p.End-s.start))
		out.EndObject()
	}
	out.EndArray()
	out.Key("ledger")
	s.lost.Write(out)
	out.EndObject()
	if err := out.Flush(); s.failed == nil {
		s.failed = err
	}
}
