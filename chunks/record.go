package chunks

import (
	"errors"
	"fmt"
	"io/fs"

	"gprof/chunks/folder"
	"gprof/chunks/mapping"
	"gprof/rawformat"
)

// RecordFile is a dictionary that is being written. It is for one goroutine.
type RecordFile struct {
	file   folder.File
	head   rawformat.RecordHeader
	size   int64
	buf    []byte
	broken error // what is in the file is not known any more
}

// CreateDict makes the dictionary file of a generation in a folder, which must not
// have one.
func CreateDict(in folder.Folder, instance uint64, generation, pid uint32) (*RecordFile, error) {
	name := DictFile.FileName(generation)
	f, err := in.Create(name)
	if err != nil {
		return nil, err
	}
	h := rawformat.RecordHeader{Magic: rawformat.MagicDict, Instance: instance, Generation: generation, Pid: pid}
	r, err := newRecordFile(f, h)
	if err != nil {
		return nil, errors.Join(err, f.Close(), in.Remove(name))
	}
	return r, nil
}

// RemoveDict removes the dictionary file of a generation, which no chunk names any more.
func RemoveDict(in folder.Folder, generation uint32) error {
	return in.Remove(DictFile.FileName(generation))
}

func newRecordFile(f folder.File, h rawformat.RecordHeader) (*RecordFile, error) {
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
		r.broken = mapping.ErrCut
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

// WriteRecords writes a whole record file, meta or exit, beside its name in a folder and
// renames it: there is never half a file. h.Version is set.
func WriteRecords(in folder.Folder, name string, h rawformat.RecordHeader, bodies ...[]byte) error {
	h.Version = rawformat.Version
	b, err := appendRecords(rawformat.AppendRecordHeader(nil, &h), &h, bodies)
	if err != nil {
		return err
	}
	if err = writeNew(in, name+newSuffix, b); err == nil {
		err = in.Rename(name+newSuffix, name)
	}
	if err != nil {
		in.Remove(name + newSuffix) // it may not exist
	}
	return err
}

// writeNew makes a file, also in place of one that somebody who was killed had begun.
func writeNew(in folder.Folder, name string, content []byte) error {
	f, err := in.Create(name)
	if errors.Is(err, fs.ErrExist) {
		if err = in.Remove(name); err == nil {
			f, err = in.Create(name)
		}
	}
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
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
