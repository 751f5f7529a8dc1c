package pprof

import (
	"fmt"
	"math"

	"gprof/ingest/internal/damage"
)

// texts is the table of strings of a file.
type texts struct {
	data []byte   // of all of them, or the file itself, which is held
	at   []extent // in data
	held bool
}

// maxTexts bounds all strings of a file.
const maxTexts = math.MaxInt32

// add adds a string, which ends at a place of the file.
func (t *texts) add(s []byte, end int64) error {
	if t.held {
		t.at = append(t.at, extent{uint32(end) - uint32(len(s)), uint32(end)})
		return nil
	}
	if len(t.data)+len(s) > maxTexts {
		return fmt.Errorf("%w: strings of more than %d bytes", damage.ErrTooBig, maxTexts)
	}
	from := len(t.data)
	t.data = append(t.data, s...)
	t.at = append(t.at, extent{uint32(from), uint32(len(t.data))})
	return nil
}

// get returns a string, which is not ok if it is not there. Its bytes are the
// table's.
func (t *texts) get(n uint64) (s []byte, ok bool) {
	if n >= uint64(len(t.at)) {
		return nil, false
	}
	return t.data[t.at[n].from:t.at[n].to], true
}

// text is get as a string of its own; "" if it is not there.
func (t *texts) text(n uint64) string {
	s, _ := t.get(n)
	return string(s)
}

// bytes is about how much memory t takes.
func (t *texts) bytes() int64 {
	n := 8 * int64(cap(t.at))
	if !t.held {
		n += int64(cap(t.data))
	}
	return n
}
