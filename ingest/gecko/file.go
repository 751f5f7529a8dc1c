package gecko

import (
	"crypto/sha256"
	"hash"
	"io"

	"gprof/ingest/internal/jsonfile"
	"gprof/stream"
)

// file is the profile as it lies.
type file struct {
	r    io.ReaderAt
	size int64
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

// each calls visit for the elements of a list, in their order. The error is that
// of a list that is broken.
func (f *file) each(v *jsonfile.Value, visit func(raw []byte)) error {
	if !v.Is(jsonfile.Array) {
		return nil
	}
	s := f.at(v)
	s.Array()
	for s.More() {
		if raw := s.Raw(); raw != nil {
			visit(raw)
		}
	}
	return s.Err()
}

// objects is each for a list of small objects.
func (f *file) objects(v *jsonfile.Value, visit func(o object)) error {
	return f.each(v, func(raw []byte) { visit(parse(raw)) })
}

// object is a small object: the texts of its members.
type object map[string][]byte

// parse reads an object that lies in memory; what is none has no members.
func parse(raw []byte) object {
	o := object{}
	members(raw, func(key, value []byte) { o[string(key)] = value })
	return o
}

// members calls visit for each member of an object that lies in memory.
func members(raw []byte, visit func(key, value []byte)) {
	if len(raw) == 0 || raw[0] != '{' {
		return
	}
	s := jsonfile.Bytes(raw, 0)
	s.Object()
	for {
		key, ok := s.Key()
		if !ok {
			return
		}
		visit(key, s.Raw())
	}
}

// elements returns those of a list that lies in memory.
func elements(raw []byte) (all [][]byte) {
	if len(raw) == 0 || raw[0] != '[' {
		return nil
	}
	s := jsonfile.Bytes(raw, 0)
	for s.Array(); s.More(); {
		all = append(all, s.Raw())
	}
	return all
}

func (o object) text(key string) string { return string(jsonfile.AppendText(nil, o[key])) }

// integer is a number without a fraction, 0 if there is none.
func (o object) integer(key string) int64 {
	n, _ := jsonfile.Int(o[key])
	return n
}

// isNull reports whether the text of a value says nothing.
func isNull(raw []byte) bool { return len(raw) == 0 || raw[0] == 'n' }

// nanos is a number of milliseconds.
func nanos(raw []byte) (int64, bool) {
	if isNull(raw) {
		return 0, false
	}
	return jsonfile.Fixed(raw, 6)
}

// time is a member that is a number of milliseconds.
func time(v *jsonfile.Value) (stream.Time, bool) {
	if v == nil {
		return 0, false
	}
	ns, ok := nanos(v.Raw)
	return stream.Time(ns), ok
}

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
