package main

import (
	"time"

	"gprof/stream"
)

// heapSummary is what the heap samples of a process tell of its end.
type heapSummary struct {
	Sampled   time.Time `json:"sampled"`   // the last rows
	Explained int64     `json:"explained"` // bytes in use, by all rows
	Counted   time.Time `json:"counted,omitzero"`
	InUse     int64     `json:"in_use,omitempty"` // bytes of the heap then, by its counter

	text string
}

// newHeapSummary is nil if there are no heap samples, or only a part was read.
func newHeapSummary(p *stream.Process) *heapSummary {
	h := &p.Heap
	if h.Sampled == 0 {
		return nil
	}
	s := &heapSummary{Sampled: moment(h.Sampled), Explained: h.Explained, InUse: h.InUse, text: h.Text(p.End)}
	if h.Counted != 0 {
		s.Counted = moment(h.Counted)
	}
	return s
}

// String is what stands behind the number of rows.
func (h *heapSummary) String() string {
	if h == nil {
		return ""
	}
	return "; in use " + h.text
}
