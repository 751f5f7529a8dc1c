package archive

import (
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// IsZip recognizes a zip by its first member, or its end if it is empty.
func IsZip(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06"))
}

// OpenZip opens the zip in a file. Stored members are read in place, others are unpacked. The
// result is like that of [OpenTar].
func OpenZip(fsys fs.FS, name string, o Options) (*FS, error) {
	p := &part{fsys, name}
	r, closer, err := p.section()
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	z := &zipScan{o: o, fs: newFS(), in: &errReaderAt{r: r, left: MaxDirectory}, part: p, size: r.Size(), allowance: allowance{budget: o.Budget}}
	z.see(z.size)
	err = z.all()
	z.fs.sort()
	return z.fs, err
}

// errReaderAt bounds what is read of an archive, and remembers a read error.
type errReaderAt struct {
	r    io.ReaderAt
	left int64
	err  error
}

func (c *errReaderAt) ReadAt(p []byte, off int64) (int, error) {
	if c.left -= int64(len(p)); c.left < 0 {
		c.err = ErrMany
		return 0, c.err
	}
	n, err := c.r.ReadAt(p, off)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

// zipScan reads the members of a zip.
type zipScan struct {
	o    Options
	fs   *FS
	in   *errReaderAt
	part *part
	size int64
	head [Head]byte
	allowance
}

// zipMember is a regular file and its place, compressed.
type zipMember struct {
	*zip.File
	path string
	off  int64
}

// all takes the members by offset. Of two that overlap the first one counts: a bomb unpacks the
// same bytes repeatedly.
func (z *zipScan) all() error {
	r, err := zip.NewReader(z.in, z.size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		if err = z.blame(err); errors.Is(err, ErrDamaged) || errors.Is(err, ErrTorn) {
			return z.salvage(err)
		}
		return err
	}
	if len(r.File) > MaxMembers {
		return ErrMany
	}
	r.RegisterDecompressor(zstd.ZipMethodWinZip, zstd.ZipDecompressor(zstd.WithDecoderLowmem(true), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(MaxWindow)))
	z.in.left = 1 << 62 // what follows has limits of its own
	members, err := z.list(r.File)
	if err != nil {
		return err
	}
	end := int64(0)
	for _, m := range members {
		size := int64(m.CompressedSize64) // not above the archive's
		if m.off < end {
			z.fs.refuse(m.Name, ErrOverlap)
			continue
		}
		end = m.off + size
		if err := z.member(m); err != nil {
			return err
		}
	}
	return nil
}

// list returns the regular files by offset; others are refused.
func (z *zipScan) list(files []*zip.File) (members []zipMember, err error) {
	for _, f := range files {
		path, err := zipPath(f)
		if err == nil && path == "." {
			continue // a directory
		}
		off := int64(0)
		if err == nil {
			off, err = f.DataOffset()
			if z.in.err != nil {
				return nil, z.in.err
			}
			if err != nil || f.CompressedSize64 > uint64(z.size-min(off, z.size)) {
				err = ErrTorn
			}
		}
		if err != nil {
			z.fs.refuse(f.Name, err)
			continue
		}
		members = append(members, zipMember{f, path, off})
	}
	slices.SortStableFunc(members, func(a, b zipMember) int { return cmp.Compare(a.off, b.off) })
	return members, nil
}

// zipPath is the path of a regular file, "." for a directory. Some programs write Windows
// separators.
func zipPath(f *zip.File) (string, error) {
	name := strings.ReplaceAll(f.Name, `\`, "/")
	mode := f.Mode()
	switch {
	case mode&fs.ModeSymlink != 0:
		return "", ErrLink
	case mode.IsDir() || strings.HasSuffix(name, "/"):
		return ".", nil
	case !mode.IsRegular():
		return "", ErrSpecial
	}
	path, err := cleanName(name)
	if err == nil && path == "." {
		err = ErrClash
	}
	return path, err
}

// member adds a wanted file. An error ends the scan.
func (z *zipScan) member(m zipMember) error {
	r, err := z.openMember(m)
	if err != nil {
		z.fs.refuse(m.Name, err)
		return nil
	}
	defer r.Close()
	n, err := io.ReadFull(r, z.head[:])
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		err = nil
	}
	if z.in.err != nil {
		return z.in.err
	}
	limit := z.o.Want(m.path, z.head[:n])
	switch {
	case limit == 0:
		return nil
	case m.UncompressedSize64 > uint64(limit):
		err = fmt.Errorf("%w: %d bytes", ErrTooBig, m.UncompressedSize64)
	case m.Method == zip.Store && m.CompressedSize64 != m.UncompressedSize64:
		err = ErrLies
	case m.Method == zip.Store:
		z.fs.add(&node{path: m.path, size: int64(m.UncompressedSize64), from: z.part, off: m.off})
		return nil
	case err == nil || n > 0:
		return z.unpack(m, io.MultiReader(bytes.NewReader(z.head[:n]), r))
	}
	z.fs.refuse(m.Name, z.blame(err))
	return nil
}

func (z *zipScan) openMember(m zipMember) (io.ReadCloser, error) {
	if m.Flags&1 != 0 {
		return nil, ErrMethod
	}
	r, err := m.Open()
	if errors.Is(err, zip.ErrAlgorithm) {
		err = ErrMethod
	}
	return r, err
}

// unpack copies a member. One with a wrong checksum or size is kept as far as it went: its contents
// have checksums of their own.
func (z *zipScan) unpack(m zipMember, r io.Reader) error {
	r = &boundedReader{r, &z.allowance}
	off, n, err := z.o.Spool.put(r, int64(m.UncompressedSize64))
	if errors.Is(err, ErrBomb) {
		return ErrBomb
	}
	if err == nil {
		err = endChecker(r)
	}
	if z.in.err != nil {
		err = z.in.err
	}
	if n > 0 || err == nil {
		z.fs.add(&node{path: m.path, size: n, from: z.o.Spool, off: off})
	}
	switch {
	case err == nil:
	case errors.Is(err, ErrSpool), z.in.err != nil:
		return err
	default:
		z.fs.refuse(m.Name, z.blame(err))
	}
	return nil
}

// endChecker reports an error of r at its end, such as a wrong checksum.
func endChecker(r io.Reader) error {
	var b [1]byte
	switch n, err := io.ReadFull(r, b[:]); {
	case n > 0:
		return ErrLies
	case err == io.EOF:
		return nil
	default:
		return err
	}
}

func (z *zipScan) blame(err error) error {
	switch {
	case z.in.err != nil:
		return z.in.err
	case errors.Is(err, ErrLies), errors.Is(err, ErrTooBig):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return ErrTorn
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}
