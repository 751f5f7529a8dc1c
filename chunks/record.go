package chunks

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"gprof/rawformat"
)

// newSuffix ends the name of a file that is not yet what its name says.
const newSuffix = ".new"

// RecordFile is a dictionary that is being written. It is for one goroutine.
type RecordFile struct {
	file   file
	head   rawformat.RecordHeader
	size   int64
	buf    []byte
	broken error // what is in the file is not known any more
}

// file is the part of os.File that a RecordFile needs; tests have one that
// gets full.
type file interface {
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Stat() (fs.FileInfo, error)
}

// CreateDict makes the dictionary file of a generation in dir, which must not
// have one.
func CreateDict(dir string, instance uint64, generation, pid uint32) (*RecordFile, error) {
	path := filepath.Join(dir, DictFile.FileName(generation))
	f, err := create(path)
	if err != nil {
		return nil, err
	}
	h := rawformat.RecordHeader{Magic: rawformat.MagicDict, Instance: instance, Generation: generation, Pid: pid}
	r, err := newRecordFile(f, h)
	if err != nil {
		return nil, errors.Join(err, f.Close(), removeFile(path))
	}
	return r, nil
}

// RemoveDict removes the dictionary file of a generation, which no chunk names any more.
func RemoveDict(dir string, generation uint32) error {
	return removeFile(filepath.Join(dir, DictFile.FileName(generation)))
}

func newRecordFile(f file, h rawformat.RecordHeader) (*RecordFile, error) {
	h.Version = rawformat.Version
	r := &RecordFile{file: f, head: h}
	return r, r.write(rawformat.AppendRecordHeader(nil, &h))
}

// Append appends a record for each body, kind and fields, with one write. On
// an error none of them is in the file: [ErrCut] if somebody else cut it short, [rawformat.ErrTooBig] for a body that
// is longer than a block, empty, or past [rawformat.MaxRecordFile], else the
// disk's. The bodies stay the caller's.
func (r *RecordFile) Append(bodies ...[]byte) error {
	if r.broken != nil {
		return r.broken
	}
	b, err := appendRecords(r.buf[:0], &r.head, bodies)
	r.buf = b
	if err != nil || len(b) == 0 {
		return err
	}
	return r.write(b)
}

// write puts b at the end, or nothing.
func (r *RecordFile) write(b []byte) error {
	if r.size+int64(len(b)) > rawformat.MaxRecordFile {
		return fmt.Errorf("record file of %d bytes: %w", r.size+int64(len(b)), rawformat.ErrTooBig)
	}
	if r.IsCut() { // a write behind the end would hide it
		r.broken = ErrCut
		return r.broken
	}
	if _, err := r.file.WriteAt(b, r.size); err != nil {
		if cut := r.file.Truncate(r.size); cut != nil {
			r.broken = errors.Join(err, cut)
			return r.broken
		}
		return err
	}
	r.size += int64(len(b))
	return nil
}

// Size is the file's, in bytes.
func (r *RecordFile) Size() int64 { return r.size }

// IsCut reports whether somebody else has cut the file short: its records are not
// in it any more.
func (r *RecordFile) IsCut() bool {
	info, err := r.file.Stat()
	return err == nil && info.Size() < r.size
}

// Close closes the file.
func (r *RecordFile) Close() error { return r.file.Close() }

// WriteRecords writes a whole record file, meta or exit, beside path and
// renames it: path is never half a file. h.Version is set.
func WriteRecords(path string, h rawformat.RecordHeader, bodies ...[]byte) error {
	h.Version = rawformat.Version
	b, err := appendRecords(rawformat.AppendRecordHeader(nil, &h), &h, bodies)
	if err != nil {
		return err
	}
	if err = writeFile(path+newSuffix, b); err == nil {
		err = renameFile(path+newSuffix, path)
	}
	if err != nil {
		removeFile(path + newSuffix) // it may not exist
	}
	return err
}

func appendRecords(dst []byte, h *rawformat.RecordHeader, bodies [][]byte) ([]byte, error) {
	for _, body := range bodies {
		if len(body) == 0 || len(body) > rawformat.MaxBlock {
			return dst, fmt.Errorf("record of %d bytes, want 1 to %d: %w", len(body), rawformat.MaxBlock, rawformat.ErrTooBig)
		}
		dst = rawformat.AppendRecord(dst, body, h.Instance, h.Generation)
	}
	return dst, nil
}
