package tables

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"gprof/stream"
)

// Directory is where files are written.
type Directory interface {
	// Create begins a file; its name has slashes. Several are open at once.
	Create(name string) (io.WriteCloser, error)
}

// errOrder says that segments did not come in the order of [stream.Sink].
var errOrder = errors.New("segment out of order")

// Format is how tables become files.
type Format struct {
	Extension string // of files, with the dot
	// OneFile says that a table is one file. Otherwise there is one for each service and day of a
	// run, and a directory may hold those of many runs.
	OneFile bool
	// MaxOpen bounds the tables of events open at once; 0: no bound. Beyond it a table continues in
	// another file.
	MaxOpen int
	// Begin begins a table in a file, which it leaves open. Up to so many tables may be open at
	// once.
	Begin func(file io.Writer, d *Definition, tables int) Writer
}

// Sink writes the tables of a run.
type Sink struct {
	dir     Directory
	format  Format
	jobs    int    // see Options
	dataSet string // likewise
	rows    rows
	tables  *stream.Tables
	known   []stream.Line // the ledger of the source
	lost    stream.Ledger // without a place here

	tracks []int32       // numbers by TrackID
	events []*eventTable // by EventID-1
	typed  map[string]*eventTable
	labels [][]byte // JSON by LabelsID, made on demand

	labelSpans map[stream.LabelsID]stream.Span // likewise
	parts      []*part
	partOf     []*part // by ProcessID
	tree       *tree
	keys       func() *contentKeys // made once

	process stream.ProcessID // current one, 0 before the first
	uses    int              // of tables
	came    int              // bytes of rows since buffered rows were counted
	again   bool             // the current texts are in another table, too
	object  []byte           // scratch for JSON
}

// New returns a Sink that writes to dir. Compression is the format's.
func New(dir Directory, f Format, o Options) *Sink {
	return &Sink{dir: dir, format: f, jobs: o.Jobs, dataSet: o.Among, rows: newRows(setsOf(o.Jobs))}
}

// setsOf is how many rows are collected or written at a time by so many jobs.
func setsOf(jobs int) int { return min(max(jobs, 1), 4)*2 - 1 }

// Prepare begins a data set with what does not depend on a run, and tables without rows, so that
// readers of all tables find a file.
func Prepare(s stream.Sink) error {
	if err := s.Begin(new(stream.Tables)); err != nil {
		return err
	}
	return s.Close()
}

// Begin divides the processes into parts. Files are begun on demand.
func (s *Sink) Begin(t *stream.Tables) error {
	// Keys are made when or before the code is written, but after what takes the memory for names. Texts and spans of labels are
	// made when one is used.
	if err := t.Reserve(stream.RowBytes{Stack: KeySize + 4 + 1 + treeBytes, Frame: max(KeySize+1, namesBytes), String: 1, Label: 64 + 40, Track: 4}.In(t)); err != nil {
		return err
	}
	s.tables, s.tree, s.keys = t, treeOf(t), sync.OnceValue(func() *contentKeys { return keysOf(t) })
	if s.jobs > 1 {
		go func() { // while rows are written
			s.tree.inner()
			s.keys()
		}()
	}
	s.known = t.Ledger.Lines() // other sinks may add to it
	s.tracks = numberTracks(t)
	s.events, s.typed = s.format.eventTables(t)
	s.parts, s.partOf = s.partsOf()
	if s.dataSet != "" {
		return nil
	}
	return s.writeStamp()
}

// Segment writes the rows of b.
func (s *Sink) Segment(b *stream.Batch) error {
	id := b.Series.Process
	if id < s.process || id < 1 || int(id) > len(s.tables.Processes) {
		return fmt.Errorf("%w: %v of process %d in process %d", errOrder, b.Series.Kind, id, s.process)
	}
	if err := s.advance(id); err != nil {
		return err
	}
	p := s.partOf[id]
	p.covered[id].add(b)
	p.use(b.Stack, s.tree)
	came := rowBytes * b.Len() * (1 + len(b.Args))
	for from := 0; from < b.Len(); {
		to, size := textsEnd(b, from)
		came += size
		if err := s.piece(p, b, from, to); err != nil {
			return err
		}
		from = to
	}
	return s.limit(came)
}

// rowBytes is an upper estimate of a row, or an argument, without texts.
const rowBytes = 64

// piece writes rows from to to-1 of b.
func (s *Sink) piece(p *part, b *stream.Batch, from, to int) error {
	if from > 0 || to < b.Len() {
		part := new(stream.Batch)
		part.Reset(b.Series, len(b.Args))
		part.AppendRows(b, from, to)
		b = part
	}
	if b.Series.Kind == stream.Markers {
		return s.markers(p, b)
	}
	return s.write(p, b)
}

