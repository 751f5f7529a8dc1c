package cpuprofile

import (
	"io"

	"gprof/ingest/internal/batches"
	"gprof/ingest/internal/jsonfile"
	"gprof/ingest/internal/v8"
	"gprof/stream"
)

// source is the source of one profile.
type source struct {
	file   *File
	tables *stream.Tables
	id     stream.ProcessID
	shift  stream.Time

	rows    batches.Batches
	samples *v8.Samples // nil before the first row and behind the last
	ids     *jsonfile.Scanner
	times   *timeline
	claim   stream.Claim
	nodes   v8.Nodes
	odd     int64 // samples without a node or a time
	ended   bool
}

// Tables implements [stream.Source].
func (s *source) Tables() *stream.Tables { return s.tables }

// Progress is the place in the file.
func (s *source) Progress() (done, total int64) {
	switch {
	case s.ended:
		return s.file.size, s.file.size
	case s.ids != nil:
		return s.ids.Off(), s.file.size
	}
	return 0, s.file.size
}

// Next implements [stream.Source]. Damage is a line of the ledger.
func (s *source) Next(b *stream.Batch) error {
	s.tables.Lock()
	defer s.tables.Unlock()
	if s.samples == nil && !s.ended {
		s.begin()
	}
	for !s.rows.Take(b) {
		if s.ended {
			b.Reset(stream.Series{}, 0)
			return io.EOF
		}
		if more := s.fill(); !more {
			s.end()
		}
		s.rows.Hand()
	}
	return nil
}

// begin reads the tree.
func (s *source) begin() {
	s.rows.Index = 1
	main := s.tables.Tracks.Intern(stream.Track{Process: s.id, Name: s.file.name, Main: true})
	s.samples = v8.NewSamples(s.tables, &s.rows, s.id, main, 0)
	s.nodes = v8.Nodes{Tree: s.samples.Tree, Room: s.room}
	var err error
	if s.file.nodes != nil {
		err = s.nodes.List(jsonfile.NewScanner(s.file.r, s.file.nodes.Off, s.file.size))
	} else {
		err = s.nodes.Nested(jsonfile.NewScanner(s.file.r, s.file.head.Off, s.file.size))
	}
	s.note(err)
	if s.file.samples == nil {
		s.hits()
		return
	}
	s.ids, s.times = jsonfile.NewScanner(s.file.r, s.file.samples.Off, s.file.size), s.file.timeline()
	s.ids.Array()
}

// room reports whether there is room for more nodes.
func (s *source) room() bool {
	s.claim.Set(s.tables, int64(s.samples.Tree.Len())*v8.NodeBytes)
	return !s.tables.Full()
}

// hits adds the samples of a profile that has no others and is whole.
func (s *source) hits() {
	if !s.file.damaged {
		s.nodes.Hits(func(id, count int64) { s.samples.Hits(id, count, stream.Time(s.file.start)+s.shift) })
	}
}

// fill reads samples until there are rows to hand over. It reports whether there may be more.
func (s *source) fill() bool {
	if s.ids == nil {
		return false
	}
	for !s.rows.Full() {
		if !s.ids.More() {
			return false
		}
		id, ok := jsonfile.Int(s.ids.Raw())
		at, timed := s.times.next()
		if s.ids.Err() != nil {
			return false
		}
		if !ok || !timed {
			s.odd++
			continue
		}
		s.samples.Add(v8.Sample{Node: id, At: stream.Time(at) + s.shift})
	}
	return !s.tables.Full()
}

// end ends reading.
func (s *source) end() {
	s.samples.End(stream.Time(s.file.end) + s.shift)
	l, process := &s.tables.Ledger, s.name()
	s.samples.Tell(l, process)
	if s.ids != nil {
		s.note(s.ids.Err())
		s.odd += s.times.bad
		if s.times.scan != nil {
			s.note(s.times.scan.Err())
		}
	}
	s.tell(stream.ReasonUnsupported, "lines of samples", "of functions that were sampled in several", s.nodes.Lines)
	s.tell(stream.ReasonUnsupported, "reasons", "for which a function lost its optimized code", s.nodes.Reasons)
	s.tell(stream.ReasonMalformed, "nodes", "", s.nodes.Odd)
	s.tell(stream.ReasonMalformed, "samples", "without a node or a time", s.odd)
	if s.file.samples == nil && !s.file.damaged {
		s.tell(stream.ReasonClock, "samples", "no moment of their own: they stand at the start", 1)
	}
	s.release()
}

func (s *source) name() string { return s.tables.Process(s.id).InstanceName() }

func (s *source) note(err error) { note(&s.tables.Ledger, s.name(), err) }

// tell adds a ledger line, unless it counts nothing.
func (s *source) tell(r stream.Reason, what, where string, n int64) {
	if n > 0 {
		s.tables.Ledger.Add(stream.Line{Process: s.name(), Reason: r, What: what, Where: where, Count: n})
	}
}

// release frees what only reading needs: there may be a thousand sources.
func (s *source) release() {
	s.ended = true
	s.samples, s.ids, s.times, s.nodes = nil, nil, nil, v8.Nodes{}
	s.claim.Set(s.tables, 0)
}

// Close implements [io.Closer].
func (s *source) Close() error {
	s.tables.Lock()
	defer s.tables.Unlock()
	s.rows.Drop()
	s.release()
	return nil
}
