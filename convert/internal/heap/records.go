package heap

import (
	"encoding/binary"

	"gprof/stream"
	"gprof/stream/spill"
)

// records are rows in a file, which are read from the last one on.
type records struct {
	file *spill.File
	buf  []byte // scratch
}

const (
	words      = 6
	recordSize = words * 8
	// readRecords is how many are read at once.
	readRecords = 1 << 10
)

// asItIs is the site of rows that are not cut.
const asItIs = -1

// add adds a row and the number of its site. The file keeps the error.
func (x *records) add(r *Row, site int) {
	x.buf = x.buf[:0]
	for _, v := range [words]int64{int64(r.Time), int64(r.Stack), r.Bytes, r.Address, r.Thread, int64(site)} {
		x.buf = binary.LittleEndian.AppendUint64(x.buf, uint64(v))
	}
	x.file.Write(x.buf)
}

// backwards calls each for all rows, the last one first. The file keeps the error.
func (x *records) backwards(each func(r *Row, site int)) {
	block := make([]byte, min(x.file.Size(), readRecords*recordSize))
	for end := x.file.Size(); end > 0; end -= int64(len(block)) {
		block = block[:min(end, int64(len(block)))]
		if _, err := x.file.ReadAt(block, end-int64(len(block))); err != nil {
			return
		}
		for at := len(block) - recordSize; at >= 0; at -= recordSize {
			var v [words]int64
			for i := range v {
				v[i] = int64(binary.LittleEndian.Uint64(block[at+8*i:]))
			}
			each(&Row{stream.Time(v[0]), stream.StackID(v[1]), v[2], v[3], v[4]}, int(v[5]))
		}
	}
}
