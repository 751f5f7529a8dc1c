package ingest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"

	"gprof/chunks"
	"gprof/ingest/gotrace"
	"gprof/ingest/internal/damage"
	"gprof/ingest/internal/naming"
	"gprof/ingest/pprof"
	"gprof/stream"
)

// Format is a kind of file that another tool writes. Those in [Options.Formats] extend the built-in
// formats: such files are found in directories and archives, unpacked, and put on the time line
// like all others.
type Format struct {
	Name  string   // in info and errors, such as "perf.data"
	Text  string   // such a file in help texts, such as "a perf.data"
	Ends  []string // endings of such file names; a file so named that is something else gives a warning
	Sniff func(head []byte) bool
	// Open opens a file. If it returns both a file and an error, the intact part is used, and the
	// error is reported.
	Open func(Opener) (ForeignFile, error)
}

// ForeignFile is an open file of another tool's format. It holds no file open, and little memory:
// there may be thousands.
type ForeignFile interface {
	// Processes returns the file's processes with what is known before reading events. Of each
	//
	//   - the Instance depends only on the file's contents, so that a file given twice is read once;
	//   - Start and End are the first and last moment; End is 0 if unknown. They are real time if
	//     Clock.By says its source; if that is "", the clock is unrelated to others, and [Found]
	//     places the file;
	//   - the Parent is the number of another one of them, from 1.
	Processes() []stream.Process
	// Source returns the source of the processes that have an id in t, in that order; 0 is
	// unwanted. Their rows are in t, and may be completed there; their main tracks are not. shift
	// is added to all times. It is read concurrently with other sources, and locks t while it uses
	// t.
	Source(t *stream.Tables, ids []stream.ProcessID, shift stream.Time) stream.Source
	// Lacks says, for people, what such a file does not tell.
	Lacks() string
}

// grouper is a foreign file that supports groupings of tracks.
type grouper interface{ group(s Selection) }

// namer is a foreign file whose functions programs can name.
type namer interface{ NameBy(naming.Resolve) }

// parted is a foreign file whose Source consists of several, which may be read at the same time.
type parted interface {
	Sources(t *stream.Tables, ids []stream.ProcessID, shift stream.Time) []stream.Source
}

// follower is a foreign file with stacks that programs' tables follow.
type follower interface{ FollowBy(naming.Follow) }

// foreignProcess is a process of a foreign file.
type foreignProcess struct {
	file   ForeignFile
	number int         // in the file, from 0
	format string      // name in the table of formats
	size   int64       // bytes of the file
	start  stream.Time // of the process, by its own clock
	shift  stream.Time
}

// Opener opens a file at its beginning, repeatedly, and decompresses it.
type Opener = func() (io.ReadCloser, error)

// foreignOf adapts a format's open function to the search. If open returns an error and a file, the
// intact part is used, and the error is reported.
func foreignOf[F interface {
	comparable
	ForeignFile
}](format string, open func(Opener) (F, error)) func(*search, location) error {
	return func(s *search, l location) error {
		opener, done := l.opener()
		defer done()
		f, err := open(opener)
		if none := *new(F); f == none {
			return wrongFormat{err}
		}
		s.addForeign(format, l, f)
		return err
	}
}

// opener opens the file. Until done is called, it is not opened and unpacked again only because it was sniffed.
func (l location) opener() (open Opener, done func()) {
	begun := l.begun
	l.begun = nil // files hold l
	open = func() (io.ReadCloser, error) {
		if r := begun; r != nil {
			begun = nil
			return io.NopCloser(r), nil
		}
		return l.open()
	}
	return open, func() { begun = nil }
}

// inPlaceOf is foreignOf for a format that is read with random access.
func inPlaceOf[F interface {
	comparable
	ForeignFile
}](format string, open func(r io.ReaderAt, size int64) (F, error)) func(*search, location) error {
	return func(s *search, l location) error {
		f, err := open(&lazyFile{l}, l.size())
		if none := *new(F); f == none {
			return wrongFormat{err}
		}
		s.addForeign(format, l, f)
		return err
	}
}

