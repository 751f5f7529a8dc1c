package chunks

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"gprof/rawformat"
)

// Record is one intact record of a dictionary, meta or exit file.
type Record struct {
	Kind rawformat.Kind
	Off  int64  // of Body in the file
	Body []byte // the fields behind the kind; the Process keeps them
}

// Fields reads the record's fields.
func (r *Record) Fields() rawformat.Cursor { return rawformat.NewCursor(r.Body, r.Off) }

// maxSearch bounds how many bytes are summed to find the next record behind
// damage: a hostile file must not cost the square of its size.
const maxSearch = 64 << 20

// recordScan goes over the records of a file in memory.
type recordScan struct {
	name   string
	data   []byte
	header rawformat.RecordHeader
	report func(Problem)
	budget int // of maxSearch
}

// all returns the intact records and reports the others:
//  1. A record that fits its checksum is taken.
//  2. One that does not is skipped by its length, if an intact record or the
//     end follows there.
//  3. Else its length is not to be trusted: the next intact record of a known
//     kind is searched for, byte by byte.
//  4. When there is none, the rest of the file is cut short or damaged.
func (s *recordScan) all() (records []Record) {
	s.budget = maxSearch
	for at := rawformat.RecordHeaderSize; at < len(s.data); {
		rec, next, err := s.record(at)
		if err == nil {
			records = append(records, rec)
			at = next
			continue
		}
		resume := s.resume(at, next)
		s.lost(at, resume, next, err)
		at = resume
	}
	return records
}

// record reads the record at an offset. With the error ErrChecksum its length
// was plausible; next lies behind it, and is 0 with any other error.
func (s *recordScan) record(at int) (rec Record, next int, err error) {
	c := rawformat.NewCursor(s.data[at:], int64(at))
	kind, fields, intact, ok := c.Record(s.header.Instance, s.header.Generation)
	if !ok {
		return rec, 0, c.Err()
	}
	rec = Record{Kind: kind, Off: fields.Offset()}
	rec.Body = fields.Bytes(fields.Len(), "record")
	if !intact {
		err = rawformat.ErrChecksum
	}
	return rec, int(c.Offset()), err
}

// resume finds where reading goes on behind a bad record at an offset.
func (s *recordScan) resume(at, next int) int {
	if next == len(s.data) {
		return next
	}
	if next > 0 {
		if _, _, err := s.record(next); err == nil {
			return next
		}
	}
	for o := at + 1; o < len(s.data) && s.budget > 0; o++ {
		if s.plausible(o) {
			return o
		}
	}
	if s.budget <= 0 && next > 0 {
		return next
	}
	return len(s.data)
}

// plausible reports whether an intact record of a known kind lies at o.
func (s *recordScan) plausible(o int) bool {
	n, size, err := rawformat.ReadUint(s.data[o:])
	if err != nil || n == 0 || n > rawformat.MaxBlock || o+size >= len(s.data) || !rawformat.Kind(s.data[o+size]).Known() {
		return false
	}
	s.budget -= int(n)
	_, _, err = s.record(o)
	return err == nil
}

func (s *recordScan) lost(at, resume, next int, err error) {
	p := Problem{Class: Damaged, Where: fmt.Sprintf("%s offset %d", path.Base(s.name), at), What: "checksum differs", Blocks: -1, Bytes: int64(resume - at)}
	switch {
	case resume == next:
		p.Blocks = 1
	case resume == len(s.data) && next == 0:
		p.What = err.Error()
		if isTruncated(err) {
			p.Class, p.Blocks = Torn, 1
		}
	}
	s.report(p)
}

func isTruncated(err error) bool { return errors.Is(err, rawformat.ErrTruncated) }

// probeRecords reads a dictionary, meta or exit file, the header first: a large
// file that is none of ours is not read. It returns nil when the file cannot be
// used.
func probeRecords(fsys fs.FS, name, magic string) (*recordFile, probe) {
	var pr probe
	in, err := openInput(fsys, name, rawformat.MaxRecordFile)
	if err != nil {
		pr.fail(name, 0, err)
		return nil, pr
	}
	defer in.Close()
	f := &recordFile{name: name}
	head, err := in.read(make([]byte, rawformat.RecordHeaderSize), 0)
	if err == nil {
		pr.ours = bytes.HasPrefix(head, []byte(magic))
		f.header, err = rawformat.ReadRecordHeader(head)
	}
	if err == nil && !pr.ours {
		err = &rawformat.Error{Off: 0, What: "file header", Err: rawformat.ErrMagic}
	}
	limit := int64(rawformat.MaxRecordFile)
	if magic != rawformat.MagicDict {
		limit = rawformat.MaxMetaFile
	}
	if err == nil {
		f.data, err = in.readAll(limit)
	}
	if err != nil {
		pr.fail(name, in.size, err)
		return nil, pr
	}
	return f, pr
}
