package ingest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"gprof/chunks"
	"gprof/decode"
	"gprof/dedupe"
	"gprof/ingest/archive"
	"gprof/ingest/pprof"
	"gprof/ingest/symbols"
	"gprof/ingest/watchdog"
	"gprof/stream"
)

// maxSearches bounds the inputs searched concurrently, hence the open files; it is so high because
// those that hang must not block the others.
const maxSearches = 24

// maxUnpacking bounds the files unpacked concurrently, hence memory: a zstd stream may want
// archive.MaxWindow.
const maxUnpacking = 4

// Errors of inputs.
var (
	ErrNothing = errors.New("no recording found")
	ErrForeign = errors.New("no file of a kind that can be read")
	ErrNoInput = errors.New("no input by itself") // the error says what to do instead
	ErrNested  = errors.New("is an archive in an archive in an archive")
	ErrStalled = watchdog.ErrStalled
	ErrSpool   = archive.ErrSpool

	errAgain = errors.New("is given twice; a pipe can be read once")
)

// Found is what the inputs hold.
type Found struct {
	Processes []*Process // by start time and instance
	Warnings  []*Warning // what was left out of the inputs, and why
	twice     []*Process // copies of processes
	removed   []*Process // those of which only tombs are left
	again     []string   // chunk files given twice
	archives  []string   // files on disk that processes are read from
	spools    []*archive.Spool
	symbols   *symbols.Set // nil: none
	options   Options
	disks     []string    // directories of processes that it forgot
	perm      fs.FileMode // as Perm says, once it was asked; else 0

	placed  bool          // the fields below are set
	current []*Process    // not expired, on one time line
	ledger  stream.Ledger // about placing
}

// Process is a process and where it is. None of its files is open.
type Process struct {
	*chunks.Process
	Location string          // the process's directory, for messages only
	Alive    bool            // still recording
	files    fs.FS           // file system of Dir
	disk     string          // its directory; "" in an archive
	only     []string        // chunk files that were given by name; nil: all
	foreign  *foreignProcess // nil: a recording of ours
	anchors  []decode.Anchor // clock readings
	read     uint64          // monotonic time of the latest block read to place it
	clock    decode.Clock
	known    *worth // cached
	placed   stream.Clock
	naming   stream.Naming
	row      *stream.Process // as Row says, until a table has it; else nil
	parent   *Process        // among the processes that were found
	lent     int64           // committed bytes that a better copy took over
	expired  string          // why it is left out, "" if it is not
}

// Find looks for recordings in the inputs. The error wraps [ErrNothing] if there are none; single
// inputs without any are warnings. The caller closes the result when all has been read.
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
	f.settleSums(&r.profiles)
	f.order()
	f.setAside()
	if len(f.Processes) == 0 {
		f.Close()
		return nil, f.nothing()
	}
	return f, nil
}

// maxReasons bounds the reasons in an error: an archive of something else may have one for each
// member.
const maxReasons = 20

// nothing is the error that says why there is no recording.
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

