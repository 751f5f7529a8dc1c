package pprof

import (
	"fmt"
	"math"
)

// texts is the table of strings of a file.
type texts struct {
	data []byte
	ends []uint32
}

// maxTexts bounds all strings of a file.
const maxTexts = math.MaxUint32 / 2

func (t *texts) add(s []byte) error {
	if len(t.data)+len(s) > maxTexts {
		return fmt.Errorf("%w: strings of more than %d bytes", ErrTooBig, maxTexts)
	}
	t.data = append(t.data, s...)
	t.ends = append(t.ends, uint32(len(t.data)))
	return nil
}

// at returns a string, which is not ok if it is not there. Its bytes are the
// table's.
func (t *texts) at(n uint64) (s []byte, ok bool) {
	switch {
	case n >= uint64(len(t.ends)):
		return nil, false
	case n == 0:
		return t.data[:t.ends[0]], true
	}
	return t.data[t.ends[n-1]:t.ends[n]], true
}

// text is at as a string of its own; "" if it is not there.
func (t *texts) text(n uint64) string {
	s, _ := t.at(n)
	return string(s)
}

func (t *texts) bytes() int64 { return int64(cap(t.data)) + 4*int64(cap(t.ends)) }
