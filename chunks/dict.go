package chunks

import (
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
}

// Reset begins to read d and reuses r's buffer, so that earlier records become invalid.
// Problems of the file go to report, which may be nil.
func (r *Records) Reset(d *Dict, report func(Problem)) {
	data, pr := d.read(r.room)
	r.room = data
	r.scan = newRecordScan(d.Name, data, d.header, report)
	r.scan.prove()
	for _, p := range pr.problems {
		r.scan.report(p)
	}
}

// read returns the file's bytes, none if it is not the same file any more.
func (d *Dict) read(room []byte) (data []byte, pr probe) {
	in, err := openInput(d.fsys, d.Name, rawformat.MaxRecordFile)
	if err != nil {
		pr.fail(d.Name, d.Size, err)
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

// While calls take with the fields of the records behind that of the last Next, as long as they are short ones of a kind
// and take returns true. It takes less time than Next for each. The fields have [rawformat.Slack] bytes of capacity behind
// them.
func (r *Records) While(kind rawformat.Kind, take func(body []byte) bool) { r.scan.while(kind, take) }

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
