package pack

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"gprof/chunks/sections"
	"gprof/rawformat"
)

// Magic begins every archive.
const Magic = sections.Magic

// ErrCut says that an archive ends early.
var ErrCut = rawformat.ErrTruncated

// Archive is an open packed file. It is an [fs.FS] that looks like a session directory: a folder
// for each process with its packed files. Its methods may be called concurrently. Indexes are in
// memory; everything else is read and inflated on demand. A damaged file can be opened, and gives
// an error of class [rawformat.ErrChecksum] when read.
type Archive struct {
	// Problems are what is damaged or missing: at most a thousand [*rawformat.Error] with offsets
	// in the archive.
	Problems []error

	r       io.ReaderAt
	size    int64
	decoder *decoder
	folders []*folder // by instance
	byName  map[string]*folder
	files   int // in all indexes
}

// folder is a process of an archive.
type folder struct {
	instance uint64
	index    *index           // nil: missing or damaged
	sections map[file]section // with content
	names    []string         // of files, sorted
	files    map[string]*node
}

// section is where a section is.
type section struct {
	sections.Header
	at int64 // of the stored bytes
}

// node is a file of a folder.
type node struct {
	name    string
	size    int64
	entry   *entry   // nil: not in the index
	section *section // nil: none
}

// Open reads the section headers in order, and the indexes. Damage is listed in Problems; the rest
// can be read. The error is of class [rawformat.ErrMagic] if it is no archive, and otherwise r's.
func Open(r io.ReaderAt, size int64) (*Archive, error) {
	return open(r, size, (*Archive).scan)
}

// OpenFar is Open for a reader to which each call is a request to another machine. If the archive
// has a directory that is whole, that tells where the sections are; then damage of their headers
// is not noticed, which nobody reads.
func OpenFar(r io.ReaderAt, size int64) (*Archive, error) {
	return open(r, size, func(a *Archive) error {
		if found, err := a.directory(); found || err != nil {
			return err
		}
		return a.scan()
	})
}

// open opens an archive whose sections are found by find.
func open(r io.ReaderAt, size int64, find func(*Archive) error) (*Archive, error) {
	a := &Archive{r: r, size: size, decoder: newDecoder(), byName: map[string]*folder{}}
	head := make([]byte, min(size, int64(len(Magic))))
	if _, err := r.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if string(head) != Magic {
		return nil, &rawformat.Error{Off: 0, What: "archive", Err: rawformat.ErrMagic}
	}
	if err := find(a); err != nil {
		return nil, err
	}
	slices.SortFunc(a.folders, func(x, y *folder) int { return cmp.Compare(x.instance, y.instance) })
	for _, f := range a.folders {
		a.list(f)
	}
	return a, nil
}

// Instances are the archive's processes, sorted.
func (a *Archive) Instances() []uint64 {
	var all []uint64
	for _, f := range a.folders {
		all = append(all, f.instance)
	}
	return all
}

// Process is one of the archive's as an input to [Write] and [Unpack].
func (a *Archive) Process(instance uint64) Process {
	return Process{Instance: instance, FS: a, Dir: instanceName(instance), Snapshot: a.Live(instance)}
}

// Live reports whether a process was recording when packed.
func (a *Archive) Live(instance uint64) bool {
	f := a.byName[instanceName(instance)]
	return f != nil && f.index != nil && f.index.live
}

func (a *Archive) problem(off int64, what string, err error) {
	a.note(&rawformat.Error{Off: off, What: what, Err: err})
}

// note adds a problem, up to maxProblems.
func (a *Archive) note(err error) {
	if len(a.Problems) < maxProblems {
		a.Problems = append(a.Problems, err)
	}
}

// add adds a section to its folder.
func (a *Archive) add(s section) error {
	name := instanceName(s.Instance)
	f := a.byName[name]
	if f == nil {
		f = &folder{instance: s.Instance, sections: map[file]section{}, files: map[string]*node{}}
		a.byName[name] = f
		a.folders = append(a.folders, f)
	}
	key := file{s.Kind, s.Number}
	switch _, twice := f.sections[key]; {
	case twice:
		a.problem(s.at, fmt.Sprintf("%v of %s, the second", s.Kind, name), rawformat.ErrSyntax)
		return nil
	case s.Kind == sections.Process && f.index == nil:
		return a.addIndex(f, s)
	}
	f.sections[key] = s
	return nil
}

// addIndex reads the index of a process. If it is damaged the chunks are listed as they come.
func (a *Archive) addIndex(f *folder, s section) error {
	a.files += int(s.RawSize-min(s.RawSize, sections.IndexHead)) / sections.EntrySize
	if a.files > sections.MaxFiles { // not even damaged ones are looked at any more
		a.problem(s.at, "number of chunks in all indexes", rawformat.ErrTooBig)
		return nil
	}
	raw, err := a.content(&s)
	if err == nil {
		if f.index, err = readIndex(raw); err != nil {
			err = &rawformat.Error{Off: s.at, What: "process in the archive", Err: err}
		}
	}
	var format *rawformat.Error
	if errors.As(err, &format) {
		a.note(err)
		return nil
	}
	return err
}

// content reads and decodes a section. An error that is not r's is a [*rawformat.Error].
func (a *Archive) content(s *section) ([]byte, error) {
	raw := make([]byte, s.RawSize)
	return raw, a.decode(raw, s)
}

// decode is content into dst, which has the right size.
func (a *Archive) decode(dst []byte, s *section) error {
	stored, err := a.stored(s)
	if err != nil {
		return err
	}
	if err := a.decoder.decode(dst, &s.Header, stored); err != nil {
		return &rawformat.Error{Off: s.at, What: fmt.Sprintf("%v in the archive", s.Kind), Err: err}
	}
	return nil
}

// stored reads the stored bytes of a section.
func (a *Archive) stored(s *section) ([]byte, error) {
	if s.at+int64(s.Size) > a.size {
		return nil, &rawformat.Error{Off: a.size, What: s.Kind.String(), Err: rawformat.ErrTruncated}
	}
	b := make([]byte, s.Size)
	if n, err := a.r.ReadAt(b, s.at); n < len(b) {
		return nil, cmp.Or(err, io.ErrUnexpectedEOF)
	}
	return b, nil
}

// section is the section of a file, nil for none.
func (a *Archive) section(name string) *section {
	_, n, err := a.lookup("open", name)
	if err != nil || n == nil {
		return nil
	}
	return n.section
}

// list makes the names of a folder's files: those in the index, and those with a section.
func (a *Archive) list(f *folder) {
	add := func(key file) *node {
		name := sections.FileName(key.kind, key.number)
		n := f.files[name]
		if n == nil {
			n = &node{name: name}
			f.files[name] = n
			f.names = append(f.names, name)
		}
		return n
	}
	for key, s := range f.sections {
		n := add(key)
		n.section, n.size = &s, int64(s.RawSize)
	}
	if f.index != nil {
		for i := range f.index.files {
			e := &f.index.files[i]
			n := add(file{sections.Chunk, e.number})
			n.entry = e
			if n.section == nil {
				n.size = rawformat.HeadSize
			}
		}
	}
	slices.Sort(f.names)
	f.sections = nil
}
