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
	var some [16]jsonfile.Member
	all, whole := jsonfile.Members(some[:0], raw)
	for _, m := range all {
		visit(m.Key, m.Value)
	}
	return whole
}

// isNull reports whether a value is missing or null.
func isNull(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }
