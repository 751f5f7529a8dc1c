package ingest

import (
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"gprof/chunks/kept"
	"gprof/decode"
	"gprof/ingest/internal/spans"
	"gprof/ingest/symbols"
	"gprof/stream"
)

// Open finds recordings in the inputs and returns their source. Warnings are in found; the error is
// that of [Find].
func Open(inputs []string, o Options) (src stream.Source, found *Found, err error) {
	found, err = Find(inputs, o)
	if err != nil {
		return nil, nil, err
	}
	return found.Source(), found, nil
}

// Name is the instance as in ledgers and directories.
func (p *Process) Name() string { return fmt.Sprintf("%016x", p.Instance) }

// Source returns the source of all processes that have not expired. It may be called once.
func (f *Found) Source() stream.Source {
	src, _ := f.Select(Selection{})
	return src
}

// Select returns the source of a part of what [Found.Source] gives, with what else is in the chunks
// read for it. The error is a [filter.ErrNoMatch] if no process is wanted. It may be called once for events.
func (f *Found) Select(s Selection) (stream.Source, error) {
	f.place()
	s.jobs = f.options.Jobs
	if err := s.complete(f.current); err != nil {
		return nil, err
	}
	tables := new(stream.Tables)
	s.tell(f, &tables.Ledger)
	f.noteInputs(&tables.Ledger)
	chosen, err := s.choose(f.current, &tables.Ledger)
	if err != nil {
		return nil, err
	}
	processes := make([]*Process, len(chosen))
	var inputs []decode.Input
	for i, p := range chosen {
		processes[i] = p.Process
		if p.foreign == nil {
			inputs = append(inputs, decode.Input{Found: p.part, ID: stream.ProcessID(i + 1), Clock: p.clock})
		}
	}
	describe(tables, processes)
	for _, p := range f.current {
		p.row = nil // those of all are in memory together
	}
	f.noteDiscards(processes, &tables.Ledger)
	if s.Every > 1 {
		nameParts(tables.Processes, chosen)
	}
	if s.Headers {
		return headers(tables, processes, inputs), nil
	}
	recorded, others := f.recorded(tables, processes, inputs, s.Grouping), f.foreignSources(tables, processes, s)
	for i, p := range processes {
		others = append(others, p.windows(tables, stream.ProcessID(i+1), s)...)
	}
	if s.From == 0 && s.To == 0 && s.Every <= 1 { // else it is of a part
		recorded = watchHeap(recorded, processes)
	}
	if len(others) == 0 {
		return recorded, nil
	}
	return stream.Merge(tables, recorded, stream.MergeParallel(tables, f.options.Jobs, others...)), nil
}

// recorded returns the source of our recordings.
func (f *Found) recorded(tables *stream.Tables, processes []*Process, inputs []decode.Input, by Grouping) stream.Source {
	var over *expiredRows
	if !f.options.KeepExpired {
		over = findExpiredRows(processes, tables)
	}
	o := decode.Options{Jobs: f.options.Jobs, GoOn: true, Grouping: by}
	if f.symbols != nil {
		o.Resolve = f.resolve
	}
	return spans.Join(over.filter(decode.New(tables, inputs, o)), f.options.TempDir)
}

// current puts the processes on one time line and returns those that have not expired. It does not
// read processes that an exit record expires.
func (e *expiry) current(all []*Process, ledger *stream.Ledger) []*Process {
	e.byIndex(all)
	a := align(slices.DeleteFunc(slices.Clone(all), func(p *Process) bool { return p.expired != "" }))
	e.byTime(all)
	a.note(ledger)
	return e.stay(all, ledger)
}

func (f *Found) noteInputs(ledger *stream.Ledger) {
	for _, p := range f.twice {
		if f.keptAlready(p) {
			continue
		}
		if left := int64(size(p)) - p.lent; left > 0 || p.lent == 0 {
			ledger.Add(stream.Line{Process: p.Name(), Reason: stream.ReasonDuplicate, What: "processes", Count: 1, Bytes: left})
		}
	}
	f.noteCopies(ledger)
	for _, name := range f.again {
		ledger.Add(stream.Line{Reason: stream.ReasonDuplicate, What: "inputs", Where: name, Count: 1})
	}
	for _, w := range f.Warnings {
		ledger.Add(w.line())
	}
}

