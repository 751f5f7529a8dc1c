package ingest

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"gprof/stream"
	"gprof/stream/wording"
)

// heapSource notes how old the heap samples of each process are, and how much of the heap they
// explain: a killed process leaves those of its last collection.
type heapSource struct {
	stream.Wrapper
	heaps    map[stream.ProcessID]*stream.Heap
	counters map[stream.CounterID]bool // whether it is the heap's
	pictures map[stream.EventID]*pictureFields
	parts    map[stream.ProcessID]bool // of which a slice left out what was said of the heap before
}

func watchHeap(src stream.Source, read []*Process) stream.Source {
	parts := map[stream.ProcessID]bool{}
	for i, p := range read {
		if p.foreign == nil && len(p.LeftOut) > 0 {
			parts[stream.ProcessID(i+1)] = true
		}
	}
	return &heapSource{Wrapper: stream.Wrapper{Source: src}, parts: parts, heaps: map[stream.ProcessID]*stream.Heap{}, counters: map[stream.CounterID]bool{}, pictures: map[stream.EventID]*pictureFields{}}
}

// Next implements [stream.Source].
func (s *heapSource) Next(b *stream.Batch) error {
	err := s.Source.Next(b)
	if errors.Is(err, io.EOF) {
		s.finish()
	} else if err == nil {
		s.see(b)
	}
	return err
}

// Spread implements [stream.Spreader].
func (s *heapSource) Spread(taker func() stream.Taker) error {
	var mu sync.Mutex
	err := stream.Spread(s.Source, func() stream.Taker { return &heapTaker{taker(), s, &mu} })
	if err == nil {
		s.finish()
	}
	return err
}

// heapTaker looks at rows on their way. A mixture has only samples.
type heapTaker struct {
	stream.Taker
	of *heapSource
	mu *sync.Mutex
}

// Take implements [stream.Taker].
func (t *heapTaker) Take(b *stream.Batch) error {
	if b.Series.Kind != stream.Samples { // most batches
		t.mu.Lock()
		t.of.see(b)
		t.mu.Unlock()
	}
	return t.Taker.Take(b)
}

func (s *heapSource) see(b *stream.Batch) {
	switch {
	case b.Series.Kind == stream.Allocations:
		h := s.heap(b.Series.Process)
		for i, at := range b.Time {
			h.Sampled, h.Explained = max(h.Sampled, at), h.Explained+b.Value[i]
		}
	case b.Series.Kind == stream.Counts && s.isHeap(b.Series.Counter):
		h := s.heap(b.Series.Process)
		for i, at := range b.Time {
			if at >= h.Counted {
				h.Counted, h.InUse = at, b.Value[i]
			}
		}
	}
	if b.Series.Kind == stream.Markers {
		if fields := s.picture(b.Series.Event); fields != nil {
			fields.last(b, s.heap(b.Series.Process))
		}
	}
}

func (s *heapSource) heap(p stream.ProcessID) *stream.Heap {
	if s.heaps[p] == nil {
		s.heaps[p] = &stream.Heap{}
	}
	return s.heaps[p]
}

func (s *heapSource) isHeap(id stream.CounterID) bool {
	is, known := s.counters[id]
	if !known {
		t := s.Tables()
		t.Lock()
		is = t.Counters.At(id).Name == stream.CounterHeap
		t.Unlock()
		s.counters[id] = is
	}
	return is
}

// finish updates the tables, once.
func (s *heapSource) finish() {
	t := s.Tables()
	for _, id := range slices.Sorted(maps.Keys(s.heaps)) {
		h := s.heaps[id]
		if h.Sampled == 0 || s.parts[id] {
			continue
		}
		p := t.Process(id)
		p.Heap = *h
		t.Ledger.Add(stream.Line{Process: p.InstanceName(), Reason: stream.ReasonHeap, What: "heap in use", Where: heapText(p), Count: 1, Bytes: max(0, h.InUse-h.Explained)})
	}
	clear(s.heaps)
}

func heapText(p *stream.Process) string {
	at, orBefore := p.Heap.Sampled, " or the garbage collection before"
	if last := p.Heap.Last(); last != nil {
		at, orBefore = last.Taken, ""
	}
	return fmt.Sprintf("of %s%s: %s", time.Unix(0, int64(at)).UTC().Format("15:04:05.000Z"), orBefore, wording.Heap(&p.Heap, p.End))
}
