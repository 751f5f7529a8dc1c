package chunks

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"

	"gprof/rawformat"
)

// maxPayload is the largest payload of a chunk file.
const maxPayload = rawformat.MaxChunkFile - rawformat.HeadSize - rawformat.TrailerSize

// Image is a chunk file: what its header says, and where its payload can be read. It
// holds neither the payload nor an open file.
type Image struct {
	Name   string           // path in the file system
	Size   int64            // bytes of the file
	Header rawformat.Header // as it was when the process was opened
	Closed bool             // commit and close anchor match their checksum
	Cut    bool             // a slice left out the pages before it, which blocks may refer to

	fsys  fs.FS
	until uint64 // index from which on another part of the same chunk is read; 0: none
}

// End is the index behind the chunk's range; of a part of one, behind what is read of it.
func (im *Image) End() uint64 {
	if im.until != 0 {
		return min(im.until, im.committed())
	}
	return im.Header.RangeStart + uint64(im.Header.Capacity)
}

// Payload is how many bytes of the image count: those that are committed, but for what another part of the chunk holds, too.
func (im *Image) Payload() int64 {
	bytes := int64(im.Header.Commit.Offset())
	if im.until != 0 {
		bytes = min(bytes, int64(im.until-im.Header.RangeStart))
	}
	return bytes
}

// committed is the index behind the last byte that is committed.
func (im *Image) committed() uint64 {
	return im.Header.RangeStart + uint64(min(im.Header.Commit.Offset(), im.Header.Capacity))
}

// Continues reports whether im is the next part of the same chunk, with nothing in between.
func (im *Image) Continues(before *Image) bool {
	return before.until != 0 && before.End() == im.Header.RangeStart && before.Header.Epoch == im.Header.Epoch
}

// stop is the offset in the payload from which on blocks belong to another part of the chunk.
func (im *Image) stop() uint32 {
	if im.until == 0 {
		return math.MaxUint32
	}
	return uint32(im.until - im.Header.RangeStart)
}

// leftOut reports whether a slice left out the chunk except for its header.
func (im *Image) leftOut() bool {
	return im.Header.State == rawformat.StateLeftOut && im.Size == rawformat.HeadSize
}

// where names the image in a problem.
func (im *Image) where() string { return path.Base(im.Name) }

func (im *Image) wherePage(page int) string { return fmt.Sprintf("%s page %d", im.where(), page) }

// dirExists reports whether the directory that a file was in still exists. A ring
// removes single files; if all are gone, somebody has removed the directory.
func dirExists(fsys fs.FS, name string) bool {
	_, err := fs.Stat(fsys, path.Dir(name))
	return err == nil
}

// fullSize is the size of the file that the header describes.
func (im *Image) fullSize() int64 {
	return rawformat.HeadSize + int64(im.Header.Capacity) + rawformat.TrailerSize
}

// probe is the result of opening one file of a process.
type probe struct {
	ours     bool // the magic is one of ours
	newer    bool // of a later version of the format
	problems []Problem
	err      error // of the file system
}

// fail notes why a file cannot be used. A format error of class ErrMagic means that it is
// not one of ours.
func (pr *probe) fail(name string, size int64, err error) {
	p := Problem{Class: Damaged, Where: path.Base(name), What: err.Error(), Blocks: -1, Bytes: size}
	var format *rawformat.Error
	switch {
	case !errors.As(err, &format):
		p.Class, pr.err = Unreadable, err
	case errors.Is(err, rawformat.ErrVersion):
		p.Class, pr.newer = Unreadable, true
	case errors.Is(err, rawformat.ErrMagic):
		p.Class = Foreign
	case errors.Is(err, rawformat.ErrTruncated):
		p.Class = Torn
	}
	pr.problems = append(pr.problems, p)
}

// givenBack is what happened to a file of a live process, or of a dead one whose room
// others needed.
const givenBack = "was given back since it was listed"

// goneSince is the problem of a file that was in its directory when that was listed.
func goneSince(name string) Problem {
	return Problem{Class: Stale, Where: path.Base(name), What: givenBack, Blocks: -1}
}

// probeImage reads the header of a chunk file, and more only if that does not suffice, so
// that an archive which stores headers separately need not unpack anything. It returns
// nil when the file is not in use or cannot be used.
func probeImage(fsys fs.FS, name string) (*Image, probe) {
	var pr probe
	in, err := openInput(fsys, name, rawformat.MaxChunkFile)
	if err != nil {
		pr.fail(name, 0, err)
		return nil, pr
	}
	defer in.Close()
	head, err := in.read(make([]byte, rawformat.HeaderSize), 0)
	if err == nil && allZero(head) {
		head, err = in.read(make([]byte, rawformat.HeadSize), 0)
	}
	if err != nil {
		pr.fail(name, in.size, err)
		return nil, pr
	}
	if allZero(head) { // it is just being made
		return nil, pr
	}
	pr.ours = bytes.HasPrefix(head, []byte(rawformat.MagicChunk))
	im := &Image{Name: name, Size: in.size, fsys: fsys}
	im.Header, im.Closed, err = rawformat.ReadHeader(head)
	if err == nil && im.Header.Capacity > maxPayload && im.Header.Epoch != 0 {
		err = &rawformat.Error{Off: 40, What: "capacity", Err: rawformat.ErrTooBig}
	}
	switch {
	case err != nil:
		pr.fail(name, in.size, err)
		return nil, pr
	case im.Header.Epoch == 0:
		pr.unused(in, im)
		return nil, pr
	}
	return im, pr
}

