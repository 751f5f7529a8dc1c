package ingest

import (
	"slices"

	"gprof/stream"
)

// pictureFields are the places of the fields of the markers for pictures of the heap that were taken near
// a limit.
type pictureFields struct{ limit, used, most, heap, explained, recent, whole int }

// picture is nil for all other events.
func (s *heapSource) picture(id stream.EventID) *pictureFields {
	f, known := s.pictures[id]
	if known {
		return f
	}
	t := s.Tables()
	t.Lock()
	e := t.Event(id)
	place := func(name string) int {
		return slices.IndexFunc(e.Fields, func(f stream.EventField) bool { return f.Name == name })
	}
	if e.Name == stream.EventHeapPicture {
		f = &pictureFields{place("limit"), place("used"), place("most"), place("heap"), place("explained"), place("recent"), place("whole")}
		if slices.Contains([]int{f.limit, f.used, f.most, f.heap, f.explained, f.recent, f.whole}, -1) {
			f = nil // an event of the program's, of the same name
		}
	}
	t.Unlock()
	s.pictures[id] = f
	return f
}

// last takes the latest of the batch, if it is later than the one known.
func (f *pictureFields) last(b *stream.Batch, h *stream.Heap) {
	number := func(field, row int) int64 { return int64(b.Args[field].BitsAt(row)) }
	for i, at := range b.Time {
		if (h.Picture == nil || at >= h.Picture.Taken) && b.Args[f.limit].TypeAt(i).Textual() {
			h.Picture = &stream.Picture{Taken: at, Written: at + stream.Time(b.Duration[i]), Limit: string(b.Args[f.limit].TextAt(i)), Used: number(f.used, i), Most: number(f.most, i),
				Heap: number(f.heap, i), Explained: number(f.explained, i), Recent: number(f.recent, i), Whole: number(f.whole, i) != 0}
		}
	}
}
