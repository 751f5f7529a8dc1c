package spill

import (
	"bufio"
	"bytes"
	"container/heap"
	"io"
	"slices"
)

// Sorter sorts records of one size by their bytes, in a bounded amount of memory: what does not fit waits in a File,
// as sorted runs.
type Sorter struct {
	file *File
	size int // of a record
	most int // bytes to hold
	held []byte
	runs []extent
	out  []byte
}

// mergeBuffer is how much of a run is read at a time.
const mergeBuffer = 32 << 10

// NewSorter returns an empty Sorter of records of a size, which holds so many bytes of them, and as many again while it
// writes them to the file.
func NewSorter(file *File, size, memory int) *Sorter {
	return &Sorter{file: file, size: size, most: max(memory/size, 1) * size}
}

// Add adds a record. The error is the file's.
func (s *Sorter) Add(record []byte) error {
	if len(s.held) >= s.most {
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.held = append(s.held, record[:s.size]...)
	return nil
}

// sorted is what is held, in order, valid until the next call.
func (s *Sorter) sorted() []byte {
	at := make([]int32, len(s.held)/s.size)
	for i := range at {
		at[i] = int32(i)
	}
	record := func(i int32) []byte { return s.held[int(i)*s.size:][:s.size] }
	slices.SortFunc(at, func(a, b int32) int { return bytes.Compare(record(a), record(b)) })
	s.out = s.out[:0]
	for _, i := range at {
		s.out = append(s.out, record(i)...)
	}
	return s.out
}

func (s *Sorter) spill() error {
	out := s.sorted()
	s.runs = append(s.runs, extent{s.file.Size(), len(out)})
	s.held = s.held[:0]
	_, err := s.file.Write(out)
	return err
}

// Each calls each with all records in order, valid until it returns, and empties the Sorter. It ends with the first
// error.
func (s *Sorter) Each(each func(record []byte) error) error {
	var m merge
	for _, x := range append(s.runs, extent{-1, len(s.held)}) {
		in := io.Reader(io.NewSectionReader(s.file, x.offset, int64(x.size)))
		if x.offset < 0 {
			in = bytes.NewReader(s.sorted())
		}
		r := &run{in: bufio.NewReaderSize(in, mergeBuffer), head: make([]byte, s.size)}
		if ok, err := r.next(); err != nil {
			return err
		} else if ok {
			m = append(m, r)
		}
	}
	s.runs, s.held = nil, s.held[:0]
	heap.Init(&m)
	for len(m) > 0 {
		if err := each(m[0].head); err != nil {
			return err
		}
		ok, err := m[0].next()
		switch {
		case err != nil:
			return err
		case ok:
			heap.Fix(&m, 0)
		default:
			heap.Pop(&m)
		}
	}
	return nil
}

// run is a sorted run that is read, and its next record.
type run struct {
	in   *bufio.Reader
	head []byte
}

func (r *run) next() (ok bool, err error) {
	switch _, err := io.ReadFull(r.in, r.head); err {
	case nil:
		return true, nil
	case io.EOF:
		return false, nil
	default:
		return false, err
	}
}

// merge is a heap of runs by their next records.
type merge []*run

func (m merge) Len() int           { return len(m) }
func (m merge) Less(i, k int) bool { return bytes.Compare(m[i].head, m[k].head) < 0 }
func (m merge) Swap(i, k int)      { m[i], m[k] = m[k], m[i] }
func (m *merge) Push(x any)        { *m = append(*m, x.(*run)) }
func (m *merge) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}
