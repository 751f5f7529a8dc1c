package decode

import (
	"io"
	"math"

	"gprof/chunks"
	"gprof/rawformat"
	"gprof/stream"
)

// batchRows is how many rows of one series are gathered before they are handed
// on although the chunk goes on.
const batchRows = 8192

// Source gives the events of one process.
type Source struct {
	decoder
	found  *chunks.Process
	blocks *chunks.Reader
	ended  bool
	read   int64 // payload bytes of finished chunks
	total  int64
}

// New returns the source of a process whose row in the tables of n is id, and
// loads its dictionaries. The sources of all processes of a run must have been
// made before the first is read, so that each finds the symbols of all.
func New(n *Names, p *chunks.Process, id stream.ProcessID, clock Clock) *Source {
	s := &Source{found: p, decoder: decoder{
		process: id, tables: n.tables, names: n, clock: clock, ticks: newTicks(p.Chunks), dicts: map[uint32]*dictionary{},
		last: map[who]lastSample{}, pending: map[stream.Series]*stream.Batch{},
		first: math.MaxInt64, latest: math.MinInt64,
		tracks: map[trackKey]stream.TrackID{}, roots: map[stream.StackID]stream.TrackID{}, lives: map[string]*life{},
	}}
	for _, im := range p.Chunks {
		s.total += int64(im.Header.Commit.Offset())
	}
	for _, pr := range p.Problems {
		s.problem(pr)
	}
	for _, file := range p.Dicts {
		s.load(file)
	}
	s.mainTrack()
	return s
}

func (s *Source) load(file *chunks.Dict) {
	d := newDictionary(s.process, s.names)
	d.load(file.All(s.problem))
	s.dicts[file.Generation] = d
	if d.malformed > 0 {
		s.add(stream.Line{Reason: stream.ReasonMalformed, What: "definitions", Count: d.malformed})
	}
}

// Tables are those of the run.
func (s *Source) Tables() *stream.Tables { return s.tables }

// Progress is how many payload bytes have been read, and of how many.
func (s *Source) Progress() (done, total int64) { return s.read, s.total }

// Next implements [stream.Source]. An error is one of reading a file.
func (s *Source) Next(b *stream.Batch) error {
	if s.blocks == nil {
		s.blocks = s.found.Blocks(s.problem)
	}
	if len(s.order) == 0 && !s.ended {
		if err := s.fill(); err != nil {
			return err
		}
	}
	if !s.take(b) {
		b.Reset(stream.Series{}, 0)
		return io.EOF
	}
	return nil
}

// fill decodes until some series has enough rows, or the chunks end.
func (s *Source) fill() error {
	for s.blocks.Next() {
		b := s.blocks.Block()
		if b.Fresh || b.Chunk != s.chunk {
			s.progress(b.Chunk)
			s.enter(b.Chunk)
		}
		if s.block(&b); s.rows >= batchRows {
			s.rows = 0
			return nil
		}
	}
	s.ended = true
	s.read = s.total
	s.finish()
	return s.blocks.Err()
}

func (s *Source) progress(next *chunks.Image) {
	if s.chunk != nil && s.chunk != next {
		s.read += int64(s.chunk.Header.Commit.Offset())
	}
}

// finish tells the tables what is known only at the end.
func (s *Source) finish() {
	s.amendTracks()
	p := s.tables.Process(s.process)
	if s.first > s.latest { // no entries
		p.End = max(p.End, p.Start)
		return
	}
	if p.Start == 0 {
		p.Start = s.first
	}
	p.End = max(p.End, s.latest)
}

// reasons maps what package chunks found to lines of the ledger.
var reasons = map[chunks.ProblemClass]stream.Reason{
	chunks.Gap:        stream.ReasonGap,
	chunks.Missing:    stream.ReasonMissing,
	chunks.Torn:       stream.ReasonTorn,
	chunks.Damaged:    stream.ReasonDamaged,
	chunks.Foreign:    stream.ReasonForeign,
	chunks.Stale:      stream.ReasonStale,
	chunks.Unproven:   stream.ReasonUnproven,
	chunks.Duplicate:  stream.ReasonDuplicate,
	chunks.Unreadable: stream.ReasonUnreadable,
	chunks.LeftOut:    stream.ReasonLeftOut,
}

func (s *Source) problem(p chunks.Problem) {
	l := stream.Line{Reason: reasons[p.Class], What: "blocks", Where: p.Where + ": " + p.What, Count: p.Blocks, Bytes: p.Bytes}
	if p.Blocks < 0 {
		l.What, l.Count = "places", 1
	}
	s.add(l)
}

// Describe fills a row of the process table from what was found. Times need the
// clock of the run.
func Describe(p *chunks.Process, clock Clock) stream.Process {
	row := stream.Process{Instance: p.Instance, Pid: int(p.Pid), RangeStart: p.Held}
	for _, m := range p.Meta {
		describe(&row, m.Key, m.Value)
	}
	row.Name = programName(&row)
	if m, ok := StartOf(p); ok {
		row.Start = clock.At(m)
	}
	for _, im := range p.Chunks {
		if im.Header.Close.Monotonic != 0 {
			row.End = max(row.End, clock.At(im.Header.Close.Monotonic))
		}
	}
	if e := p.Exit; e != nil {
		if e.Monotonic != 0 {
			row.End = max(row.End, clock.At(e.Monotonic))
		}
		row.Exit = stream.Exit{Known: true, Reason: exitReason(e.Reason), Code: e.Code, Text: e.Text}
	}
	return row
}

func exitReason(r rawformat.ExitReason) string {
	if int(r) < len(rawformat.ExitReasons) {
		return rawformat.ExitReasons[r]
	}
	return "unknown"
}