// wrongFormat is the error of a file that is not of the format it seemed to be of.
type wrongFormat struct{ error }

func (e wrongFormat) Is(target error) bool { return target == ErrForeign }

func (e wrongFormat) Unwrap() error { return e.error }

func (s *search) addForeign(format string, l location, file ForeignFile) {
	for i, row := range file.Processes() {
		s.processes = append(s.processes, &Process{
			Process:  &chunks.Process{Instance: row.Instance, Pid: uint32(row.Pid)},
			Location: l.path,
			files:    l.files,
			foreign:  &foreignProcess{file: file, number: i, format: format, size: l.size(), start: row.Start},
		})
	}
}

// open opens a file at its beginning, decompressed.
func (l location) open() (io.ReadCloser, error) {
	f, err := l.files.Open(l.name)
	if err != nil || l.unpack == nil {
		return f, err
	}
	z, err := l.unpack(bufio.NewReaderSize(f, streamBuffer))
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &unpackedFile{z, f}, nil
}

// size is the size of the file as stored, 0 if unknown.
func (l location) size() int64 {
	if l.bytes > 0 {
		return l.bytes
	}
	f, err := l.files.Open(l.name)
	if err != nil {
		return 0
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// unpackedFile is a compressed file being read.
type unpackedFile struct {
	io.ReadCloser
	file io.Closer
}

func (u *unpackedFile) Close() error { return errors.Join(u.ReadCloser.Close(), u.file.Close()) }

// row is the process on the clock of the run.
func (f *foreignProcess) row() stream.Process {
	row := f.file.Processes()[f.number]
	row.Start += f.shift
	if row.Earliest != 0 {
		row.Earliest += f.shift
	}
	if row.End != 0 {
		row.End += f.shift
	}
	return row
}

// parent is the instance of its parent, 0 for none.
func (f *foreignProcess) parent() uint64 {
	all := f.file.Processes()
	if id := all[f.number].Parent; id > 0 && int(id) <= len(all) {
		return all[id-1].Instance
	}
	return 0
}

// place moves a file with an unrelated clock to the start of the run.
func (f *foreignProcess) place(start stream.Time) {
	first := stream.Time(0)
	for i, row := range f.file.Processes() {
		if i == 0 || row.Start < first {
			first = row.Start
		}
	}
	f.shift = start - first
}

// reaches reports whether it may have something of a time.
func (f *foreignProcess) reaches(from, to stream.Time) bool {
	row := f.row()
	return row.Start < to && (row.End == 0 || row.End >= from)
}

// ErrNotOurs says that an operation needs a recording of ours.
var ErrNotOurs = errors.New("is of another tool")

// Foreign returns the format of a foreign process, and what such a file does not tell; "" for one
// of ours.
func (p *Process) Foreign() (format, lacks string) {
	if p.foreign == nil {
		return "", ""
	}
	return p.foreign.format, p.foreign.file.Lacks()
}

// notOurs is the error of operations on our recordings only.
func (p *Process) notOurs(what string) error {
	return fmt.Errorf("%s: %w: a %s file can't be %s; convert it", p.Location, ErrNotOurs, p.foreign.format, what)
}

// ours is an error if some process is foreign.
func (f *Found) ours(what string) error {
	for _, p := range f.Processes {
		if p.foreign != nil {
			return p.notOurs(what)
		}
	}
	return nil
}

// foreignSources returns the sources of the chosen foreign processes, file by file. Ids are
// places in chosen.
func (f *Found) foreignSources(t *stream.Tables, chosen []*Process, s Selection) (all []stream.Source) {
	ids := map[ForeignFile][]stream.ProcessID{}
	for i, p := range chosen {
		if p.foreign == nil {
			continue
		}
		file := p.foreign.file
		if ids[file] == nil {
			ids[file] = make([]stream.ProcessID, len(file.Processes()))
		}
		ids[file][p.foreign.number] = stream.ProcessID(i + 1)
	}
	for _, p := range chosen {
		if p.foreign == nil || ids[p.foreign.file] == nil {
			continue
		}
		file := p.foreign.file
		if g, ok := file.(grouper); ok {
			g.group(s)
		}
		if n, ok := file.(namer); ok && f.symbols != nil {
			n.NameBy(f.resolve)
		}
		if n, ok := file.(follower); ok && f.symbols != nil {
			n.FollowBy(f.symbols.CallFrames)
		}
		if parts, ok := file.(parted); ok {
			all = append(all, parts.Sources(t, ids[file], p.foreign.shift)...)
		} else {
			all = append(all, file.Source(t, ids[file], p.foreign.shift))
		}
		delete(ids, file)
	}
	return all
}

// goTraceFormat names Go's execution traces.
const goTraceFormat = "Go execution trace"

// goTrace is an execution trace that is an input by itself.
type goTrace struct {
	*gotrace.File
	tracks gotrace.Grouping
	states bool
	jobs   int
	place  func(mono uint64) stream.Time // the clock that it shares with recordings; nil: none
}

func openGoTrace(open Opener) (*goTrace, error) {
	f, err := gotrace.Open(open)
	if f == nil {
		return nil, err
	}
	return &goTrace{File: f}, err
}

// Processes implements [ForeignFile].
func (g *goTrace) Processes() []stream.Process { return []stream.Process{g.Process(g.place)} }

// Source implements [ForeignFile].
func (g *goTrace) Source(t *stream.Tables, ids []stream.ProcessID, shift stream.Time) stream.Source {
	return g.File.Source(t, ids[0], gotrace.Options{Tracks: g.tracks, States: g.states, Place: g.place, Shift: shift, Jobs: g.jobs})
}

// trimTraces leaves each generation to one of the traces that have it, because snapshots of a
// flight recorder overlap. A trace that keeps none is a copy.
func (f *Found) trimTraces() {
	traces := map[*Process]*gotrace.File{}
	for _, p := range f.Processes {
		if p.foreign == nil {
			continue
		}
		if g, ok := p.foreign.file.(*goTrace); ok {
			traces[p] = g.File
		}
	}
	var seen gotrace.Overlap
	copied := map[*Process]bool{}
	for _, p := range slices.SortedFunc(maps.Keys(traces), func(p, q *Process) int { return gotrace.Compare(traces[p], traces[q]) }) {
		if !seen.Trim(traces[p]) {
			copied[p] = true
			f.twice = append(f.twice, p)
		}
	}
	f.Processes = slices.DeleteFunc(f.Processes, func(p *Process) bool { return copied[p] })
}

func (g *goTrace) group(s Selection) {
	g.tracks, g.states, g.jobs = traceTracks(s.Grouping), s.States, s.jobs
}

// traceTracks is the grouping of a trace that goes with one of recordings.
func traceTracks(by Grouping) gotrace.Grouping {
	switch by {
	case ByThread:
		return gotrace.ByThread
	case ByProcessor:
		return gotrace.ByProcessor
	}
	return gotrace.ByRoot
}

// share puts a trace on the monotonic clock of recordings of the same boot. Traces have no boot id:
// equal offsets of real time tell. So their order is exact.
func (g *goTrace) share(known []*clockProcess) {
	a, ok := g.Anchor()
	for _, p := range known {
		low, high, _ := p.shared.known(a.Mono)
		if offset := a.Wall - int64(a.Mono); ok && offset >= low-maxSkew && offset <= high+maxSkew {
			g.place = p.clock.At
			return
		}
	}
}

// traceIndexes is from where on the rows of windows of the execution trace have
// their indexes, and windowIndexes how many each of them: no ring comes so far.
const (
	// traceIndexes is the first index of rows of execution trace windows, and windowIndexes the
	// indexes of each: no ring gets so far.
	traceIndexes  = 1 << 63
	windowIndexes = 1 << 40
)

// windows returns the sources of the execution trace windows beside the recording of p.
func (p *Process) windows(t *stream.Tables, id stream.ProcessID, s Selection) (all []stream.Source) {
	if len(p.Traces) == 0 {
		return nil
	}
	var seen gotrace.Overlap
	recorded := kindsOf(t.Process(id).Settings.Features)
	for i, w := range p.Traces {
		f, err := p.openTrace(w)
		if err != nil {
			t.Ledger.Add(p.badWindow(w, err))
		}
		switch {
		case f == nil:
		case !seen.Trim(f):
			t.Ledger.Add(stream.Line{Process: p.Name(), Reason: stream.ReasonDuplicate, What: "execution traces", Where: w.Name, Count: 1, Bytes: w.Size})
		default:
			all = append(all, f.Source(t, id, gotrace.Options{
				Tracks: traceTracks(s.Grouping), States: s.States, Place: p.clock.At, Recorded: recorded, FirstIndex: traceIndexes + uint64(i)*windowIndexes, Jobs: s.jobs,
			}))
		}
	}
	return all
}

// openTrace opens a window. If there is an error, the file, if any, has what comes before.
func (p *Process) openTrace(w chunks.Trace) (*gotrace.File, error) {
	return gotrace.Open(func() (io.ReadCloser, error) { return p.files.Open(path.Join(p.Dir, w.Name)) })
}

// kindsOf are the kinds of rows that a recording with these features has as an execution trace has them, too. One that names
// no features may have all.
func kindsOf(features []string) (kinds []stream.Kind) {
	for _, of := range []struct {
		feature string
		kind    stream.Kind
	}{{"samples", stream.Samples}, {featureWaits, stream.Waits}, {"counters", stream.Counts}} {
		if len(features) == 0 || slices.Contains(features, of.feature) {
			kinds = append(kinds, of.kind)
		}
	}
	return kinds
}

// badWindow is the ledger line of a window that can't be read to its end.
func (p *Process) badWindow(w chunks.Trace, err error) stream.Line {
	reason := stream.ReasonUnreadable
	switch {
	case errors.Is(err, damage.ErrTorn):
		reason = stream.ReasonTorn
	case errors.Is(err, damage.ErrDamaged):
		reason = stream.ReasonDamaged
	}
	return stream.Line{Process: p.Name(), Reason: reason, What: "execution traces", Where: fmt.Sprintf("%s, %v", w.Name, err), Count: 1}
}

// settleSums makes processes of the profiles that were added up.
func (f *Found) settleSums(pool *pprof.Pool) {
	pool.Settle()
	for _, p := range f.Processes {
		if n := p.profiles(); n > 1 {
			file := p.foreign.file.(*pprof.File)
			row := file.Processes()[0]
			p.Instance, p.Location = row.Instance, fmt.Sprintf("%d profiles", n)
			p.foreign.start, p.foreign.size = row.Start, file.Stored()
		}
	}
}

// profiles is how many files p was made of.
func (p *Process) profiles() int64 {
	if p.foreign == nil {
		return 1
	}
	if file, ok := p.foreign.file.(*pprof.File); ok {
		return file.Files()
	}
	return 1
}

// noteCopies counts profiles that were given twice, of those that were added up.
func (f *Found) noteCopies(ledger *stream.Ledger) {
	for _, p := range f.Processes {
		if p.foreign == nil {
			continue
		}
		if file, ok := p.foreign.file.(*pprof.File); ok {
			if n, bytes := file.Copies(); n > 0 {
				ledger.Add(stream.Line{Process: p.Name(), Reason: stream.ReasonDuplicate, What: "processes", Count: n, Bytes: bytes})
			}
		}
	}
}
