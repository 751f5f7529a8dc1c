package archive

import (
	"io"
	"io/fs"
)

// Options say what is wanted of an archive.
type Options struct {
	// Want returns the most bytes that a member of this path and beginning may
	// have; 0: it is not wanted. head is shorter than [Head] if the member is.
	// It is valid during the call.
	Want func(path string, head []byte) (limit int64)
	// Spool takes what cannot stay where it lies.
	Spool *Spool
	// Budget bounds what is unpacked.
	Budget *Budget
}

// Head is how many bytes of a file are enough to tell what it is.
const Head = 512

// part is an archive, or a section of one, in a file system. It is open only
// while one of its members is.
type part struct {
	fsys fs.FS
	name string
}

func (p *part) open() (io.ReaderAt, io.Closer, error) {
	f, err := p.fsys.Open(p.name)
	if err != nil {
		return nil, nil, err
	}
	r, ok := f.(io.ReaderAt)
	if !ok {
		f.Close()
		return nil, nil, &fs.PathError{Op: "open", Path: p.name, Err: fs.ErrInvalid}
	}
	return r, f, nil
}

// section opens the whole of it.
func (p *part) section() (*io.SectionReader, io.Closer, error) {
	info, err := fs.Stat(p.fsys, p.name)
	if err != nil {
		return nil, nil, err
	}
	r, c, err := p.open()
	if err != nil {
		return nil, nil, err
	}
	return io.NewSectionReader(r, 0, info.Size()), c, nil
}
