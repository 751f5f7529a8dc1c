package gecko

import (
	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/viewer"
	"gprof/stream"
)

// pauses is the list of ranges in which nothing was recorded.
type pauses struct{ viewer.Pauses }

func (p *pauses) begin(s *Sink) {
	p.Out, p.Start = s.out.Writer, s.start
	s.out.Key("pausedRanges")
	s.out.BeginArray()
}

func (p *pauses) rows(s *Sink, b *stream.Batch) {
	if n := p.Rows(b); n > 0 {
		s.lost.Lose(s.walk.Process, "pauses", n)
	}
}

func (p *pauses) end(s *Sink) {
	p.End()
	s.out.EndArray()
}

// logs is what the recorder had to say, under the pid of its process.
type logs struct{}

func (logs) begin(s *Sink) {
	s.out.Key("profilingLog")
	s.out.BeginObject()
	s.out.Key(s.of(s.walk.Process).OutPid)
	s.out.BeginObject()
	s.out.Key("log")
	s.out.BeginArray()
}

func (logs) rows(s *Sink, b *stream.Batch) { viewer.WriteLogs(s.out.Writer, b, s.start) }

func (logs) end(s *Sink) {
	s.out.EndArray()
	s.out.EndObject()
	s.out.EndObject()
}

// pages is the list of pages.
type pages struct{ viewer.Pages }

func (p *pages) begin(s *Sink) {
	s.out.Key("pages")
	s.out.BeginArray()
}

func (p *pages) rows(s *Sink, b *stream.Batch) { p.Rows(s.out.Writer, b) }

func (p *pages) end(s *Sink) {
	p.End(s.out.Writer)
	s.out.EndArray()
}

// overheads is what the recorder itself cost, in microseconds: times, too.
type overheads struct{ viewer.Overheads }

func (o *overheads) begin(s *Sink) {
	s.out.Key("profilerOverhead")
	s.out.BeginObject()
	s.beginTable("samples", `{"time":0,"locking":1,"expiredMarkerCleaning":2,"counters":3,"threads":4}`)
}

func (o *overheads) rows(s *Sink, b *stream.Batch) {
	for i, at := range b.Time {
		row := jsontext.AppendFixed(append(s.row[:0], '['), s.ms(at), 3)
		for _, ns := range o.Add(b, i) {
			row = jsontext.AppendFixed(append(row, ','), ns, 3)
		}
		s.endRow(row)
	}
}

func (o *overheads) end(s *Sink) {
	s.endTable()
	o.WriteStatistics(s.out.Writer)
	s.out.EndObject()
}
