package chunks

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path"

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
	broken error // why the file's content is not known any more
}

// CreateDict makes the dictionary file of a generation in a folder, where it must not
// exist yet.
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

// RemoveDict removes the dictionary file of a generation that no chunk names any more.
func RemoveDict(in folder.Folder, generation uint32) error {
	return in.Remove(DictFile.FileName(generation))
}

func newRecordFile(f folder.File, h rawformat.RecordHeader) (*RecordFile, error) {
	h.Version = rawformat.Version
	r := &RecordFile{file: f, head: h}
	return r, r.write(rawformat.AppendRecordHeader(nil, &h))
}

// Append appends a record for each body, which is kind and fields, with one write. On an
// error none of them is in the file. The error is [mapping.ErrCut] if the file was cut
// short, [rawformat.ErrTooBig] if a body is empty, longer than a block, or past
// [rawformat.MaxRecordFile], or else the disk's. The bodies remain the caller's.
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
	if r.IsCut() { // a write past the end would hide it
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

// Size is the size of the file in bytes.
func (r *RecordFile) Size() int64 { return r.size }

// IsCut reports whether the file was cut short by another process, so that records are
// missing.
func (r *RecordFile) IsCut() bool {
	info, err := r.file.Stat()
	return err == nil && info.Size() < r.size
}

// Close closes the file.
func (r *RecordFile) Close() error { return r.file.Close() }

// WriteRecords writes a whole record file, meta or exit, under another name in a folder and
// renames it, so that there is never half a file. It sets h.Version.
func WriteRecords(in folder.Folder, name string, h rawformat.RecordHeader, bodies ...[]byte) error {
	h.Version = rawformat.Version
	b, err := appendRecords(rawformat.AppendRecordHeader(nil, &h), &h, bodies)
	if err != nil {
		return err
	}
	if err = writeNew(in, name+NewSuffix, b); err == nil {
		err = in.Rename(name+NewSuffix, name)
	}
	if err != nil {
		in.Remove(name + NewSuffix) // it may not exist
	}
	return err
}

// writeNew makes a file, if need be in place of one that a killed process had begun.
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

// Record is one intact record of a dictionary, meta or exit file.
type Record struct {
	Kind rawformat.Kind
	Off  int64  // of Body in the file
	Body []byte // the fields behind the kind; of a dictionary, with [rawformat.Slack] bytes of capacity behind them
}

// Fields reads the record's fields.
func (r *Record) Fields() rawformat.Cursor { return rawformat.NewCursor(r.Body, r.Off) }

// maxSearch bounds how many bytes are summed to find the next record after damage: a
// hostile file must not cost the square of its size.
const maxSearch = 64 << 20

// recordScan goes over the records of a file in memory.
type recordScan struct {
	name   string
	data   []byte
	header rawformat.RecordHeader
	seed   rawformat.Seed
	report func(Problem)
	at     int        // of the next record
	proven int        // end of the records that are known to match their checksums
	counts [256]int32 // of records by kind, see prove
	budget int        // what is left of maxSearch
}

func newRecordScan(name string, data []byte, h rawformat.RecordHeader, report func(Problem)) recordScan {
	if report == nil {
		report = func(Problem) {}
	}
	return recordScan{name: name, data: data, header: h, report: report, at: rawformat.RecordHeaderSize, budget: maxSearch,
		seed: rawformat.MakeSeed(h.Instance, uint64(h.Generation))}
}

// next stores the next intact record in to, and reports what it skips:
//  1. A record that matches its checksum is taken.
//  2. One that does not is skipped by its length, if an intact record or the end of the
//     file follows there.
//  3. Otherwise its length cannot be trusted, and the next intact record of a known kind
//     is searched for byte by byte.
//  4. If there is none, the rest of the file is cut short or damaged.
func (s *recordScan) next(to *Record) (ok bool) {
	for s.at < len(s.data) {
		if s.short(to) {
			return true
		}
		rec, next, err := s.record(s.at)
		if err == nil {
			*to, s.at = rec, next
			return true
		}
		resume := s.resume(s.at, next)
		s.lost(s.at, resume, next, err)
		s.at = resume
	}
	return false
}

// short is the usual case of [recordScan.record]: an intact record whose length
// is one byte.
func (s *recordScan) short(to *Record) (ok bool) {
	data, at := s.data, s.at
	n := int(data[at])
	end := at + 1 + n
	if n == 0 || n >= 0x80 || end+4 > len(data) || at >= s.proven && s.seed.CRC(data[at:end]) != binary.LittleEndian.Uint32(data[end:]) {
		return false
	}
	s.at = end + 4
	to.Kind, to.Off, to.Body = rawformat.Kind(data[at+1]), int64(at)+2, data[at+2:end]
	return true
}

// sort finds the records from the next one on, as far as they are short and known to match their checksums, and goes behind
// them. It returns how many there are.
func (s *recordScan) sort(to *Sorted) (n int) {
	for class := range to.lists {
		to.lists[class].n = 0
	}
	data, at := s.data[:s.proven], s.at
	for n < maxSorted && at+1 < len(data) {
		size := int(data[at])
		if size == 0 || size >= 0x80 {
			break
		}
		list := &to.lists[to.Class[data[at+1]]%Classes]
		list.at[list.n%maxSorted] = uint32(at + 1)
		list.n++
		at += 1 + size + 4
		n++
	}
	s.at = at
	return n
}

// prove checks the checksums of the records from the next one on, many at a time, and
// counts them, up to one that is damaged or long. The block is scratch.
func (s *recordScan) prove(block *[rawformat.PageSize]byte) {
	for from := s.at; from < len(s.data); from = s.proven { // a file that has gone by now has no data
		limit := from + copy(block[:], s.data[from:])
		at := from
		for end := s.behind(at, limit); end > 0; end = s.behind(at, limit) {
			s.seed.Chain(block[at-from:])
			at = end
		}
		if at == from || !rawformat.ChainFits(block[:at-from]) {
			return
		}
		s.proven = at
	}
}

// behind returns where the record at an offset ends by its length, and counts the record.
// It returns 0 if that is past the limit.
func (s *recordScan) behind(at, limit int) (end int) {
	if at+1 >= limit {
		return 0
	}
	n, width := uint64(s.data[at]), 1
	if n >= 0x80 {
		n, width, _ = rawformat.ReadUint(s.data[at:limit]) // 0 with an error
	}
	if n == 0 || n > uint64(limit-at) {
		return 0
	}
	if end = at + width + int(n) + 4; end > limit {
		return 0
	}
	s.counts[s.data[at+width]]++
	return end
}

// record reads the record at an offset; next is the offset after it. With the error
// ErrChecksum its length was plausible; with any other error next is 0.
func (s *recordScan) record(at int) (rec Record, next int, err error) {
	c := rawformat.NewCursor(s.data[at:], int64(at))
	kind, fields, intact, ok := c.Record(s.header.Instance, s.header.Generation)
	if !ok {
		return rec, 0, c.Err()
	}
	rec = Record{Kind: kind, Off: fields.Offset()}
	rec.Body = s.data[rec.Off:][:fields.Len()]
	if !intact {
		err = rawformat.ErrChecksum
	}
	return rec, int(c.Offset()), err
}

// resume finds where reading goes on after a bad record at an offset.
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

// readAtOnce is how much of a meta or exit file is read with its header: mostly all.
const readAtOnce = 4 << 10

// probeRecords reads a meta or exit file, the beginning first, so that a large file which is
// not ours is not read. Of a dictionary it reads just the header. It returns nil when the
// file cannot be used.
func probeRecords(fsys fs.FS, name, magic string) (*recordFile, probe) {
	var pr probe
	in, err := openInput(fsys, name, rawformat.MaxRecordFile)
	if err != nil {
		pr.fail(name, 0, err)
		return nil, pr
	}
	defer in.Close()
	f := &recordFile{name: name, size: in.size}
	beginning := int64(readAtOnce)
	if magic == rawformat.MagicDict {
		beginning = rawformat.RecordHeaderSize
	}
	head, err := in.read(make([]byte, min(in.size, beginning)), 0)
	if err == nil {
		pr.ours = bytes.HasPrefix(head, []byte(magic))
		f.header, err = rawformat.ReadRecordHeader(head)
	}
	if err == nil && !pr.ours {
		err = &rawformat.Error{Off: 0, What: "file header", Err: rawformat.ErrMagic}
	}
	switch {
	case err != nil:
	case magic == rawformat.MagicDict:
		err = in.within(rawformat.MaxRecordFile)
	case in.size <= beginning:
		f.data = head
	default:
		f.data, err = in.readAll(nil, rawformat.MaxMetaFile)
	}
	if err != nil {
		pr.fail(name, in.size, err)
		return nil, pr
	}
	return f, pr
}