// textsEnd is how many rows from from on have about a page of texts, and their bytes.
func textsEnd(b *stream.Batch, from int) (end, size int) {
	for i := from; i < b.Len() && len(b.Args) > 0; i++ {
		for k := range b.Args {
			if b.Args[k].TypeAt(i).Textual() {
				size += len(b.Args[k].TextAt(i))
			}
		}
		if size > 1<<20 {
			return i + 1, size
		}
	}
	return b.Len(), size
}

// advance finishes the parts before a process and frees them.
func (s *Sink) advance(id stream.ProcessID) error {
	for ; s.process < id; s.process++ {
		if s.process == 0 {
			continue
		}
		if p := s.partOf[s.process]; p.last() == s.process {
			if err := s.finish(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close writes run-wide tables, and adds what was lost to the ledger of the tables.
func (s *Sink) Close() error {
	for _, p := range s.parts {
		if err := s.finish(p); err != nil {
			return err
		}
	}
	if err := s.writeLosses(s.lost.Lines()); err != nil {
		return err
	}
	for _, p := range s.parts {
		if err := s.writeCoverage(p); err != nil {
			return err
		}
	}
	for _, line := range s.lost.Lines() {
		s.tables.Ledger.Add(line)
	}
	return nil
}

// write writes rows to the table of their kind, which has them then.
func (s *Sink) write(p *part, b *stream.Batch) error {
	t, err := s.open(p, kindTables[b.Series.Kind])
	if err != nil {
		return err
	}
	row := s.beginRows(t, p, b)
	switch b.Series.Kind {
	case stream.Samples:
		s.samples(row, b)
		s.who(row, b)
		s.spans(row, b)
	case stream.Delays:
		row.column().all(b.Value)
	case stream.Waits:
		s.stackIDs(row.column(), b.Stack)
		row.column().all(b.Value)
		row.column().all(b.Number)
	case stream.Measurements:
		s.measurements(row, b)
		s.who(row, b)
		s.spans(row, b)
	case stream.Allocations:
		s.allocations(row, b)
		s.who(row, b)
		sparse(row.column(), b.Address, b.Len())
		s.spans(row, b)
	case stream.Counts:
		s.counts(row, b)
	case stream.Pauses:
		pauses(row, b)
	case stream.Overheads:
		for i := range b.Args {
			integers(row.column(), &b.Args[i])
		}
	case stream.Logs:
		s.logs(row, b)
	case stream.Pages:
		s.pages(row, b)
	}
	row.end(b.Len())
	s.rows.flush()
	return t.err
}

// beginRows writes the columns of all event rows.
func (s *Sink) beginRows(t *table, p *part, b *stream.Batch) *rows {
	n := b.Len()
	row := t.begin()
	row.flush() // those of a segment are alone: some columns have one value
	s.same(row, n, "", p.name)
	ids := []int32{int32(b.Series.Process)}
	if b.Series.Kind.Tracked() {
		ids = append(ids, s.tracks[b.Series.Track])
	}
	if b.Series.Kind == stream.Counts {
		ids = append(ids, int32(b.Series.Counter))
	}
	for _, id := range ids {
		c := row.column()
		c.short(id)
		c.one(n)
	}
	at := row.column()
	for _, t := range b.Time {
		at.Longs = append(at.Longs, int64(t))
	}
	index := row.column()
	for _, i := range b.Index {
		index.Longs = append(index.Longs, int64(i))
	}
	at.Rows, index.Rows = n, n
	return row
}

// bytes is a text as a value. Invalid UTF-8 is replaced and counted.
func (s *Sink) bytes(process string, v []byte) []byte {
	v, ok := valid(v)
	if !ok && !s.again {
		s.lost.Add(stream.Line{Process: process, Reason: stream.ReasonUnsupported, What: "texts that are no UTF-8", Count: 1})
	}
	return v
}

// Options are the options of a format.
type Options struct {
	Compression Compression
	// Jobs is how many goroutines may make columns and keys at the same time; 0 is 1. The files are
	// the same for any number.
	Jobs int
	// Among says that the run joins a data set that [Prepare] began, and its name there: its
	// sessions are named uniquely, and a table without rows gets no file.
	Among string
}

// Compression is the compression of columns.
type Compression uint8

const (
	Zstd Compression = iota // smallest
	LZ4                     // fastest to read
	None                    // files can be mapped
)

// errCompression is the error of an unknown compression.
var errCompression = errors.New("unknown compression")

var compressions = [...]string{Zstd: "zstd", LZ4: "lz4", None: "none"}

// ParseCompression returns the compression of that name; "" is [Zstd]. The error
// is errCompression.
func ParseCompression(name string) (Compression, error) {
	if name == "" {
		return Zstd, nil
	}
	for c, known := range compressions {
		if name == known {
			return Compression(c), nil
		}
	}
	return 0, fmt.Errorf("%w: %q, want %s", errCompression, name, strings.Join(compressions[:], ", "))
}
