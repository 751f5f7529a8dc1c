package chunks

import (
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"gprof/chunks/folder"
	"gprof/rawformat"
)

// Meta is one record of a meta file.
type Meta struct{ Key, Value string }

func metaOf(records []Record) []Meta {
	meta := make([]Meta, 0, len(records))
	for _, r := range records {
		c := r.Fields()
		m := Meta{string(c.Text("key")), string(c.Text("value"))}
		if r.Kind == rawformat.KindMeta && c.Err() == nil {
			meta = append(meta, m)
		}
	}
	return meta
}

// Value is the first value of a key in meta, "" if there is none.
func (p *Process) Value(key string) string {
	for _, m := range p.Meta {
		if m.Key == key {
			return m.Value
		}
	}
	return ""
}

// Number is the value of a key in meta, 0 if there is none.
func (p *Process) Number(key string) uint64 {
	for _, m := range p.Meta {
		if m.Key != key {
			continue
		}
		if n, err := strconv.ParseUint(m.Value, 10, 63); err == nil {
			return n
		}
	}
	return 0
}

// rangeKeys are the keys of meta that a ring writes.
var rangeKeys = []string{rawformat.MetaRangeStart, rawformat.MetaDiscarded}

// NoteRange notes a range start, and how many chunks were discarded, in the meta file
// that a folder has.
func NoteRange(in folder.Folder, start uint64, discarded uint32) error {
	f, pr := probeRecords(in, MetaName, rawformat.MagicMeta)
	if f == nil {
		return errors.Join(fs.ErrNotExist, pr.err)
	}
	var bodies [][]byte
	for _, r := range f.records(func(Problem) {}) {
		if key := r.Fields(); !slices.Contains(rangeKeys, string(key.Text("key"))) {
			bodies = append(bodies, append([]byte{byte(r.Kind)}, r.Body...))
		}
	}
	for i, v := range []uint64{start, uint64(discarded)} {
		body := rawformat.AppendText([]byte{byte(rawformat.KindMeta)}, rangeKeys[i])
		bodies = append(bodies, rawformat.AppendText(body, strconv.FormatUint(v, 10)))
	}
	return WriteRecords(in, MetaName, f.header, bodies...)
}

// Exit is the record of an exit file; see [rawformat.KindExit].
type Exit struct {
	Monotonic   uint64 // ns
	Realtime    int64  // ns since the Unix epoch
	Reason      rawformat.ExitReason
	Code        int64
	Parent      uint64 // instance, 0 none
	ParentIndex uint64 // the parent's hand-out mark
	RangeStart  uint64
	RangeEnd    uint64
	Discarded   uint64 // chunks
	Text        string
}

// exitOf returns the last exit record, nil if there is none.
func exitOf(records []Record) (exit *Exit) {
	for _, r := range records {
		c := r.Fields()
		e := Exit{Monotonic: c.Uint("monotonic"), Realtime: c.Sint("realtime"), Reason: rawformat.ExitReason(min(c.Uint("reason"), 255)),
			Code: c.Sint("code"), Parent: c.Fixed("parent"), ParentIndex: c.Uint("parent-index"),
			RangeStart: c.Uint("range-start"), RangeEnd: c.Uint("range-end"), Discarded: c.Uint("discarded"), Text: string(c.Text("text"))}
		if r.Kind == rawformat.KindExit && c.Err() == nil {
			exit = &e
		}
	}
	return exit
}

// maxExitText bounds the text of an exit record, in bytes.
const maxExitText = 4 << 10

// Write writes the exit file of an instance. h says which one it is.
func (x *Exit) Write(in folder.Folder, h rawformat.RecordHeader) error {
	text := x.Text
	if len(text) > maxExitText {
		text = strings.ToValidUTF8(text[:maxExitText], "") // which may end within a rune
	}
	b := rawformat.AppendUint([]byte{byte(rawformat.KindExit)}, x.Monotonic)
	b = rawformat.AppendSint(b, x.Realtime)
	b = rawformat.AppendUint(b, uint64(x.Reason))
	b = rawformat.AppendSint(b, x.Code)
	b = rawformat.AppendFixed(b, x.Parent)
	for _, v := range []uint64{x.ParentIndex, x.RangeStart, x.RangeEnd, x.Discarded} {
		b = rawformat.AppendUint(b, v)
	}
	h.Magic = rawformat.MagicExit
	return WriteRecords(in, ExitName, h, rawformat.AppendText(b, text))
}
