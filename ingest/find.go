package ingest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"gprof/chunks"
	"gprof/decode"
	"gprof/ingest/archive"
	"gprof/ingest/patience"
	"gprof/ingest/pprof"
	"gprof/ingest/symbols"
	"gprof/stream"
)

// maxSearches bounds how many inputs are looked at at once, hence the files
// that are open: those that hang must not keep the others waiting.
const maxSearches = 24

// maxUnpacking bounds how many files are unpacked at once, hence the memory that
// takes: a zstd stream may want archive.MaxWindow.
const maxUnpacking = 4

// Errors of inputs.
var (
	ErrNothing = errors.New("no recording found")
	ErrForeign = errors.New("no file of a kind that can be read")
	ErrNoInput = errors.New("no input by itself") // the error says what to do instead
	ErrNested  = errors.New("is an archive in an archive in an archive")
	ErrStalled = patience.ErrStalled

	errAgain = errors.New("is given twice; a pipe can be read once")
)

// Found is what the inputs hold.
type Found struct {
	Processes []*Process // by start time and instance
	Warnings  []*Warning // what was left out of the inputs, and why
	twice     []*Process // copies of a process that is in Processes
	removed   []*Process // of which all made way for others
	again     []string   // names of chunk files that were given twice
	archives  []string   // files on disk that processes are read from
	spools    []*archive.Spool
	symbols   *symbols.Set // nil: none
	options   Options

	placed  bool          // the rest is known
	current []*Process    // those that have not expired, on one time line
	ledger  stream.Ledger // what is to be told of that
}

// Process is one process and where it lies. No file of it is open.
type Process struct {
	*chunks.Process
	Location string          // the process' directory; for messages only
	Alive    bool            // it is still recording
	files    fs.FS           // in which its directory is Dir
	disk     string          // its directory; "" if it lies in an archive
	only     []string        // names of the chunk files that were given; nil: all
	foreign  *foreigner      // nil: it is a recording
	anchors  []decode.Anchor // readings of its clocks
	read     uint64          // monotonic time of the latest block that was read to place it
	clock    decode.Clock
	known    *worth // once it was asked for
	placed   stream.Clock
	naming   stream.Naming
	parent   *Process // among the processes that were found
	lent     int64    // committed bytes that a better copy took over
	expired  string   // why it is left out, "" if it is not
}

// Find looks for recordings in the inputs. The error wraps [ErrNothing] if
// there are none; inputs beside others that give nothing are warnings.
//
// The caller closes what was found when all of it has been read.
func Find(inputs []string, o Options) (*Found, error) {
	r := newFinder(o)
	f := &Found{options: o, spools: []*archive.Spool{r.spool}}
	paths, warnings := r.expand(inputs)
	f.Warnings = warnings
	loose := looseChunks{}
	for _, s := range r.searchAll(paths) {
		f.Processes = append(f.Processes, s.processes...)
		f.removed = append(f.removed, s.removed...)
		f.Warnings = append(f.Warnings, s.warnings...)
		f.archives = append(f.archives, s.archives...)
		f.spools = append(f.spools, s.spools...)
		loose.add(s.chunks)
	}
	if r.unpacker.Spent() {
		f.Close()
		return nil, fmt.Errorf("all inputs together: %w", archive.ErrBomb)
	}
	f.again = loose.again
	r.openLoose(f, &loose)
	f.openSymbols(o.Symbols)
	f.order()
	f.setAside()
	if len(f.Processes) == 0 {
		f.Close()
		return nil, f.nothing()
	}
	return f, nil
}

// maxReasons is how many reasons are named why there is no recording: an archive
// of something else may have one for each member.
const maxReasons = 20

// nothing says why there is no recording.
func (f *Found) nothing() error {
	errs := []error{ErrNothing}
	for _, p := range f.removed {
		d := p.Discards()
		errs = append(errs, fmt.Errorf("%s: all that it recorded, %s, made way for others of its session; a larger limit keeps more", p.Location, d.span()))
	}
	for i, w := range f.Warnings {
		if i == maxReasons {
			errs = append(errs, fmt.Errorf("and %d more like these", len(f.Warnings)-i))
			break
		}
		errs = append(errs, w)
	}
	return errors.Join(errs...)
}