// keptAlready reports whether a copy is there because a trigger kept it: beside the recording, and beside other
// files that triggers of the session kept.
func (f *Found) keptAlready(p *Process) bool {
	session, byTrigger := p.session()
	return slices.ContainsFunc(f.Processes, func(q *Process) bool {
		other, alike := q.session()
		return q.Instance == p.Instance && other == session && (byTrigger || alike)
	})
}

// session is the directory of the process's session; byTrigger: a trigger kept this copy.
func (p *Process) session() (dir string, byTrigger bool) {
	dir = filepath.Dir(p.Location)
	if files := filepath.Dir(dir); filepath.Base(files) == kept.DirName {
		return filepath.Dir(files), true
	}
	return dir, false
}

// Row is the process as it is in the table of processes, without its parent and, before [Found.Span]
// or a source was asked for, without its times.
func (p *Process) Row() stream.Process {
	if p.row != nil {
		return *p.row
	}
	if p.foreign != nil {
		row := p.foreign.row()
		row.Clock, row.Naming = p.placed, p.naming
		return row
	}
	row := decode.Describe(p.Process, p.clock)
	row.Clock, row.Naming = p.placed, p.naming
	return row
}

// describe fills the process table. A process whose parent is missing is a child of the nearest
// ancestor in it.
func describe(tables *stream.Tables, processes []*Process) {
	ids := map[*Process]stream.ProcessID{}
	for i, p := range processes {
		ids[p] = stream.ProcessID(i + 1)
	}
	tables.Processes = make([]stream.Process, 0, len(processes)) // a row is large, and there may be many
	for _, p := range processes {
		row := p.Row()
		a := p.parent
		for a != nil && ids[a] == 0 {
			a = a.parent
		}
		row.Parent = ids[a]
		tables.Processes = append(tables.Processes, row)
	}
	findTwins(tables.Processes, processes, &tables.Ledger)
}

// DefaultStall is long enough for a remote shell to log in and for a pod to be found before the
// first byte comes.
const DefaultStall = 30 * time.Second

// Options say how inputs are read. The zero value is ready to use.
type Options struct {
	// Stdin is what the input "-" reads; nil: none.
	Stdin io.Reader
	// Stall is how long no input may make progress before those that are waited for are given up.
	// 0: [DefaultStall]; negative: forever.
	Stall time.Duration
	// TempDir is where inputs without random access are unpacked, in unlinked files; "": a
	// directory for temporary files on a disk.
	TempDir string
	// Jobs is how many goroutines decode concurrently; 0 is 1. The result is the same for any
	// number.
	Jobs int
	// Symbols are programs, and folders of them, that name functions which recordings don't.
	Symbols []string
	// Formats are additional kinds of files. They are tried first.
	Formats []Format
	// Mount returns the file system of an input that does not lie on disk, and the input's name in
	// it; nil: it does. The same file system is returned for all inputs of one place. nil: all do.
	Mount func(input string) (fsys fs.FS, name string, err error)
	// Sum says that only sums over all processes are wanted. Then profiles of one program in pprof's format become one
	// process, and each of them takes some bytes.
	Sum bool
	// KeepExpired keeps what has expired, see expire.go.
	KeepExpired bool
	// ExpireCrashed also expires processes that did not end cleanly.
	ExpireCrashed bool
	// ExpireAfter expires processes that ended so long before the latest event, even if their
	// parent is idle and holds everything. 0: none.
	ExpireAfter time.Duration
}

// openSymbols opens the programs that name functions. One that can't be opened is a warning.
func (f *Found) openSymbols(paths []string) {
	if len(paths) == 0 {
		return
	}
	set, errs := symbols.Open(paths)
	for i, err := range errs {
		if err != nil {
			f.Warnings = append(f.Warnings, newWarning(paths[i], filepath.Base(paths[i]), err))
		}
	}
	f.symbols = set
}

// resolve names the functions at an offset in the program of a build.
func (f *Found) resolve(build string, offset uint64, add func(function, file string, line, start int32)) {
	for _, fn := range f.symbols.Lookup(build, offset) {
		add(fn.Name, fn.File, fn.Line, fn.Start)
	}
}
