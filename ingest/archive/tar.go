package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
)

const (
	block = 512 // block is the size of a tar's header and the alignment of members.

	// Types that GNU tar writes in incremental and labelled archives.
	gnuDirectory = 'D'
	gnuLabel     = 'V'
)

// IsTar recognizes a tar of any dialect by the checksum of its first header.
func IsTar(head []byte) bool {
	if len(head) < block {
		return false
	}
	field := strings.Trim(string(head[148:156]), " \x00")
	want, err := strconv.ParseInt(field, 8, 64)
	var sum, signed int64
	for i, b := range head[:block] {
		if i >= 148 && i < 156 {
			b = ' '
		}
		sum += int64(b)
		signed += int64(int8(b))
	}
	return err == nil && (want == sum || want == signed)
}

// OpenTar opens the tar in a file; its members are read in place. The FS holds what is intact, even
// with an error; it is nil if the file could not be opened.
func OpenTar(fsys fs.FS, name string, o Options) (*FS, error) {
	p := &part{fsys, name}
	r, closer, err := p.section()
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	t := &tarScan{o: o, fs: newFS(), in: &errReader{r: r}, part: p, section: r}
	return t.all()
}

// ReadTar unpacks the wanted members of the tar in a stream. The result is like that of [OpenTar].
func ReadTar(r io.Reader, o Options) (*FS, error) {
	t := &tarScan{o: o, fs: newFS(), in: &errReader{r: r}}
	return t.all()
}

// tarScan reads the members of a tar.
type tarScan struct {
	o       Options
	fs      *FS
	in      *errReader
	part    *part             // nil: a stream
	section *io.SectionReader // the open part, which in reads
	members int
	next    int64 // offset of the next header, -1 unknown
	trouble error // the first error that did not end the scan
	head    [Head]byte
}

// all reads from header to header:
//
//  1. A tar, up to its end mark.
//  2. After a damaged header, or the end, the next header is searched: tars are joined by
//     appending.
//  3. Without one, that is the end.
func (t *tarScan) all() (*FS, error) {
	defer t.fs.sort()
	first := []byte(nil)
	for {
		err := t.one(first)
		if errors.Is(err, ErrDamaged) {
			t.note(err)
		} else if err != io.EOF {
			return t.fs, err
		}
		if first, err = t.search(err == io.EOF); err != nil || first == nil {
			t.note(err)
			return t.fs, t.trouble
		}
	}
}

func (t *tarScan) note(err error) {
	if t.trouble == nil {
		t.trouble = err
	}
}

// one reads the members of a tar whose first block may have been read. The error is never nil.
func (t *tarScan) one(first []byte) error {
	tr := tar.NewReader(t.reader(first))
	for {
		h, err := tr.Next()
		if err == io.EOF && t.position() <= t.next {
			return ErrTorn // where the end mark should be there is nothing
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return t.in.blame(err)
		}
		t.expect(h)
		if t.members++; t.members > MaxMembers {
			return ErrMany
		}
		if err := t.member(h, tr); err != nil {
			return err
		}
	}
}

// expect notes the offset of the header after h's member.
func (t *tarScan) expect(h *tar.Header) {
	t.next = t.position()
	switch {
	case sparse(h):
		t.next = -1
	case hasBody(h):
		t.next += (h.Size + block - 1) &^ (block - 1)
	}
}

func hasBody(h *tar.Header) bool { return h.Typeflag == tar.TypeReg || h.Typeflag == tar.TypeCont }

// reader reads on, beginning with the block read last.
func (t *tarScan) reader(first []byte) io.Reader {
	switch {
	case t.section == nil:
		return io.MultiReader(bytes.NewReader(first), t.in)
	case first != nil:
		t.section.Seek(-block, io.SeekCurrent) // it was there a moment ago
	}
	return seekable{t.in, t.section}
}

// seekable lets [tar.Reader] skip unwanted members.
type seekable struct {
	*errReader
	io.Seeker
}

func (t *tarScan) member(h *tar.Header, r io.Reader) error {
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeGNUSparse, tar.TypeCont:
		return t.file(h, r)
	case tar.TypeDir, tar.TypeXGlobalHeader, gnuDirectory, gnuLabel:
		return nil
	case tar.TypeLink, tar.TypeSymlink:
		t.fs.refuse(h.Name, ErrLink)
	default:
		t.fs.refuse(h.Name, ErrSpecial)
	}
	return nil
}

// file adds a regular file if it is wanted.
func (t *tarScan) file(h *tar.Header, r io.Reader) error {
	name, err := cleanName(h.Name)
	if err == nil && name == "." {
		err = ErrClash
	}
	if err != nil {
		t.fs.refuse(h.Name, err)
		return nil
	}
	at := t.position()
	n, err := io.ReadFull(r, t.head[:min(Head, h.Size)])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return t.in.blame(err)
	}
	limit := t.o.Want(name, t.head[:n])
	switch {
	case limit == 0:
		return nil
	case h.Size > limit:
		t.fs.refuse(h.Name, fmt.Errorf("%w: %d bytes", ErrTooBig, h.Size))
		return nil
	case t.section == nil || sparse(h):
		return t.spool(name, h.Size, io.MultiReader(bytes.NewReader(t.head[:n]), r))
	}
	if size := min(h.Size, t.section.Size()-at); size > 0 || h.Size == 0 { // the rest is torn off
		t.fs.add(&node{path: name, size: size, from: t.part, off: at})
	}
	return nil
}

// position is the offset in the input.
func (t *tarScan) position() int64 {
	if t.section == nil {
		return t.in.n
	}
	at, _ := t.section.Seek(0, io.SeekCurrent) // which cannot fail
	return at
}

// sparse reports whether a member's bytes are not contiguous.
func sparse(h *tar.Header) bool {
	if h.Typeflag == tar.TypeGNUSparse {
		return true
	}
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// spool copies a member; what came of a torn one is kept.
func (t *tarScan) spool(name string, size int64, r io.Reader) error {
	off, n, err := t.o.Spool.put(r, size)
	if n > 0 || err == nil {
		t.fs.add(&node{path: name, size: n, from: t.o.Spool, off: off})
	}
	if errors.Is(err, ErrSpool) {
		return err
	}
	return t.in.blame(err)
}

// search finds the next header, nil for none. behind: the end was regular, and zeros are its
// padding.
func (t *tarScan) search(behind bool) ([]byte, error) {
	if err := t.align(); err == io.EOF {
		return nil, nil
	} else if err != nil {
		return nil, t.in.blame(err)
	}
	b, limit := make([]byte, block), t.position()+maxTail
	if !behind {
		limit += MaxSearch
	}
	for t.position() < limit {
		_, err := io.ReadFull(t.in, b)
		switch {
		case err == io.EOF:
			return nil, nil
		case err != nil:
			return nil, t.in.blame(err)
		case IsTar(b):
			return b, nil
		case behind && bytes.Count(b, []byte{0}) < block:
			t.note(fmt.Errorf("%w: other bytes follow its end", ErrDamaged))
			behind = false
			limit = t.position() + MaxSearch
		}
	}
	return nil, nil
}

// align skips the rest of a block.
func (t *tarScan) align() error {
	_, err := io.CopyN(io.Discard, t.in, -t.position()&(block-1))
	return err
}
