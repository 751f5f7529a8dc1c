package perf

import (
	"io"
	"slices"

	"gprof/stream"
)

// scriptSource gives the events of some processes of a text.
type scriptSource struct {
	output
	file   *Script
	closer io.Closer
	in     *script
	code   printedCode
	sample printed
}

// Source returns the source of those of the processes that have an id.
func (f *Script) Source(t *stream.Tables, ids []stream.ProcessID, shift stream.Time) stream.Source {
	t.Lock()
	defer t.Unlock()
	return &scriptSource{file: f, output: newOutput(t, f.life.all, ids, f.rows, shift), code: printedCode{tables: t, golang: f.golang}}
}

// Progress implements [stream.Progress].
func (s *scriptSource) Progress() (done, total int64) {
	switch {
	case s.ended:
		return s.file.size, s.file.size
	case s.in == nil:
		return 0, s.file.size
	}
	return min(s.in.end, s.file.size), s.file.size
}

// Next implements [stream.Source].
func (s *scriptSource) Next(b *stream.Batch) error { return s.next(b, s.fill) }

// Close implements [io.Closer].
func (s *scriptSource) Close() error {
	s.ended = true
	s.rows.Drop()
	return s.release()
}

func (s *scriptSource) release() error {
	if s.closer == nil {
		return nil
	}
	err := s.closer.Close()
	s.closer = nil
	return err
}

// fill reads until there are rows to hand over, or no more samples.
func (s *scriptSource) fill() error {
	if s.in == nil {
		r, err := s.file.open()
		if err != nil {
			return err
		}
		s.closer, s.in = r, s.file.text(io.LimitReader(r, s.file.size))
		s.in.frame, s.in.place = s.code.add, s.code.place
	}
	for !s.rows.Full() {
		s.code.begin()
		if err := s.in.next(&s.sample); err == io.EOF {
			return s.finish()
		} else if err != nil {
			return err
		}
		s.take(&s.sample)
	}
	s.rows.Hand()
	if s.isFull() {
		return s.finish()
	}
	return nil
}

func (s *scriptSource) finish() error {
	s.rows.Hand()
	s.note(stream.Line{Reason: stream.ReasonMalformed, What: "lines", Count: s.file.strange})
	s.note(stream.Line{Reason: stream.ReasonUnsupported, What: "switches", Where: "of threads, in text: the perf.data has them, too", Count: s.file.missing.switches})
	s.note(stream.Line{Reason: stream.ReasonDropped, What: "records", Where: "by the kernel", Count: s.file.missing.lost})
	s.code.forget()
	s.ended = true
	return s.release()
}

// take makes rows of a sample.
func (s *scriptSource) take(p *printed) {
	process := s.file.life.latest(s.file.pid(p))
	if s.ids[process] == 0 {
		return
	}
	who, at, stack := thread{process, p.tid}, s.file.facts.moment(p.time), s.code.stack()
	if p.tid < 0 {
		who.tid = process.pid
	}
	use := asMeasurements
	if i := slices.Index(s.file.events, p.event); i >= 0 {
		use = s.file.attrs[i].use
	}
	if use != asMeasurements {
		cpu := int64(-1)
		if use == asClock {
			cpu = p.period
		}
		s.addSample(who, at, stack, cpu)
	}
	if use != asClock {
		s.addMeasurement(who, at, stack, p.event, max(1, p.period))
	}
}
