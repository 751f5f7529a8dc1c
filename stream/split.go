package stream

import (
	"fmt"
	"slices"
)

// Part is what one of the outputs of a [Splitter] is about.
type Part struct {
	Process  *Process // nil: a part of time
	Track    *Track   // nil: not split by track, or what belongs to no track
	From, To Time     // of a part of time; else 0
}

// Splitter is a Sink that gives each part of what it is given to a Sink of its
// own: each process, unless Tracks or Every say otherwise. Parts come one after
// the other, so one is open at a time.
//
// A part's tables have the processes, tracks, counters, events and ledger of
// that part alone. Strings, modules, frames and stacks are those of all: sinks
// write those that rows refer to. A process keeps its OutPid.
type Splitter struct {
	Tracks bool // split by track; what belongs to none of them, such as counters, is one part, too
	Every  Time // split by time: of a Source that Cut cut so; else 0
	// Samples says that the format has a place for nothing but samples. A part
	// without any gets no Sink, and what it holds stands in the ledger.
	Samples bool
	// Open returns the Sink of a part, which is as it is for the sink: whatever
	// must be done after Close is the sink's.
	Open func(Part) (Sink, error)

	tables *Tables
	known  map[string][]Line // the ledger at the beginning, by process
	mains  []TrackID         // by process
	parts  []part    // that are to come; the first one is being written
	sink   Sink      // of the first; nil before it has rows
	view   view
	count  int
}

// part is the series that make one part.
type part struct {
	key    Series // what they have in common; the rest is 0
	series []Series
	wanted bool
}

// key is what the series of one part have in common.
func (s *Splitter) key(of Series) Series {
	switch {
	case s.Every > 0:
		return Series{Part: of.Part}
	case s.Tracks:
		return Series{Process: of.Process, Track: of.Track}
	}
	return Series{Process: of.Process}
}

// Begin implements [Sink].
func (s *Splitter) Begin(t *Tables) error {
	s.tables, s.known = t, map[string][]Line{}
	for _, line := range t.Ledger.Lines() {
		s.known[line.Process] = append(s.known[line.Process], line)
	}
	s.mains = make([]TrackID, len(t.Processes)+1)
	for id := TrackID(t.Tracks.Len()); id > 0; id-- {
		if track := t.Tracks.At(id); track.Main {
			s.mains[track.Process] = id
		}
	}
	for _, series := range t.series {
		key := s.key(series)
		if n := len(s.parts); n == 0 || s.parts[n-1].key != key {
			s.parts = append(s.parts, part{key: key})
		}
		last := &s.parts[len(s.parts)-1]
		last.series = append(last.series, series)
		last.wanted = last.wanted || !s.Samples || series.Kind == Samples
	}
	return nil
}

// Segment implements [Sink].
func (s *Splitter) Segment(b *Batch) error {
	key := s.key(b.Series)
	for s.parts[0].key != key {
		if err := s.end(); err != nil {
			return err
		}
		s.parts = s.parts[1:]
	}
	if !s.parts[0].wanted {
		s.tables.Ledger.Add(Line{Process: s.tables.Process(b.Series.Process).instance(), Reason: ReasonUnsupported, What: b.Series.Kind.String(), Count: int64(b.Len())})
		return nil
	}
	if s.sink == nil {
		if err := s.begin(); err != nil {
			return err
		}
	}
	own := *b
	own.Series = s.view.series(b.Series)
	return s.sink.Segment(&own)
}

// Close implements [Sink].
func (s *Splitter) Close() error { return s.end() }

// Count is how many parts got a Sink.
func (s *Splitter) Count() int { return s.count }

// begin opens the first part.
func (s *Splitter) begin() (err error) {
	of := &s.parts[0]
	what := Part{From: Time(of.key.Part) * s.Every, To: (Time(of.key.Part) + 1) * s.Every}
	if of.key.Process != 0 {
		what.Process = s.tables.Process(of.key.Process)
	}
	if of.key.Track != 0 {
		track := s.tables.Tracks.At(of.key.Track)
		what.Track = &track
	}
	if s.sink, err = s.Open(what); err != nil {
		return err
	}
	s.count++
	s.view = s.viewOf(of.series, what)
	return s.sink.Begin(s.view.tables)
}

