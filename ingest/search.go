package ingest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gprof/chunks"
	"gprof/chunks/session"
	"gprof/decode"
	"gprof/ingest/archive"
	"gprof/ingest/internal/damage"
	"gprof/ingest/watchdog"
	"gprof/stream"
)

// maxDepth bounds the directories searched below an input: session and instance, and what people
// sort dumps by, such as region, day, host and pod.
const maxDepth = 10

// maxLevel bounds the archives around a recording.
const maxLevel = 2

// search searches one input.
type search struct {
	*finder
	processes []*Process
	removed   []*Process
	added     int      // profiles that became a part of others
	chunks    []string // files on disk that are inputs by themselves
	warnings  []*Warning
	archives  []string
	spools    []*archive.Spool
}

// location is a file or directory.
type location struct {
	files fs.FS
	name  string // in files
	path  string // for people
	label string // for outputs: no directory outside of archives
	disk  string // path on disk; "" inside archives
	bytes int64  // of the file as stored, 0 unknown
	level int    // archives around it
	far   bool   // in a place where waiting takes longer than reading
	// again says that the file can be opened again, because it is no pipe, and unpack decompresses
	// it then; nil: it is not compressed.
	again  bool
	unpack func(io.Reader) (io.ReadCloser, error)
	// begun reads the file from its beginning, decompressed, while it is open to be sniffed; else
	// nil.
	begun io.Reader
}

// disk is a directory on disk, which may hang.
func (r *finder) disk(dir string) fs.FS { return r.watch.FS(newDisk(dir), r.mount(dir)) }

