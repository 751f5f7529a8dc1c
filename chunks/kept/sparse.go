package kept

import (
	"bytes"
	"os"
)

// sparseWriter writes a file without its zeros, as chunks that are not full are mostly that: the
// system takes no room for pages that are never written.
type sparseWriter struct {
	file *os.File
	end  int64 // of the file, with zeros at the end that were not written
	left int64 // bytes that may still be written
}

const pageSize = 4 << 10

var zeros [pageSize]byte

// Write writes b, except for pages of zeros. The error is ErrTooBig or the disk's.
func (w *sparseWriter) Write(b []byte) (n int, err error) {
	for n < len(b) {
		size := min(len(b)-n, int(pageSize-w.end%pageSize))
		if piece := b[n : n+size]; !bytes.Equal(piece, zeros[:size]) {
			if w.left -= int64(size); w.left < 0 {
				return n, ErrTooBig
			}
			if _, err := w.file.WriteAt(piece, w.end); err != nil {
				return n, err
			}
		}
		n += size
		w.end += int64(size)
	}
	return n, nil
}
