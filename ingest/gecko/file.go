package gecko

import (
	"crypto/sha256"
	"hash"
	"io"

	"gprof/ingest/internal/jsonfile"
)

// file is the profile as it lies.
type file struct {
	r     io.ReaderAt
	size  int64
	notes *notes
	zero  int64 // of the process that is being read: a time that is added to it must be one
}

// at returns a Scanner that stands before v.
func (f *file) at(v *jsonfile.Value) *jsonfile.Scanner {
	return jsonfile.NewScanner(f.r, v.Off, f.size)
}

// raw is the text of a value, nil if it is not there.
func (f *file) raw(v *jsonfile.Value) []byte {
	switch {
	case v == nil:
		return nil
	case v.Raw != nil:
		return v.Raw
	}
	return f.at(v).Raw()
}

// text is a string, "" if v is none.
func (f *file) text(v *jsonfile.Value) string { return string(jsonfile.AppendText(nil, f.raw(v))) }

// parse reads an object that lies in memory; what is none has no members.
func parse(raw []byte) object {
	o := object{members: map[string][]byte{}}
	o.broken = !members(raw, func(key, value []byte) { o.members[string(key)] = value })
	return o
}

// members calls visit for each member of an object that lies in memory, and reports
// whether that is whole.
func members(raw []byte, visit func(key, value []byte)) bool {
	if len(raw) == 0 || raw[0] != '{' {
		return true
	}
	s := jsonfile.Bytes(raw, 0)
	s.Object()
	for {
		key, ok := s.Key()
		if !ok {
			return s.Err() == nil
		}
		value := s.Raw()
		if s.Err() != nil {
			return false
		}
		visit(key, value)
	}
}

// elements returns those of a list that lies in memory, and whether that is whole.
func elements(raw []byte) (all [][]byte, whole bool) {
	if len(raw) == 0 || raw[0] != '[' {
		return nil, true
	}
	s := jsonfile.Bytes(raw, 0)
	for s.Array(); s.More(); {
		value := s.Raw()
		if s.Err() != nil {
			break
		}
		all = append(all, value)
	}
	return all, s.Err() == nil
}

// isNull reports whether the text of a value says nothing.
func isNull(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }

// digested is a file whose bytes are hashed when they are read for the first
// time, from front to end.
type digested struct {
	io.ReaderAt
	sum  hash.Hash
	next int64
}

func newDigested(r io.ReaderAt) *digested { return &digested{ReaderAt: r, sum: sha256.New()} }

// ReadAt implements [io.ReaderAt].
func (d *digested) ReadAt(p []byte, off int64) (int, error) {
	n, err := d.ReaderAt.ReadAt(p, off)
	if off <= d.next && off+int64(n) > d.next {
		d.sum.Write(p[d.next-off : n])
		d.next = off + int64(n)
	}
	return n, err
}
