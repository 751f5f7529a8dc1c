package gecko

import (
	"io"

	"gprof/ingest/internal/jsonfile"
)

// file is the profile on disk.
type file struct {
	r     io.ReaderAt
	size  int64
	notes *notes
	zero  int64 // start of the process being read: times relative to it must not overflow
}

// at returns a Scanner before v.
func (f *file) at(v *jsonfile.Value) *jsonfile.Scanner {
	return jsonfile.NewScanner(f.r, v.Off, f.size)
}

// raw is the JSON of a value, nil if there is none.
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

// parse parses an object in memory; anything else has no members.
func parse(raw []byte) object {
	o := object{members: map[string][]byte{}}
	o.broken = !members(raw, func(key, value []byte) { o.members[string(key)] = value })
	return o
}

// members visits the members of an object in memory and reports whether it is intact.
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

// elements returns the elements of a list in memory, and whether it is intact.
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

// isNull reports whether a value is missing or null.
func isNull(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }
