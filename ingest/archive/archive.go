package archive

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Options say what is wanted of an archive.
type Options struct {
	// Want returns the most bytes that a member of this path and beginning may have; 0: it is not
	// wanted. head is shorter than [Head] if the member is, and valid during the call.
	Want func(path string, head []byte) (limit int64)
	// Spool takes what can't be read in place.
	Spool *Spool
	// Budget bounds what is unpacked.
	Budget *Budget
}

// Head is how many bytes identify a file.
const Head = 512

// part is an archive, or a section of one, in a file system. It is open only while one of its
// members is.
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

// cleanName turns a member's name into a path of an [FS]. Names that would lead elsewhere when
// unpacked are refused, not mended: they are malicious.
func cleanName(name string) (string, error) {
	switch {
	case len(name) > MaxName:
		return "", ErrName
	case strings.HasPrefix(name, "/"), strings.Contains(name, "\x00"), hasVolume(name):
		return "", ErrEscape
	case slices.Contains(strings.Split(name, "/"), ".."):
		return "", ErrEscape
	}
	name = path.Clean(strings.ToValidUTF8(name, "\uFFFD"))
	if strings.Count(name, "/") >= MaxDepth {
		return "", ErrName
	}
	return name, nil
}

// hasVolume reports whether Windows takes the name for one on a drive.
func hasVolume(name string) bool {
	return len(name) > 1 && name[1] == ':' && (name[0]|0x20) >= 'a' && (name[0]|0x20) <= 'z'
}

// errReader counts a decoder's input and remembers a read error, to tell it from errors of the
// decoder.
type errReader struct {
	r   io.Reader
	n   int64
	err error // not [io.EOF]
}

func (c *errReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

// blame returns the read error, if there was one, or wraps a decoder's in [ErrTorn] or
// [ErrDamaged]. The end is no error.
func (c *errReader) blame(err error) error {
	switch {
	case err == nil, err == io.EOF:
		return err
	case c.err != nil:
		return c.err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return ErrTorn
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}