// Close removes temporary files; nothing can be read any more.
func (f *Found) Close() error {
	var errs []error
	for _, s := range f.spools {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// Failed is the number of inputs that gave nothing, or not everything.
func (f *Found) Failed() int {
	paths := map[string]bool{}
	for _, w := range f.Warnings {
		if w.whole {
			paths[w.path] = true
		}
	}
	return len(paths)
}

// Reads reports whether name is, or would be among, files that are read: nothing must be written
// there.
func (f *Found) Reads(name string) bool {
	dir := filepath.Dir(name)
	return anySame(f.archives, name) || mayHoldProcess(dir) && anySame(f.dirs(), dir)
}

// mayHoldProcess looks once for files of a process: to ask whether a directory is one of thousands takes longer.
func mayHoldProcess(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err != nil || isProcess(entries)
}

// dirs are the directories on disk of all processes.
func (f *Found) dirs() []string {
	dirs := slices.Clone(f.disks)
	for _, p := range f.Processes {
		if p.disk != "" {
			dirs = append(dirs, p.disk)
		}
	}
	return dirs
}

// Forget lets go of all processes, so that what is known of each is freed once its source has read it: thousands
// would stay in memory until the output is written. Only Reads, Perm, Failed and Close may be called after that.
func (f *Found) Forget() {
	f.Perm()
	f.disks = f.dirs()
	f.Processes, f.twice, f.removed, f.current = nil, nil, nil, nil
}

// Perm is the permissions common to all files on disk that are read: those of the owner, and of
// group and others if every file grants them. Outputs should be no more open. Pipes don't count.
func (f *Found) Perm() fs.FileMode {
	if f.perm != 0 {
		return f.perm
	}
	perm, least := fs.FileMode(0o666), readers(0)
	ask := func(path string) {
		if perm == least {
			return // there may be thousands
		}
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
	f.perm = perm
	return perm
}

// Dirs are the directories on disk in which directories of processes and packed files were found, sorted.
func (f *Found) Dirs() (dirs []string) {
	for _, p := range slices.Concat(f.Processes, f.twice, f.removed) {
		if p.disk != "" {
			dirs = append(dirs, filepath.Dir(p.disk))
		}
	}
	for _, a := range f.archives {
		dirs = append(dirs, filepath.Dir(a))
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// readers are all permission bits of those who may read.
func readers(mode fs.FileMode) fs.FileMode {
	all := fs.FileMode(0o600)
	for _, who := range []fs.FileMode{0o060, 0o006} {
		if mode.Perm()&who&0o444 != 0 {
			all |= who
		}
	}
	return all
}

// anySame reports whether any of these paths is that of the same file as another path.
func anySame(paths []string, as string) bool {
	other, err := os.Stat(as)
	return err == nil && slices.ContainsFunc(paths, func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && os.SameFile(info, other)
	})
}

// finder is shared by the searches of all inputs.
type finder struct {
	o       Options
	formats table
	watch   *watchdog.Watch
	// shared by all pprof profiles
	profiles pprof.Pool
	spool    *archive.Spool
	unpacker archive.Unpacker
	buffers  buffers
	// unpacking limits concurrent unpacking, except from pipes.
	unpacking chan struct{}
	// near and far are places for goroutines beside one that searches a directory, and directories below it: one a job,
	// and more where waiting takes longer than reading.
	near, far chan struct{}

	mu     sync.Mutex
	pipes  []fs.FileInfo              // being read
	mounts map[uint64]*watchdog.Mount // by device
	texts  dedupe.Recent              // of meta files
}

func newFinder(o Options) *finder {
	if o.Stall == 0 {
		o.Stall = DefaultStall
	}
	return &finder{o: o, formats: formats(o.Formats), watch: watchdog.New(o.Stall), spool: archive.NewSpool(o.TempDir), unpacking: make(chan struct{}, maxUnpacking), mounts: map[uint64]*watchdog.Mount{},
		near: make(chan struct{}, max(o.Jobs, 1)-1), far: make(chan struct{}, max(o.Jobs, maxSearches)-1)}
}

// searchAll searches all inputs concurrently and returns the searches in input order.
func (r *finder) searchAll(paths []string) []*search {
	searches := make([]*search, len(paths))
	all := newWorkers(maxSearches)
	for i, path := range paths {
		searches[i] = &search{finder: r}
		all.do(func() { searches[i].input(path) })
	}
	all.wait()
	return searches
}

// expand expands patterns that no shell did: a thousand names may be too long for a command line.
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
			names, err = watchdog.Call(r.watch, func() ([]string, error) { return r.glob(in) })
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

// glob returns the sorted names that match, or the file of that very name.
func (r *finder) glob(pattern string) ([]string, error) {
	if l, ok, err := r.mounted(pattern); err != nil {
		return nil, err
	} else if ok {
		before, _, _ := strings.Cut(l.name, "*")
		if _, err := fs.ReadDir(l.files, path.Dir(before)); err != nil {
			return nil, err // which Glob does not tell
		}
		names, err := fs.Glob(l.files, l.name)
		for i, name := range names {
			names[i] = strings.TrimSuffix(pattern, l.name) + name
		}
		return names, err
	}
	if _, err := os.Lstat(pattern); err == nil {
		return []string{pattern}, nil
	}
	return filepath.Glob(pattern)
}

// looseChunks are chunk files given as inputs, by directory.
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

// openLoose opens chunk files given by name: those of one directory are one process, read with the
// dictionaries and meta file beside them.
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

// keep leaves only the named chunks and stack rings in p, and the problems of these and of
// dictionaries.
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

// workers runs functions concurrently, up to a limit.
type workers struct {
	places chan struct{}
	all    sync.WaitGroup
}

func newWorkers(places int) *workers { return &workers{places: make(chan struct{}, max(1, places))} }

// do waits for a free place and runs a function on a goroutine.
func (c *workers) do(something func()) {
	c.places <- struct{}{}
	c.all.Go(func() {
		defer func() { <-c.places }()
		something()
	})
}

// try runs a function, on a goroutine if a place is free.
func (c *workers) try(something func()) {
	select {
	case c.places <- struct{}{}:
		c.all.Go(func() {
			defer func() { <-c.places }()
			something()
		})
	default:
		something()
	}
}

func (c *workers) wait() { c.all.Wait() }

// streamBuffer is how much of a stream is read at once.
const streamBuffer = 64 << 10

// buffers are reused for reading streams while searching: there may be thousands, one after the
// other.
type buffers struct{ free sync.Pool } // of *bufio.Reader

func (b *buffers) get(r io.Reader) *bufio.Reader {
	in, ok := b.free.Get().(*bufio.Reader)
	if !ok {
		return bufio.NewReaderSize(r, streamBuffer)
	}
	in.Reset(r)
	return in
}

func (b *buffers) put(in *bufio.Reader) {
	in.Reset(nil)
	b.free.Put(in)
}
