package ingest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"

	"gprof/chunks"
	"gprof/decode"
	"gprof/ingest/archive"
	"gprof/ingest/patience"
)

// maxDepth is how many directories below an input are searched: the session and
// the instance, and what people sort dumps by, such as region, day, host and
// pod. In an archive, which may begin with where all that lay, they all are.
const maxDepth = 10

// maxLevel is how many archives may lie around a recording.
const maxLevel = 2

// search looks at one input.
type search struct {
	*finder
	processes []*Process
	removed   []*Process
	chunks    []string // files on disk that are inputs by themselves
	warnings  []*Warning
	archives  []string
	spools    []*archive.Spool
}

// location is a file or a directory.
type location struct {
	files fs.FS
	name  string // in files
	path  string // where a person finds it
	label string // what names it in an output: no directory outside of archives
	disk  string // path on disk; "" inside archives
	level int    // archives around it
	// again says that the file can be opened again: it is no pipe. unpack is what
	// unpacks it then; nil: it is as it lies.
	again  bool
	unpack func(io.Reader) (io.ReadCloser, error)
	// begun is the file from its front, unpacked, while it is open to be sniffed;
	// nil: it isn't.
	begun io.Reader
}

// disk is a directory on disk, which may hang.
func (r *finder) disk(dir string) fs.FS { return r.watch.FS(os.DirFS(dir), r.mount(dir)) }

// mount is the mount that a directory lies on.
func (r *finder) mount(dir string) *patience.Mount {
	info, err := patience.Call(r.watch, func() (fs.FileInfo, error) { return os.Stat(dir) })
	if err != nil {
		return new(patience.Mount) // whoever reads it will be told
	}
	id, ok := device(info)
	if !ok {
		return new(patience.Mount)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mounts[id] == nil {
		r.mounts[id] = new(patience.Mount)
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

// below is what lies in a directory under a name.
func (r *finder) below(l location, name string, dir bool) location {
	if l.disk != "" {
		return r.onDisk(filepath.Join(l.disk, name), dir)
	}
	l.name, l.path, l.label = path.Join(l.name, name), l.path+"/"+name, l.label+"/"+name
	return l
}

// input searches an input; what is wrong with it becomes a warning.
func (s *search) input(in string) {
	if in == "-" {
		s.stdin()
		return
	}
	info, err := patience.Call(s.watch, func() (fs.FileInfo, error) { return os.Stat(in) })
	switch {
	case err != nil:
		s.warn(location{path: in, label: filepath.Base(in)}, err)
	case info.IsDir():
		l := s.onDisk(in, true)
		n, err := s.tree(l, maxDepth)
		if err == nil && n == 0 && len(s.warnings) == 0 {
			err = fmt.Errorf("%w in this directory; give the session directory that the recorder wrote, or one with profiles of other tools", ErrNothing)
		}
		s.warn(l, err)
	case info.Mode().IsRegular():
		l := s.onDisk(in, false)
		s.warn(l, s.file(l, true))
	case info.Mode()&fs.ModeNamedPipe != 0:
		s.pipe(in, info)
	default:
		s.warn(s.onDisk(in, false), errors.New("is neither a directory nor a file nor a pipe; want a session directory, an archive or a chunk file"))
	}
}

// warn adds a warning that an input gave nothing, or not all; nil is none.
func (s *search) warn(l location, err error) {
	if err != nil {
		s.warnings = append(s.warnings, newWarning(l.path, l.label, err))
	}
}

// tree takes a process directory, and what lies in directories below; n counts
// processes. What bears our names and is none of ours hides nothing. Files are
// taken as many at once as there are jobs: there may be thousands, each of which
// is read to know it.
func (s *search) tree(l location, depth int) (n int, err error) {
	entries, err := fs.ReadDir(l.files, l.name)
	if err != nil {
		return 0, err
	}
	before, process := len(s.processes)+len(s.removed), isProcess(entries)
	if process {
		err = s.process(l)
	}
	parts := make([]search, len(entries))
	files := newCrowd(s.o.Jobs)
	for i, e := range entries {
		part, below := &parts[i], s.below(l, e.Name(), e.IsDir())
		part.finder = s.finder
		switch {
		case e.IsDir() && depth > 0:
			_, err := part.tree(below, depth-1)
			part.warn(below, err)
		case !process && !e.IsDir():
			files.do(func() { part.warn(below, part.entry(below, e.Type())) })
		}
	}
	files.wait()
	for i := range parts {
		s.take(&parts[i])
	}
	return len(s.processes) + len(s.removed) - before, err
}

// take adds what a part of the search has found.
func (s *search) take(part *search) {
	s.processes = append(s.processes, part.processes...)
	s.removed = append(s.removed, part.removed...)
	s.chunks = append(s.chunks, part.chunks...)
	s.warnings = append(s.warnings, part.warnings...)
	s.archives = append(s.archives, part.archives...)
	s.spools = append(s.spools, part.spools...)
}

// entry takes a file of a directory that is no process'. A link is followed to
// a file; to a directory it is not, for that may lie around this one.
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

func (s *search) process(l location) error {
	p, err := chunks.OpenProcess(l.files, l.name)
	if err != nil {
		return err
	}
	s.add(p, l)
	return nil
}

func (s *search) add(p *chunks.Process, l location) {
	found := &Process{Process: p, Location: l.path, Alive: s.alive(l.disk), files: l.files, disk: l.disk}
	if (found.Alive || found.Snapshot()) && p.Exit == nil {
		p.Rest = nil
	}
	if p.Removed() {
		found.clock, _ = decode.ClockOf(p) // it needs no place beside others
		s.removed = append(s.removed, found)
		return
	}
	s.processes = append(s.processes, found)
}

// alive asks for the lock of a process in a directory on disk; "" is none. One that
// cannot be asked counts as alive, as it does for [chunks.Alive].
func (r *finder) alive(disk string) bool {
	if disk == "" {
		return false
	}
	alive, err := patience.Call(r.watch, func() (bool, error) { return chunks.Alive(disk), nil })
	return alive || err != nil
}

// file takes a file by what it begins with. In a directory those that are none
// of ours are passed over, but for those whose names promise a recording.
func (s *search) file(l location, asked bool) error {
	head, err := readHead(l)
	if err != nil {
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
	l.again = true
	if f.open != nil {
		return s.settle(f.open(s, l), asked, l)
	}
	from, err := l.files.Open(l.name)
	if err != nil {
		return err
	}
	defer from.Close()
	if l.level == 0 { // what lies in it is unpacked by the one who holds the place
		s.unpacking <- struct{}{}
		defer func() { <-s.unpacking }()
	}
	in := s.buffers.get(from)
	defer s.buffers.put(in)
	return s.settle(f.read(s, l, in), asked, l)
}

// settle passes over what turned out to be none of ours when it was unpacked.
func (s *search) settle(err error, asked bool, l location) error {
	if errors.Is(err, ErrForeign) && !asked && !s.formats.promises(l.name) {
		return nil
	}
	return err
}

// readHead reads the first bytes of a file, fewer if it has no more.
func readHead(l location) ([]byte, error) {
	f, err := l.files.Open(l.name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, archive.Head)
	n, err := io.ReadFull(f, head)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return head[:n], err
}

// isProcess reports whether a directory with those entries is that of one
// process: it holds a meta file, a dictionary or a chunk.
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

// printable is a name for people and outputs: what an archive calls its members
// must not play with a terminal.
func printable(name string) string {
	if quoted := strconv.Quote(name); quoted != `"`+name+`"` {
		return quoted
	}
	return name
}