// mount is the mount of a directory.
func (r *finder) mount(dir string) *watchdog.Mount {
	info, err := watchdog.Call(r.watch, func() (fs.FileInfo, error) { return os.Stat(dir) })
	if err != nil {
		return new(watchdog.Mount) // whoever reads it will be told
	}
	id, ok := device(info)
	if !ok {
		return new(watchdog.Mount)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mounts[id] == nil {
		r.mounts[id] = new(watchdog.Mount)
	}
	return r.mounts[id]
}

// onDisk is the location of a path on disk.
func (r *finder) onDisk(path string, dir bool) location {
	l := location{path: path, label: filepath.Base(path), disk: path}
	if dir {
		l.files, l.name = r.disk(path), "."
	} else {
		l.files, l.name = r.disk(filepath.Dir(path)), filepath.Base(path)
	}
	return l
}

// below is the location of a name in a directory.
func (r *finder) below(l location, name string, dir bool) location {
	if l.disk != "" && (dir || l.name != ".") {
		return r.onDisk(filepath.Join(l.disk, name), dir)
	}
	if l.disk != "" { // the file system is that of the directory
		disk := filepath.Join(l.disk, name)
		return location{files: l.files, name: name, path: disk, label: name, disk: disk}
	}
	l.name, l.path, l.label = path.Join(l.name, name), l.path+"/"+name, l.label+"/"+name
	return l
}

// input searches an input; errors become warnings.
func (s *search) input(in string) {
	if in == "-" {
		s.stdin()
		return
	}
	if l, ok, err := s.mounted(in); ok {
		s.elsewhere(l, err)
		return
	}
	info, err := watchdog.Call(s.watch, func() (fs.FileInfo, error) { return os.Stat(in) })
	switch {
	case err != nil:
		s.warn(location{path: in, label: filepath.Base(in)}, err)
	case info.IsDir():
		s.directory(s.onDisk(in, true))
	case info.Mode().IsRegular():
		l := s.onDisk(in, false)
		s.warn(l, s.file(l, true))
	case info.Mode()&fs.ModeNamedPipe != 0:
		s.pipe(in, info)
	default:
		s.warn(s.onDisk(in, false), errors.New("is neither a directory nor a file nor a pipe; want a session directory, an archive or a chunk file"))
	}
}

// directory searches a directory that is an input.
func (s *search) directory(l location) {
	n, err := s.tree(l, maxDepth)
	if err == nil && n == 0 && len(s.warnings) == 0 {
		err = fmt.Errorf("%w in this directory; give the session directory that the recorder wrote, or one with profiles of other tools", ErrNothing)
	}
	s.warn(l, err)
}

// mounted is the location of an input that does not lie on disk; ok: it is one.
func (r *finder) mounted(in string) (l location, ok bool, err error) {
	if r.o.Mount == nil {
		return l, false, nil
	}
	files, name, err := r.o.Mount(in)
	if files == nil && err == nil {
		return l, false, nil
	}
	return location{files: r.watch.FS(files, new(watchdog.Mount)), name: name, path: strings.TrimRight(in, "/"), label: path.Base(in), far: true}, true, err
}

// elsewhere searches an input that does not lie on disk.
func (s *search) elsewhere(l location, err error) {
	var info fs.FileInfo
	if err == nil {
		info, err = fs.Stat(l.files, l.name)
	}
	switch {
	case err != nil:
		s.warn(l, err)
	case info.IsDir():
		s.directory(l)
	default:
		s.warn(l, s.file(l, true))
	}
}

// warn adds a warning that an input gave nothing, or not everything; nil is none.
func (s *search) warn(l location, err error) {
	if err != nil {
		s.warnings = append(s.warnings, newWarning(l.path, l.label, err))
	}
}

// tree takes a process directory, and what is in directories below; n counts processes. Unreadable
// files that are named like ours don't hide others. Files are read concurrently: there may be
// thousands.
func (s *search) tree(l location, depth int) (n int, err error) {
	p, entries, err := chunks.OpenIf(l.files, l.name, isProcess)
	process := isProcess(entries)
	if err != nil && !process {
		return 0, err
	}
	before := s.found()
	if p != nil {
		s.add(p, l)
	}
	for some := range slices.Chunk(entries, maxParts) {
		s.entries(l, some, process, depth)
	}
	return s.found() - before, err
}

// found counts what was found so far.
func (s *search) found() int { return len(s.processes) + len(s.removed) + s.added }

// maxParts is how many entries of a directory are searched before their findings are put together.
const maxParts = 4096

// entries searches entries of a directory, which is a process's or not.
func (s *search) entries(l location, entries []fs.DirEntry, process bool, depth int) {
	parts := make([]search, len(entries))
	at := func(i int) {
		e, part := entries[i], &parts[i]
		part.finder = s.finder
		switch below := s.below(l, e.Name(), e.IsDir()); {
		case e.IsDir() && depth > 0:
			_, err := part.tree(below, depth-1)
			part.warn(below, err)
		case !process && !e.IsDir():
			part.warn(below, part.entry(below, e.Type()))
		}
	}
	beside := workers{places: s.near}
	if l.far {
		beside.places = s.far
	}
	for from, n := 0, min(max(1, len(entries)/aPlace), maxTogether); from < len(entries); from += n {
		beside.try(func() {
			for i := from; i < min(from+n, len(entries)); i++ {
				at(i)
			}
		})
	}
	beside.wait()
	for i := range parts {
		s.take(&parts[i])
	}
}

// Of many entries some are searched by a goroutine one after the other, at most maxTogether, because to begin one takes
// as long as to find a small recording; but of few so few that each goroutine has about as many.
const (
	aPlace      = 64
	maxTogether = 16
)

// take adds the findings of a partial search.
func (s *search) take(part *search) {
	s.processes = append(s.processes, part.processes...)
	s.removed = append(s.removed, part.removed...)
	s.added += part.added
	s.chunks = append(s.chunks, part.chunks...)
	s.warnings = append(s.warnings, part.warnings...)
	s.archives = append(s.archives, part.archives...)
	s.spools = append(s.spools, part.spools...)
}

// entry takes a file of a directory that is no process's. A link to a file is followed; one to a
// directory is not, since it may lead up.
func (s *search) entry(l location, mode fs.FileMode) error {
	if mode&fs.ModeSymlink != 0 {
		info, err := fs.Stat(l.files, l.name)
		if err != nil {
			return nil // it leads nowhere
		}
		mode = info.Mode()
	}
	switch {
	case mode.IsRegular():
		return s.file(l, false)
	case mode&fs.ModeNamedPipe != 0:
		return errors.New("is a pipe in a directory; it is read if it is an input by name")
	}
	return nil
}

func (s *search) add(p *chunks.Process, l location) {
	s.share(p.Meta)
	// Whoever records its exit holds the lock of a process, too, for a moment after that.
	found := &Process{Process: p, Location: l.path, Alive: p.Exit == nil && s.alive(l.disk), files: l.files, disk: l.disk}
	if found.Alive || found.Snapshot() && p.Exit == nil {
		p.Rest = nil
	}
	if p.Removed() {
		found.clock, _ = decode.ClockOf(p) // it needs no place beside others
		s.removed = append(s.removed, found)
		return
	}
	s.processes = append(s.processes, found)
}

// share has equal texts share memory: most are those of thousands of other processes, too.
func (r *finder) share(meta []chunks.Meta) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, m := range meta {
		meta[i] = chunks.Meta{Key: r.texts.Share(m.Key), Value: r.texts.Share(m.Value)}
	}
}

// alive asks for the lock of a process in a directory on disk; "" is none. If it can't be asked the
// process counts as alive, as for [session.Alive].
func (r *finder) alive(disk string) bool {
	if disk == "" {
		return false
	}
	alive, err := watchdog.Call(r.watch, func() (bool, error) { return session.Alive(disk), nil })
	return alive || err != nil
}