// Close removes temporary files. What was found cannot be read any more.
func (f *Found) Close() error {
	var errs []error
	for _, s := range f.spools {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// Failed is how many inputs gave nothing, or not all that was to come.
func (f *Found) Failed() int {
	paths := map[string]bool{}
	for _, w := range f.Warnings {
		if w.whole {
			paths[w.path] = true
		}
	}
	return len(paths)
}

// Reads reports whether name is, or would lie among, files that the recordings
// are read from: nothing must be written there.
func (f *Found) Reads(name string) bool {
	for _, a := range f.archives {
		if same(a, name) {
			return true
		}
	}
	for _, p := range f.Processes {
		if p.disk != "" && same(p.disk, filepath.Dir(name)) {
			return true
		}
	}
	return false
}

// Perm is whom the files on disk let read that the recordings are read from: the
// owner, and the group and all others if every one of them does. What is made of them
// should be no more open. What comes from a pipe says nothing of it.
func (f *Found) Perm() fs.FileMode {
	perm := fs.FileMode(0o666)
	ask := func(path string) {
		if info, err := os.Stat(path); err == nil {
			perm &= readers(info.Mode())
		}
	}
	for _, a := range f.archives {
		ask(a)
	}
	for _, p := range slices.Concat(f.Processes, f.twice) {
		if p.disk == "" {
			continue
		}
		ask(p.disk)
		for _, im := range p.Chunks[:min(len(p.Chunks), 1)] { // they are all made alike
			ask(filepath.Join(p.disk, path.Base(im.Name)))
		}
	}
	return perm
}

// readers are all bits of those who may read.
func readers(mode fs.FileMode) fs.FileMode {
	all := fs.FileMode(0o600)
	for _, who := range []fs.FileMode{0o060, 0o006} {
		if mode.Perm()&who&0o444 != 0 {
			all |= who
		}
	}
	return all
}

func same(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// finder is what the searches of all inputs share.
type finder struct {
	o       Options
	formats table
	watch   *patience.Watch
	// profiles is what the profiles of pprof have in common.
	profiles pprof.Pool
	spool    *archive.Spool
	unpacker archive.Unpacker
	buffers  buffers
	// unpacking has room for maxUnpacking. Pipes don't count: they come when
	// they come.
	unpacking chan struct{}

	mu     sync.Mutex
	pipes  []fs.FileInfo              // that are read
	mounts map[uint64]*patience.Mount // by device
}

func newFinder(o Options) *finder {
	if o.Stall == 0 {
		o.Stall = DefaultStall
	}
	return &finder{o: o, formats: formats(o.Formats), watch: patience.New(o.Stall), spool: archive.NewSpool(o.TempDir), unpacking: make(chan struct{}, maxUnpacking), mounts: map[uint64]*patience.Mount{}}
}

// searchAll searches all inputs, several at once, and returns the searches in
// the order of the inputs.
func (r *finder) searchAll(paths []string) []*search {
	searches := make([]*search, len(paths))
	all := newCrowd(maxSearches)
	for i, path := range paths {
		searches[i] = &search{finder: r}
		all.do(func() { searches[i].input(path) })
	}
	all.wait()
	return searches
}

// expand replaces patterns by the names that they match, for those whom no
// shell has done that: a thousand names may be too long for one.
func (r *finder) expand(inputs []string) (paths []string, warnings []*Warning) {
	stdin := false
	for _, in := range inputs {
		if in == "-" && stdin {
			warnings = append(warnings, &Warning{path: "stdin", label: "stdin", err: errAgain})
			continue
		}
		stdin = stdin || in == "-"
		names := []string{in}
		if strings.ContainsAny(in, "*?[") {
			var err error
			names, err = patience.Call(r.watch, func() ([]string, error) { return glob(in) })
			if err == nil && len(names) == 0 {
				err = fmt.Errorf("%w: no file has a name like this", fs.ErrNotExist)
			}
			if err != nil {
				warnings = append(warnings, newWarning(in, filepath.Base(in), err))
			}
		}
		paths = append(paths, names...)
	}
	return paths, warnings
}

// glob returns the names that a pattern matches, in order, or the file of that
// very name.
func glob(pattern string) ([]string, error) {
	if _, err := os.Lstat(pattern); err == nil {
		return []string{pattern}, nil
	}
	return filepath.Glob(pattern)
}

// looseChunks are chunk files that are inputs by themselves, by directory.
type looseChunks struct {
	names map[string][]string
	dirs  []string // in order
	again []string // given before
}

func (l *looseChunks) add(names []string) {
	for _, name := range names {
		dir := filepath.Dir(name)
		if slices.Contains(l.names[dir], filepath.Base(name)) {
			l.again = append(l.again, filepath.Base(name))
			continue
		}
		if l.names[dir] == nil {
			l.dirs = append(l.dirs, dir)
		}
		if l.names == nil {
			l.names = map[string][]string{}
		}
		l.names[dir] = append(l.names[dir], filepath.Base(name))
	}
}

// openLoose opens single chunk files: those of one directory are one process,
// read with the dictionaries and the meta file that lie beside them.
func (r *finder) openLoose(f *Found, loose *looseChunks) {
	for _, dir := range loose.dirs {
		files := r.disk(dir)
		p, err := chunks.OpenProcess(files, ".")
		if err != nil {
			f.Warnings = append(f.Warnings, newWarning(dir, filepath.Base(dir), err))
			continue
		}
		keep(p, loose.names[dir])
		if len(p.Rest) > 0 && len(p.Chunks) == 0 {
			f.Warnings = append(f.Warnings, newWarning(dir, filepath.Base(dir), errRingAlone))
			continue
		}
		if p.Exit == nil && r.alive(dir) {
			p.Rest = nil
		}
		f.Processes = append(f.Processes, &Process{Process: p, Location: dir, files: files, disk: dir, only: loose.names[dir]})
	}
}

// keep leaves only the named chunks and stack rings in p, and the problems that are
// theirs or the dictionaries'.
func keep(p *chunks.Process, names []string) {
	isOther := func(im *chunks.Image) bool { return !slices.Contains(names, filepath.Base(im.Name)) }
	p.Rest = slices.DeleteFunc(p.Rest, isOther)
	p.Chunks = slices.DeleteFunc(p.Chunks, isOther)
	p.Problems = slices.DeleteFunc(p.Problems, func(pr chunks.Problem) bool {
		file, _, _ := strings.Cut(pr.Where, " ")
		kind, _ := chunks.Named(file)
		return pr.Class == chunks.Gap || (kind == chunks.ChunkFile || kind == chunks.StacksFile) && !slices.Contains(names, file)
	})
}