// unused notes a file that is not in use but was: its ring was about to reuse it, which
// clears the epoch first and the rest later.
func (pr *probe) unused(in *input, im *Image) {
	table, err1 := in.read(make([]byte, rawformat.HeadSize-rawformat.HeaderSize), rawformat.HeaderSize)
	trailer, err2 := in.read(make([]byte, rawformat.TrailerSize), max(0, in.size-rawformat.TrailerSize))
	used := err1 == nil && !allZero(table) || err2 == nil && in.size > rawformat.HeadSize && !allZero(trailer)
	if used || im.Header.Commit != 0 {
		pr.problems = append(pr.problems, Problem{Class: Stale, Where: im.where(), What: "was being reused",
			Blocks: -1, Bytes: max(0, in.size-rawformat.HeadSize)})
	}
}

func allZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

// ErrNotRegular means that something other than a regular file lies where a file is expected.
var ErrNotRegular = errors.New("not a regular file")

// input is an open file that is read in parts.
type input struct {
	io.ReaderAt
	io.Closer
	size int64
}

// RegularOpener is a file system that opens a file, as [OpenRegular] does, in its own way.
type RegularOpener interface {
	fs.FS
	OpenRegular(name string) (f fs.File, size int64, err error)
}

// Grouper is a file system that does several operations as one, because one that may hang takes time to wait for. Group calls op
// with a file system for that time. After an error op may still be running: it must not touch what its caller goes on to use.
type Grouper interface {
	fs.FS
	Group(op func(fs.FS)) error
}

// grouped returns what read returns; in a [Grouper] all that it does is one operation. The error is that of the group.
func grouped[T any](fsys fs.FS, read func(fs.FS) T) (result T, err error) {
	g, ok := fsys.(Grouper)
	if !ok {
		return read(fsys), nil
	}
	var done T
	if err = g.Group(func(inside fs.FS) { done = read(inside) }); err != nil {
		return result, err
	}
	return done, nil
}

// OpenRegular opens a file and tells its size. One that is not regular is refused before it is opened, because a pipe would
// block: the error is [ErrNotRegular] then.
func OpenRegular(fsys fs.FS, name string) (f fs.File, size int64, err error) {
	if o, ok := fsys.(RegularOpener); ok {
		return o.OpenRegular(name)
	}
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, &fs.PathError{Op: "open", Path: name, Err: ErrNotRegular}
	}
	f, err = fsys.Open(name)
	return f, info.Size(), err
}

// openInput opens a regular file for reading in parts. If the file system does not support that,
// such as a zip archive, at most limit bytes are read into memory.
func openInput(fsys fs.FS, name string, limit int64) (*input, error) {
	f, size, err := OpenRegular(fsys, name)
	if err != nil {
		return nil, err
	}
	if at, ok := f.(io.ReaderAt); ok {
		return &input{at, f, size}, nil
	}
	data, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		f.Close()
		return nil, err
	}
	return &input{bytes.NewReader(data), f, max(size, int64(len(data)))}, nil
}

// read fills dst with the bytes at off, as far as the file has them, and returns these.
func (in *input) read(dst []byte, off int64) ([]byte, error) {
	dst = dst[:max(0, min(int64(len(dst)), in.size-off))]
	n, err := in.ReadAt(dst, off)
	if n == len(dst) || errors.Is(err, io.EOF) {
		err = nil
	}
	return dst[:n], err
}

// readAll reads a whole file of at most limit bytes, into room if that is large enough.
// [rawformat.Slack] bytes of capacity follow.
func (in *input) readAll(room []byte, limit int64) ([]byte, error) {
	if err := in.within(limit); err != nil {
		return nil, err
	}
	if size := int(in.size) + rawformat.Slack; cap(room) < size {
		room = make([]byte, 0, size) // slices.Grow clears it in one go, during which the collector can't begin
	}
	return in.read(room[:in.size], 0)
}

// within returns an error if the file is longer than limit.
func (in *input) within(limit int64) error {
	if in.size > limit {
		return &rawformat.Error{Off: limit, What: "file", Err: rawformat.ErrTooBig}
	}
	return nil
}
