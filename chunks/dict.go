package chunks

import (
	"errors"
	"io/fs"

	"gprof/rawformat"
)

// Dict is a dictionary file. It holds neither records nor an open file.
type Dict struct {
	Name       string // path in the file system
	Generation uint32
	Size       int64 // bytes of the file when the process was opened

	header rawformat.RecordHeader
	fsys   fs.FS
}

// Records reads the records of dictionaries, one dictionary after another, in file order.
// It holds one file in memory.
type Records struct {
	scan   recordScan
	record Record
	room   []byte
	block  [rawformat.PageSize]byte
}

// Reset begins to read d and reuses r's buffer, so that earlier records become invalid.
// Problems of the file go to report, which may be nil.
func (r *Records) Reset(d *Dict, report func(Problem)) {
	data, pr := d.read(r.room)
	r.room = data
	r.scan = newRecordScan(d.Name, data, d.header, report)
	r.scan.prove(&r.block)
	for _, p := range pr.problems {
		r.scan.report(p)
	}
}

// read returns the file's bytes, none if it is not the same file any more. Room must not be used again, but the bytes may be.
func (d *Dict) read(room []byte) (data []byte, pr probe) {
	type result struct {
		data []byte
		probe
	}
	r, err := grouped(d.fsys, func(fsys fs.FS) (r result) {
		r.data, r.probe = d.readIn(fsys, room)
		return r
	})
	if err != nil {
		r.fail(d.Name, d.Size, err)
	}
	return r.data, r.probe
}

func (d *Dict) readIn(fsys fs.FS, room []byte) (data []byte, pr probe) {
	in, err := openInput(fsys, d.Name, rawformat.MaxRecordFile)
	if err != nil {
		if pr.fail(d.Name, d.Size, err); errors.Is(err, fs.ErrNotExist) && dirExists(fsys, d.Name) {
			pr.problems = []Problem{goneSince(d.Name)} // after the last chunk that needed it
		}
		return room[:0], pr
	}
	defer in.Close()
	data, err = in.readAll(room, rawformat.MaxRecordFile)
	if err == nil {
		var h rawformat.RecordHeader
		if h, err = rawformat.ReadRecordHeader(data); err == nil && h != d.header {
			err = &rawformat.Error{Off: 0, What: "file header", Err: rawformat.ErrMagic}
		}
	}
	if err != nil {
		pr.fail(d.Name, in.size, err)
		return data[:0], pr
	}
	return data, pr
}

// Count is about how many records of a kind there are, up to one that is damaged or long:
// a hint for allocating.
func (r *Records) Count(k rawformat.Kind) int { return int(r.scan.counts[k]) }

// Next advances to the next intact record; false means that there is none.
func (r *Records) Next() bool { return r.scan.next(&r.record) }

// Sorted is where some records of a dictionary lie, apart by classes of their kinds.
type Sorted struct {
	Class [256]uint8 // of each kind, set by the caller

	data  []byte
	lists [Classes]struct {
		n  int
		at [maxSorted]uint32
	}
}

// Classes is how many classes there are.
const Classes = 5

// maxSorted is how many records are sorted at once.
const maxSorted = 512

// Of returns where the records of a class lie in Data, in file order: the offset of the kind.
func (s *Sorted) Of(class int) []uint32 { return s.lists[class].at[:s.lists[class].n] }

// Data is the bytes of the file, with [rawformat.Slack] bytes of capacity behind them. They are valid until the Reset of the
// Records.
func (s *Sorted) Data() []byte { return s.data }

// Record is the record whose kind lies at an offset.
func (s *Sorted) Record(at uint32) Record {
	return Record{Kind: rawformat.Kind(s.data[at]), Off: int64(at) + 1, Body: s.data[at+1 : int(at)+int(s.data[at-1])]}
}

// Sort advances by some hundred records, apart by their classes: to take those of one kind one after the other takes a
// fraction of the time. It takes only intact ones of less than 128 bytes. Without one it returns false, and Next has what is
// there.
func (r *Records) Sort(to *Sorted) bool {
	to.data = r.scan.data
	return r.scan.sort(to) > 0
}

// Record returns the record that the last Next found. Its bytes are valid until Reset.
func (r *Records) Record() *Record { return &r.record }

// All returns the intact records. Problems go to report, which may be nil.
func (d *Dict) All(report func(Problem)) (all []Record) {
	var r Records
	for r.Reset(d, report); r.Next(); {
		all = append(all, r.record)
	}
	return all
}
