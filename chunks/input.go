package chunks

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"slices"

	"gprof/rawformat"
)

var errNotRegular = errors.New("not a regular file")

// input is an open file of which parts are read.
type input struct {
	io.ReaderAt
	io.Closer
	size int64
}

// openInput opens a file for reading in parts. A file system that cannot do
// that, such as a zip archive, has at most limit bytes read into memory. What
// is no regular file is refused before it is opened: a pipe would block.
func openInput(fsys fs.FS, name string, limit int64) (*input, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	if at, ok := f.(io.ReaderAt); ok {
		return &input{at, f, info.Size()}, nil
	}
	data, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		f.Close()
		return nil, err
	}
	return &input{bytes.NewReader(data), f, max(info.Size(), int64(len(data)))}, nil
}

// read fills dst with the bytes at off and returns those that the file has.
func (in *input) read(dst []byte, off int64) ([]byte, error) {
	dst = dst[:max(0, min(int64(len(dst)), in.size-off))]
	n, err := in.ReadAt(dst, off)
	if n == len(dst) || errors.Is(err, io.EOF) {
		err = nil
	}
	return dst[:n], err
}

// readAll reads a whole file that should be no longer than limit, into room if
// it is large enough. There is [rawformat.Slack] behind the bytes.
func (in *input) readAll(room []byte, limit int64) ([]byte, error) {
	if err := in.within(limit); err != nil {
		return nil, err
	}
	room = slices.Grow(room[:0], int(in.size)+rawformat.Slack)
	return in.read(room[:in.size], 0)
}

// within returns an error if the file is longer than limit.
func (in *input) within(limit int64) error {
	if in.size > limit {
		return &rawformat.Error{Off: limit, What: "file", Err: rawformat.ErrTooBig}
	}
	return nil
}
