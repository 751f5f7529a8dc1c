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

	"gprof/chunks"
	"gprof/ingest/archive"
	"gprof/ingest/gecko"
	"gprof/ingest/pack"
	"gprof/ingest/watchdog"
)

// maxStream bounds what is stored of a pipe, or of a nested archive.
const maxStream = 1 << 40

// stacks takes a stack ring, which joins the chunks of its directory.
func (s *search) stacks(l location) error {
	if l.disk == "" {
		return errRingAlone
	}
	s.chunks = append(s.chunks, l.disk)
	return nil
}

// chunk takes a chunk file. One on disk joins the others of its directory.
func (s *search) chunk(l location) error {
	if l.disk != "" {
		s.chunks = append(s.chunks, l.disk)
		return nil
	}
	p, err := chunks.OpenChunk(l.files, l.name)
	if err != nil {
		return err
	}
	s.add(p, l)
	return nil
}

func (s *search) tar(l location) error {
	files, err := archive.OpenTar(l.files, l.name, s.wanted())
	return s.archive(l, files, err)
}

func (s *search) tarStream(l location, r io.Reader) error {
	files, err := archive.ReadTar(r, s.wanted())
	if err == nil {
		// Closing the pipe early would kill the program that writes to it.
		_, err = io.CopyN(io.Discard, r, archive.MaxSearch)
		if err == io.EOF {
			err = nil
		}
	}
	return s.archive(l, files, err)
}

func (s *search) zip(l location) error {
	files, err := archive.OpenZip(l.files, l.name, s.wanted())
	return s.archive(l, files, err)
}

// archive searches the intact part of an archive, and warns of refused members.
func (s *search) archive(l location, files *archive.FS, err error) error {
	if files == nil {
		return err
	}
	refused, more := files.Refused()
	for _, r := range refused {
		s.warnings = append(s.warnings, &Warning{path: l.path + "/" + r.Name, label: l.label + "/" + r.Name, err: r.Err})
	}
	if more > 0 {
		s.warnings = append(s.warnings, &Warning{path: l.path, label: l.label, err: fmt.Errorf("%w: %d more members that are not named", archive.ErrMany, more)})
	}
	return s.inside(l, files, err)
}

// inside searches an archive's file system; err is what ended it early.
func (s *search) inside(l location, files fs.FS, err error) error {
	in := location{files: files, name: ".", path: l.path, label: l.label, level: l.level + 1}
	n, err2 := s.tree(in, archive.MaxDepth)
	if err == nil && err2 == nil && n == 0 {
		return fmt.Errorf("%w in this archive", ErrNothing)
	}
	return joinErrors(err, err2)
}

// joinErrors joins two errors; a single one stays as it is.
func joinErrors(a, b error) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return errors.Join(a, b)
}

// wanted selects the files of recordings, and archives.
func (s *search) wanted() archive.Options {
	return archive.Options{Spool: s.spool, Budget: &s.unpacker.Budget, Want: func(name string, head []byte) int64 {
		kind, _ := chunks.Named(path.Base(name))
		if f := s.formats.sniff(head); f != nil && !f.alone {
			return maxStream
		}
		return kind.MaxSize()
	}}
}

func (s *search) packed(l location) error {
	r := &lazyFile{l}
	info, err := fs.Stat(l.files, l.name)
	if err != nil {
		return err
	}
	open := pack.Open
	if l.far {
		open = pack.OpenFar
	}
	a, err := open(r, info.Size())
	if err != nil {
		return err
	}
	if err := s.unpacker.Take(info.Size(), sizeOf(a)); err != nil {
		return err
	}
	for _, p := range a.Problems {
		class := archive.ErrDamaged
		if errors.Is(p, pack.ErrCut) {
			class = archive.ErrTorn
		}
		s.warn(l, fmt.Errorf("%w: %w", class, p))
	}
	return s.inside(l, a, nil)
}

// sizeOf is the unpacked size of an archive.
func sizeOf(files fs.FS) (n int64) {
	fs.WalkDir(files, ".", func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // it is told where it is read
		}
		if info, err := d.Info(); err == nil {
			n += info.Size()
		}
		return nil
	})
	return n
}

const geckoFormat = "Firefox Profiler"

// gecko takes a profile of Firefox Profiler. An old one is stored with its strings unfolded,
// repeatedly.
func (s *search) gecko(l location) error {
	p, err := gecko.Open(&lazyFile{l}, l.size())
	if errors.Is(err, gecko.ErrFolded) {
		return s.store(&format{open: (*search).gecko}, l, p.Unfold())
	}
	if p != nil {
		s.addForeign(geckoFormat, l, p)
	}
	if errors.Is(err, gecko.ErrForeign) {
		return fmt.Errorf("%w: %w", ErrForeign, err)
	}
	return err
}

