package ingest

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"gprof/chunks"
	"gprof/ingest/internal/naming"
	"gprof/stream"
)

// Format is a kind of file that another tool writes. Those in [Options.Formats] join
// the formats that this package reads itself: such files are then found in directories
// and archives, unpacked, and put on the time line as all others are.
type Format struct {
	Name  string   // in the words of info and of errors, such as "perf.data"
	Text  string   // one such file in the words of help, such as "a perf.data"
	Ends  []string // how names of such files end; a file that is called so and is something else is worth a warning
	Sniff func(head []byte) bool
	// Open opens a file. When it returns both a file and an error, what is intact of
	// the file is used, and the error is told.
	Open func(Opener) (ForeignFile, error)
}

// ForeignFile is a file in the format of another tool, as the package of that format
// opened it. It holds no file open, and little memory: there may be thousands.
type ForeignFile interface {
	// Processes are those that it tells of, with all that is known before their
	// events are read. Of each
	//
	//   - the Instance depends on nothing but what is in the file, so that a file
	//     that is given twice is read once;
	//   - Start and End are the first and the last moment; End is 0 if it is not
	//     known. They are real time if Clock.By says what told that; if it is "",
	//     they are of a clock that nobody else has, and [Found] places the file;
	//   - the Parent is the number of another one of them, from 1.
	Processes() []stream.Process
	// Source returns the source of those of the processes, in that order, that
	// have an id in t: 0 is one that is not wanted. Their rows are in t, and may be
	// completed there; their main tracks are not. shift is added to all times. It
	// is read while other sources are, and holds the lock of t while it uses t.
	Source(t *stream.Tables, ids []stream.ProcessID, shift stream.Time) stream.Source
	// Lacks says, for people, what such a file does not tell.
	Lacks() string
}

// grouped is a foreign file that can have other tracks.
type grouped interface{ group(by Grouping) }

// nameless is a foreign file whose functions programs can name.
type nameless interface{ NameBy(naming.Resolve) }

// foreigner is a process of a foreign file.
type foreigner struct {
	file   ForeignFile
	number int    // of the process in the file, from 0
	format string // name in the table of formats
	size   int64  // bytes of the file
	shift  stream.Time
}

// Opener opens a file to be read from its front, as often as it is called. What was
// compressed is unpacked.
type Opener = func() (io.ReadCloser, error)

// foreignOf returns what takes the files of a format into the search. When open
// returns an error and a file, what is intact of it is used, and the error is
// told.
func foreignOf[F interface {
	comparable
	ForeignFile
}](format string, open func(Opener) (F, error)) func(*search, location) error {
	return func(s *search, l location) error {
		// The file is not opened and unpacked again only because it was sniffed.
		begun := l.begun
		l.begun = nil // f holds l
		defer func() { begun = nil }()
		f, err := open(func() (io.ReadCloser, error) {
			if r := begun; r != nil {
				begun = nil
				return io.NopCloser(r), nil
			}
			return l.open()
		})
		if none := *new(F); f == none {
			return notThis{err}
		}
		s.addForeign(format, l, f)
		return err
	}
}

// notThis is the error of a file that is not of the format that it seemed to be of.
type notThis struct{ error }

func (e notThis) Is(target error) bool { return target == ErrForeign }

func (e notThis) Unwrap() error { return e.error }

func (s *search) addForeign(format string, l location, file ForeignFile) {
	for i, row := range file.Processes() {
		s.processes = append(s.processes, &Process{
			Process:  &chunks.Process{Instance: row.Instance, Pid: uint32(row.Pid)},
			Location: l.path,
			files:    l.files,
			foreign:  &foreigner{file: file, number: i, format: format, size: l.size()},
		})
	}
}

// open opens a file from its front, unpacked.
func (l location) open() (io.ReadCloser, error) {
	f, err := l.files.Open(l.name)
	if err != nil || l.unpack == nil {
		return f, err
	}
	z, err := l.unpack(bufio.NewReaderSize(f, streamBuffer))
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &unpacking{z, f}, nil
}

// size is that of a file as it lies, 0 if nobody knows.
func (l location) size() int64 {
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

// unpacking is a compressed file that is being read.
type unpacking struct {
	io.ReadCloser
	file io.Closer
}

func (u *unpacking) Close() error { return errors.Join(u.ReadCloser.Close(), u.file.Close()) }

// row is the process, as the file tells it, on the clock of the run.
func (f *foreigner) row() stream.Process {
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

// parent is the instance of its parent, 0 if it has none.
func (f *foreigner) parent() uint64 {
	all := f.file.Processes()
	if id := all[f.number].Parent; id > 0 && int(id) <= len(all) {
		return all[id-1].Instance
	}
	return 0
}

// place puts a file whose clock nobody else has at the start of the run.
func (f *foreigner) place(start stream.Time) {
	first := stream.Time(0)
	for i, row := range f.file.Processes() {
		if i == 0 || row.Start < first {
			first = row.Start
		}
	}
	f.shift = start - first
}

// reaches says whether there may be something of a time in it.
func (f *foreigner) reaches(from, to stream.Time) bool {
	row := f.row()
	return row.Start < to && (row.End == 0 || row.End >= from)
}

// ErrNotOurs says that something is asked of a file of another tool for which
// it has to be one that a recorder wrote.
var ErrNotOurs = errors.New("is of another tool")

// Foreign returns the format of a process that no recorder of ours recorded,
// and what such a file does not tell; "" for one of ours.
func (p *Process) Foreign() (format, lacks string) {
	if p.foreign == nil {
		return "", ""
	}
	return p.foreign.format, p.foreign.file.Lacks()
}

// notOurs is the error of what can be done with recordings only.
func (p *Process) notOurs(what string) error {
	return fmt.Errorf("%s: %w: a %s file can't be %s; convert it", p.Location, ErrNotOurs, p.foreign.format, what)
}

// ours is an error if some process is not one that a recorder wrote.
func (f *Found) ours(what string) error {
	for _, p := range f.Processes {
		if p.foreign != nil {
			return p.notOurs(what)
		}
	}
	return nil
}

// foreignSources returns the sources of the foreign processes among those that
// were chosen, whose ids are their places: one for each file.
func (f *Found) foreignSources(t *stream.Tables, chosen []*Process, by Grouping) (all []stream.Source) {
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
		if g, ok := file.(grouped); ok {
			g.group(by)
		}
		if n, ok := file.(nameless); ok && f.symbols != nil {
			n.NameBy(f.resolve)
		}
		all = append(all, file.Source(t, ids[file], p.foreign.shift))
		delete(ids, file)
	}
	return all
}
