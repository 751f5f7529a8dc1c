// Package split gives each process, track or interval of a run to a Sink of its own.
package split

import (
	"cmp"
	"slices"

	"gprof/stream"
)

// Part is what an output of a [Sink] is about.
type Part struct {
	Process  *stream.Process // nil: a part of time
	Track    *stream.Track   // nil: not split by track, or rows without a track
	From, To stream.Time     // of a part of time; else 0
}

// Sink is a Sink that gives each part to a Sink of its own: each process, unless Tracks
// or Every say otherwise. A part without rows gets none. Parts come one after the other,
// so that only one is open at a time.
//
// A part's Sink gets what Copy would give it of that part alone: its tables hold only
// what its rows refer to. For that, the rows of a part are kept, in memory or in a file,
// until the last of them has come.
type Sink struct {
	Tracks bool        // split by track; rows without one, such as counters, are a part, too
	Every  stream.Time // split by time, of a Source that ByTime has divided so; else 0
	// Kinds are the kinds of rows that the format has a place for; nil is all. A part
	// without any of them gets no Sink, and its rows are noted in the ledger.
	Kinds []stream.Kind
	// Open returns the Sink of a part.
	Open func(Part) (stream.Sink, error)
	// Rows and SpillDir are as in CopyOptions, with the same defaults.
	Rows     int64
	SpillDir string

	tables  *stream.Tables
	known   map[string][]stream.Line // the ledger at the beginning, by process
	tracks  [][]stream.TrackID       // by process
	rows    *stream.Sorter           // of the part; nil before its first row
	imports *importer                // its tables
	part    partKey
	lost    stream.Ledger // of the part, if it gets no Sink
	fits    bool          // the part has some of Kinds
	batch   stream.Batch
	count   int
}

// defaultRows is the default of Rows.
const defaultRows = stream.DefaultMemory / 32

// partKey is the same for all series of one part.
type partKey struct {
	time    int64
	process stream.ProcessID
	track   stream.TrackID
}

func (s *Sink) key(of stream.Series) partKey {
	switch {
	case s.Every > 0:
		return partKey{time: of.Part}
	case s.Tracks:
		return partKey{process: of.Process, track: of.Track}
	}
	return partKey{process: of.Process}
}

// Begin implements [Sink].
func (s *Sink) Begin(t *stream.Tables) error {
	s.tables, s.imports, s.known = t, newImporter(t), map[string][]stream.Line{}
	for _, line := range t.Ledger.Lines() {
		s.known[line.Process] = append(s.known[line.Process], line)
	}
	s.tracks = make([][]stream.TrackID, len(t.Processes)+1)
	for id := stream.TrackID(1); int(id) <= t.Tracks.Len(); id++ {
		process := t.Tracks.At(id).Process
		s.tracks[process] = append(s.tracks[process], id)
	}
	return nil
}

// Segment implements [Sink].
func (s *Sink) Segment(b *stream.Batch) error {
	if key := s.key(b.Series); s.rows == nil || key != s.part {
		if err := s.end(); err != nil {
			return err
		}
		s.begin(key)
	}
	if s.Kinds == nil || slices.Contains(s.Kinds, b.Series.Kind) {
		s.fits = true
	} else {
		s.lost.Add(stream.Line{Process: s.tables.Process(b.Series.Process).InstanceName(), Reason: stream.ReasonNoPlace, What: b.Series.Kind.String(), Count: int64(b.Len())})
	}
	return s.rows.Add(s.bring(b))
}

// Close implements [Sink].
func (s *Sink) Close() error { return s.end() }

// Count is the number of parts that got a Sink.
func (s *Sink) Count() int { return s.count }

// begin begins a part.
func (s *Sink) begin(key partKey) {
	s.rows = stream.NewSorter(stream.CopyOptions{Memory: s.tables.Left(), Rows: cmp.Or(s.Rows, defaultRows), SpillDir: s.SpillDir})
	s.part, s.lost, s.fits = key, stream.Ledger{}, false
	s.imports.restart(s.about())
}

// about is what the part is about.
func (s *Sink) about() Part {
	if s.Every > 0 {
		return Part{From: stream.Time(s.part.time) * s.Every, To: stream.Time(s.part.time+1) * s.Every}
	}
	of := Part{Process: s.tables.Process(s.part.process)}
	if s.part.track != 0 {
		track := s.tables.Tracks.At(s.part.track)
		of.Track = &track
	}
	return of
}

// bring returns the rows of b, in their order, with the ids of the part.
func (s *Sink) bring(b *stream.Batch) *stream.Batch {
	stacks := s.batch.Stack[:0]
	for _, id := range b.Stack {
		stacks = append(stacks, s.imports.stack(id))
	}
	labels := s.batch.Labels[:0]
	for _, id := range b.Labels {
		labels = append(labels, s.imports.labelSet(id))
	}
	s.batch = *b
	s.batch.Series, s.batch.Stack, s.batch.Labels = s.imports.series(b.Series), stacks, labels
	return &s.batch
}

// end writes the part, if there is one.
func (s *Sink) end() error {
	rows := s.rows
	if rows == nil {
		return nil
	}
	defer rows.Close()
	s.rows = nil
	if !s.fits {
		s.tell(s.lost.Lines())
		return nil
	}
	sink, err := s.Open(s.about())
	if err != nil {
		return err
	}
	s.count++
	out := stream.NewOutput(sink)
	s.complete()
	if err := rows.WriteTo(out, s.imports.to); err != nil {
		return err
	}
	s.tell(out.Added())
	return nil
}

// tell adds the losses of a part to the ledger of the whole.
func (s *Sink) tell(lines []stream.Line) {
	for _, line := range lines {
		s.tables.Ledger.Add(line)
	}
}

// complete adds to the tables of the part what belongs there without any row: the other
// tracks of its processes, and the lines of the ledger.
func (s *Sink) complete() {
	for old, id := range s.imports.processes {
		if id == 0 {
			continue
		}
		for _, track := range s.tracks[old] {
			if s.part.process != 0 && !s.Tracks || s.tables.Tracks.At(track).Main {
				s.imports.track(track)
			}
		}
	}
	s.imports.link()
	ledger := &s.imports.to.Ledger
	for _, line := range s.known[""] {
		ledger.Add(line)
	}
	for i := range s.imports.to.Processes {
		for _, line := range s.known[s.imports.to.Processes[i].InstanceName()] {
			ledger.Add(line)
		}
	}
}
