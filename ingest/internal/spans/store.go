package spans

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"gprof/stream"
	"gprof/stream/spill"
)

// span is a marker that is a span: of an interval both its ends are known, of a start its
// beginning, of an end its end.
type span struct {
	goroutine int64
	from, to  stream.Time
	of        stream.Span
	event     stream.EventID
	phase     stream.Phase
}

// newSpan is row i of b, which is the span s.
func newSpan(b *stream.Batch, i int, s stream.Span) span {
	out := span{goroutine: b.Owner(i).Goroutine, from: b.Time[i], to: math.MaxInt64, of: s, event: b.Series.Event, phase: b.Phase[i]}
	switch out.phase {
	case stream.Interval:
		if out.to = out.from + stream.Time(b.Duration[i]); out.to < out.from {
			out.to = math.MaxInt64
		}
	case stream.PhaseEnd:
		out.to = out.from
	}
	return out
}

// store keeps the spans of all processes, most of them in a file.
type store struct {
	file    *spill.File
	recent  map[stream.ProcessID][]span // not in the file yet
	held    int                         // how many these are
	stored  map[stream.ProcessID][]part
	claim   stream.Claim // of these, and of what is in use
	scratch []byte
}

// part is where spans are in the file.
type part struct {
	offset int64
	n      int
}

func newStore(dir string) *store {
	return &store{file: spill.New(dir), recent: map[stream.ProcessID][]span{}, stored: map[stream.ProcessID][]part{}}
}

const (
	// maxHeld is how many spans are kept in memory: 1 MB.
	maxHeld = 1 << 14
	// encoded is the size of a span in the file.
	encoded = 6*8 + 4 + 1
)

// add adds a span. The file keeps an error.
func (s *store) add(p stream.ProcessID, x span) {
	s.recent[p] = append(s.recent[p], x)
	if s.held++; s.held < maxHeld {
		return
	}
	for p, list := range s.recent { // in any order: parts of a process stay in theirs
		s.scratch = s.scratch[:0]
		for i := range list {
			s.scratch = list[i].append(s.scratch)
		}
		s.stored[p] = append(s.stored[p], part{s.file.Size(), len(list)})
		s.file.Write(s.scratch)
		delete(s.recent, p)
	}
	s.held = 0
}

// take returns the spans of a process, and forgets them.
func (s *store) take(p stream.ProcessID) (all []span, err error) {
	for _, at := range s.stored[p] {
		block := make([]byte, at.n*encoded)
		if _, err := s.file.ReadAt(block, at.offset); err != nil {
			return nil, fmt.Errorf("reading spilled spans: %w", err)
		}
		for ; len(block) > 0; block = block[encoded:] {
			all = append(all, readSpan(block))
		}
	}
	all = append(all, s.recent[p]...)
	s.held -= len(s.recent[p])
	delete(s.recent, p)
	delete(s.stored, p)
	return all, nil
}

// bytes is the memory of the spans that are not in the file.
func (s *store) bytes() int64 { return int64(s.held) * int64(unsafe.Sizeof(span{})) }

func (x *span) append(dst []byte) []byte {
	for _, v := range [...]uint64{uint64(x.goroutine), uint64(x.from), uint64(x.to), x.of.Trace[0], x.of.Trace[1], x.of.ID} {
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	return append(binary.LittleEndian.AppendUint32(dst, uint32(x.event)), byte(x.phase))
}

func readSpan(b []byte) span {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	return span{goroutine: int64(word(0)), from: stream.Time(word(1)), to: stream.Time(word(2)),
		of: stream.Span{Trace: [2]uint64{word(3), word(4)}, ID: word(5)}, event: stream.EventID(binary.LittleEndian.Uint32(b[48:])), phase: stream.Phase(b[52])}
}