// profile takes a pprof profile; all of a run share a pool.
func (s *search) profile(l location) error {
	if !s.o.Sum {
		return foreignOf(pprofFormat, s.profiles.Open)(s, l)
	}
	opener, done := l.opener()
	defer done()
	f, ok, err := s.profiles.Add(opener, l.size())
	if !ok {
		return wrongFormat{err}
	}
	if f == nil {
		s.added++
	} else {
		s.addForeign(pprofFormat, l, f)
	}
	return err
}

const pprofFormat = "pprof"

// lazyFile is open only while it is read: there may be thousands.
type lazyFile struct{ location }

// ReadAt implements [io.ReaderAt].
func (r *lazyFile) ReadAt(p []byte, off int64) (int, error) {
	f, err := r.files.Open(r.name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	at, ok := f.(io.ReaderAt)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	return at.ReadAt(p, off)
}

func (s *search) gzip(l location, r io.Reader) error {
	unpack := s.unpacker.Gunzip
	if l.again { // not a pipe, whose beginning is there before its end
		unpack = s.unpacker.GunzipSmall
	}
	return s.unpacked(l, r, unpack)
}

func (s *search) zstd(l location, r io.Reader) error { return s.unpacked(l, r, s.unpacker.Unzstd) }

// slabs takes a JsonSlabs file, a profile in another shape.
func (s *search) slabs(l location) error {
	r, err := l.open()
	if err != nil {
		return err
	}
	defer r.Close()
	return s.slabsStream(l, r)
}

// slabsStream is slabs for streams. The contents can only be a profile.
func (s *search) slabsStream(l location, r io.Reader) error {
	text, err := gecko.Unslab(r, s.o.TempDir)
	if err != nil {
		return err
	}
	defer text.Close()
	in := bufio.NewReaderSize(text, streamBuffer)
	head, err := in.Peek(archive.Head)
	if err != nil && err != io.EOF {
		return err
	}
	f := s.formats.sniff(head)
	if f == nil || f.name != geckoFormat {
		return foreign(head)
	}
	return s.store(f, l, in)
}

// unpacked takes the contents of a compressed file.
func (s *search) unpacked(l location, r io.Reader, unpack func(io.Reader) (io.ReadCloser, error)) error {
	z, err := unpack(r)
	if err != nil {
		return err
	}
	defer z.Close()
	l.unpack = unpack
	return s.stream(l, z)
}

// stream takes a pipe's contents.
func (s *search) stream(l location, r io.Reader) error {
	in := s.buffers.get(r)
	defer s.buffers.put(in)
	head, err := in.Peek(archive.Head)
	f := s.formats.sniff(head)
	switch {
	case f == nil && err != nil && err != io.EOF:
		return err
	case f == nil:
		return foreign(head)
	case f.archive && l.level == maxLevel:
		return ErrNested
	case f.open == nil && l.unpack != nil:
		return fmt.Errorf("%w: it is compressed twice", ErrForeign)
	case f.read != nil:
		return f.read(s, l, in)
	case f.front && l.again:
		l.begun = in
		return f.open(s, l)
	}
	return s.store(f, l, in)
}

// store stores a stream for random access.
func (s *search) store(f *format, l location, r io.Reader) error {
	files, spool, err := archive.Store(r, "file", s.o.TempDir, maxStream)
	s.spools = append(s.spools, spool)
	l.files, l.name, l.disk, l.unpack, l.bytes = files, "file", "", nil, 0
	opened := f.open(s, l)
	if errors.Is(err, archive.ErrSpool) {
		return err // that the rest is missing is no fault of the input
	}
	return joinErrors(err, opened)
}

// stdin takes the input "-".
func (s *search) stdin() {
	l := location{path: "stdin", label: "stdin"}
	if s.o.Stdin == nil {
		s.warn(l, errors.New("there is none"))
		return
	}
	s.warn(l, s.stream(l, s.watch.Reader(s.o.Stdin)))
}

// pipe takes a named pipe, or a shell's <(command).
func (s *search) pipe(in string, info fs.FileInfo) {
	l := s.onDisk(in, false)
	if filepath.Base(filepath.Dir(in)) == "fd" {
		l.label = "pipe" // what a shell makes of <(command) has a number that says nothing
	}
	if s.taken(info) {
		s.warnings = append(s.warnings, &Warning{path: l.path, label: l.label, err: errAgain})
		return
	}
	// That a pipe hangs says nothing of the disk that its name lies on.
	f, err := s.watch.FS(os.DirFS(filepath.Dir(in)), new(watchdog.Mount)).Open(l.name)
	if err != nil {
		s.warn(l, err)
		return
	}
	defer f.Close()
	l.disk = "" // it can be read once
	s.warn(l, s.stream(l, f))
}

// taken reports whether a pipe is being read already.
func (s *search) taken(info fs.FileInfo) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.ContainsFunc(s.pipes, func(p fs.FileInfo) bool { return os.SameFile(p, info) }) {
		return true
	}
	s.pipes = append(s.pipes, info)
	return false
}