// end closes the first part, if it is open.
func (s *Splitter) end() error {
	if s.sink == nil {
		return nil
	}
	if err := s.sink.Close(); err != nil {
		return err
	}
	for _, line := range s.view.tables.Ledger.own() {
		s.tables.Ledger.Add(line)
	}
	s.sink, s.view = nil, view{}
	return nil
}

// view is the tables of a part, and the ids of what there is less of in them
// than in those of all.
type view struct {
	tables    *Tables
	processes map[ProcessID]ProcessID
	tracks    map[TrackID]TrackID
	counters  map[CounterID]CounterID
	events    map[EventID]EventID
}

func (v *view) series(s Series) Series {
	return Series{Process: v.processes[s.Process], Track: v.tracks[s.Track], Kind: s.Kind, Event: v.events[s.Event], Counter: v.counters[s.Counter]}
}

// viewOf makes the tables of a part. What is kept keeps its order, so that ids
// rise as they do in those of all.
func (s *Splitter) viewOf(series []Series, of Part) view {
	t := s.tables
	v := view{tables: &Tables{Categories: t.Categories, Modules: t.Modules, Strings: t.Strings, Frames: t.Frames, Stacks: t.Stacks}}
	v.processes = less(series, func(s Series) ProcessID { return s.Process }, nil, func(id ProcessID) ProcessID {
		v.tables.Processes = append(v.tables.Processes, during(*t.Process(id), of))
		return ProcessID(len(v.tables.Processes))
	})
	var mains []TrackID
	for id := range v.processes {
		mains = append(mains, s.mains[id])
	}
	v.tracks = less(series, func(s Series) TrackID { return s.Track }, mains, func(id TrackID) TrackID {
		track := t.Tracks.At(id)
		track.Process = v.processes[track.Process]
		return v.tables.Tracks.Intern(track)
	})
	v.counters = less(series, func(s Series) CounterID { return s.Counter }, nil, func(id CounterID) CounterID {
		counter := t.Counters.At(id)
		counter.Process = v.processes[counter.Process]
		return v.tables.Counters.Intern(counter)
	})
	v.events = less(series, func(s Series) EventID { return s.Event }, nil, func(id EventID) EventID {
		v.tables.Events = append(v.tables.Events, *t.Event(id))
		return EventID(len(v.tables.Events))
	})
	v.link(s.known)
	return v
}

// less gives the ids that series have, and more, new numbers.
func less[ID ~int32](series []Series, of func(Series) ID, more []ID, add func(ID) ID) map[ID]ID {
	ids := slices.Clone(more)
	for _, s := range series {
		ids = append(ids, of(s))
	}
	slices.Sort(ids)
	out := map[ID]ID{}
	for _, id := range slices.Compact(ids) {
		if id != 0 {
			out[id] = add(id)
		}
	}
	return out
}

// during is a process in a part of time.
func during(p Process, of Part) Process {
	if of.To > of.From {
		p.Start = max(p.Start, of.From)
		if p.End != 0 {
			p.End = max(min(p.End, of.To), p.Start)
		}
	}
	return p
}

// link finishes tables of a part: parents that are not in it are none, and lines
// of other processes are not in its ledger.
func (v *view) link(lines map[string][]Line) {
	known := new(Ledger)
	add := func(instance string) {
		for _, line := range lines[instance] {
			known.Add(line)
		}
	}
	add("")
	for i := range v.tables.Processes {
		p := &v.tables.Processes[i]
		p.Parent = v.processes[p.Parent]
		add(p.instance())
	}
	v.tables.Ledger = known.branch()
}

// instance names a process as ledgers do.
func (p *Process) instance() string { return fmt.Sprintf("%016x", p.Instance) }