// file takes a file by its first bytes. Within directories unknown ones are skipped, except those
// whose names promise a recording.
func (s *search) file(l location, asked bool) error {
	from, err := l.files.Open(l.name)
	if err != nil {
		return err
	}
	defer from.Close()
	in := s.buffers.get(from)
	defer s.buffers.put(in)
	head, err := in.Peek(archive.Head)
	if err != nil && err != io.EOF {
		return err
	}
	f := s.formats.sniff(head)
	switch {
	case f == nil && (asked || s.formats.promises(l.name)):
		return foreign(head)
	case f == nil, f.alone && !asked:
		return nil
	case f.archive && l.level == maxLevel:
		return ErrNested
	}
	if l.disk != "" && !f.alone {
		s.archives = append(s.archives, l.disk)
	}
	if info, err := from.Stat(); err == nil {
		l.bytes = info.Size()
	}
	l.again = true
	if f.open != nil {
		if f.front {
			l.begun = in
		}
		return s.settle(f.open(s, l), asked, l)
	}
	if l.level == 0 { // what lies in it is unpacked by the one who holds the place
		s.unpacking <- struct{}{}
		defer func() { <-s.unpacking }()
	}
	return s.settle(f.read(s, l, in), asked, l)
}

// settle ignores files that proved unknown when unpacked.
func (s *search) settle(err error, asked bool, l location) error {
	if errors.Is(err, ErrForeign) && !asked && !s.formats.promises(l.name) {
		return nil
	}
	return err
}

// isProcess reports whether these are the entries of a process directory: it has a meta file,
// dictionary or chunk.
func isProcess(entries []fs.DirEntry) bool {
	for _, e := range entries {
		switch kind, _ := chunks.Named(e.Name()); kind {
		case chunks.MetaFile, chunks.DictFile, chunks.ChunkFile, chunks.StacksFile:
			if !e.IsDir() {
				return true
			}
		}
	}
	return false
}

// printable quotes names that could play with a terminal, as archive members may.
func printable(name string) string {
	if quoted := strconv.Quote(name); quoted != `"`+name+`"` {
		return quoted
	}
	return name
}

// Warning says what was left out of an input, or that it gave nothing. Its text has the path for
// people, which must not get into an output.
type Warning struct {
	path  string
	label string // for outputs: no directory outside of archives
	whole bool   // about the input itself, not a part
	err   error
}

// newWarning is a warning about an input.
func newWarning(path, label string, err error) *Warning {
	if p, ok := err.(*fs.PathError); ok {
		err = p.Err // the path stands in front of it already
	}
	return &Warning{path: path, label: label, whole: true, err: err}
}

func (w *Warning) Error() string { return printable(w.path) + ": " + w.err.Error() }

// Path is the path of the input.
func (w *Warning) Path() string { return w.path }

// Whole reports whether it is about an input as a whole, which gave nothing or not everything, and
// not about a part that was left out.
func (w *Warning) Whole() bool { return w.whole }

func (w *Warning) Unwrap() error { return w.err }

// reasons maps errors to reasons of the ledger; the first match counts.
var reasons = []struct {
	err    error
	reason stream.Reason
}{
	{watchdog.ErrStalled, stream.ReasonStalled},
	{archive.ErrTwice, stream.ReasonDuplicate},
	{errAgain, stream.ReasonDuplicate},
	{archive.ErrTorn, stream.ReasonTorn},
	{archive.ErrDamaged, stream.ReasonDamaged},
	{damage.ErrTorn, stream.ReasonTorn},
	{damage.ErrDamaged, stream.ReasonDamaged},
	{damage.ErrTooBig, stream.ReasonRefused},
	{archive.ErrEscape, stream.ReasonRefused},
	{archive.ErrName, stream.ReasonRefused},
	{archive.ErrLink, stream.ReasonRefused},
	{archive.ErrSpecial, stream.ReasonRefused},
	{archive.ErrTooBig, stream.ReasonRefused},
	{archive.ErrClash, stream.ReasonRefused},
	{archive.ErrOverlap, stream.ReasonRefused},
	{archive.ErrLies, stream.ReasonRefused},
	{archive.ErrMethod, stream.ReasonRefused},
	{archive.ErrMany, stream.ReasonRefused},
	{archive.ErrBomb, stream.ReasonRefused},
	{ErrNested, stream.ReasonRefused},
}

// line is the ledger line.
func (w *Warning) line() stream.Line {
	l := stream.Line{Reason: stream.ReasonUnreadable, What: "inputs", Where: printable(w.label), Count: 1}
	if !w.whole && w.err != errAgain {
		l.What = "members"
	}
	for _, r := range reasons {
		if errors.Is(w.err, r.err) {
			l.Reason = r.reason
			if r.reason == stream.ReasonRefused {
				l.Where += ": " + r.err.Error()
			}
			break
		}
	}
	return l
}
