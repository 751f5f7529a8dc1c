// Package terminal shows a run in a terminal: a flame graph, and above it the time line, with CPU time and markers.
//
// The picture is bounded as the page of package html is (package course). Names are made harmless before
// they are drawn: no text of a recording reaches the terminal as a sequence.
package terminal

import (
	"cmp"
	"slices"

	"gprof/convert/internal/calls"
	"gprof/convert/internal/course"
	"gprof/convert/internal/flame"
	"gprof/stream"
)

// Run is a run, summed up to be shown. It is a [stream.Sink]; [Show] shows it when Close has returned.
type Run struct {
	tables  *stream.Tables
	caption flame.Caption
	tree    *flame.Tree
	axis    course.Axis
	bases   []*basis // that the run has; the first is that of the time line
	lanes   map[laneKey]*course.Lane
	left    flame.Omissions
}

// basis is what is at stacks, of one kind.
type basis struct {
	of    calls.Basis
	cells course.Cells
	meter calls.Meter
}

// laneKey is the markers of an event of a process.
type laneKey struct {
	process stream.ProcessID
	event   stream.EventID
}

// maxLanes bounds them.
const maxLanes = 1 << 12

// Begin prepares for the stacks of t.
func (r *Run) Begin(t *stream.Tables) error {
	r.tables = t
	r.caption = flame.NewCaption(t, t.Ledger.Lines())
	r.axis = course.NewAxis(r.caption.Start, r.caption.End)
	r.lanes = map[laneKey]*course.Lane{}
	var err error
	if r.tree, err = flame.NewTree(t); err != nil {
		return err
	}
	for _, of := range append(calls.Bases(), calls.Measures(t)...) {
		b := &basis{of: calls.Basis(of), meter: calls.Meter{Of: calls.Basis(of)}}
		if !b.in(t) {
			continue
		}
		b.cells = course.NewCells(r.tree, course.Limits{Cells: course.MaxCells / 4, Nodes: course.MaxNodes})
		b.meter.Give = func(at calls.Place, a calls.Amount) {
			if v := b.width().Value(a); v > 0 {
				b.cells.Add(int32(at.Series.Track), r.axis.Slot(at.Time), r.tree.Node(at.Stack), v)
			}
		}
		if err := b.meter.Begin(t); err != nil {
			return err
		}
		r.bases = append(r.bases, b)
	}
	return nil
}

// in reports whether a run may have such rows.
func (b *basis) in(t *stream.Tables) bool {
	switch b.of {
	case calls.CPU:
		return t.HasCPU()
	case calls.Samples:
		return t.Has(stream.Samples)
	case calls.Waits:
		return t.Has(stream.Waits)
	case calls.Heap, calls.Allocations:
		return t.Has(stream.Allocations)
	}
	return true
}

func (b *basis) width() flame.Width { return flame.WidthOf(&b.meter) }

// Segment counts the rows of b.
func (r *Run) Segment(b *stream.Batch) error {
	for _, of := range r.bases {
		of.meter.Add(b)
	}
	if b.Series.Kind == stream.Markers {
		key := laneKey{b.Series.Process, b.Series.Event}
		lane := r.lanes[key]
		if lane == nil && len(r.lanes) < maxLanes {
			lane = new(course.Lane)
			r.lanes[key] = lane
		}
		if lane == nil {
			r.left.Add(r.tables.Process(b.Series.Process), stream.ReasonUnsupported, "markers", int64(b.Len()))
			return nil
		}
		lane.Add(&r.axis, b)
	}
	return nil
}

// Close makes the run whole.
func (r *Run) Close() error {
	for _, b := range r.bases {
		b.meter.End()
		b.meter.Tell(&r.tables.Ledger)
		b.cells.Finish()
		r.left.Add(nil, stream.ReasonUnsupported, "ends of rare stacks", b.cells.CutNodes())
	}
	r.bases = slices.DeleteFunc(r.bases, func(b *basis) bool { return len(b.cells.List) == 0 })
	r.left.Tell(r.tables)
	return nil
}

// choice is the part of a run that is shown.
type choice struct {
	process  stream.ProcessID // 0: all
	from, to int              // slots
}

// totals is the weight of each node with all callees. What is in use is that of the end, whatever the time.
func (r *Run) totals(b *basis, c choice) []int64 {
	self := make([]int64, len(r.tree.Parent))
	for _, cell := range b.cells.List {
		slot := int(cell.Group) << b.cells.Shift
		if r.chosen(c, cell.Track) && (b.of == calls.Heap || slot < c.to && slot+1<<b.cells.Shift > c.from) {
			self[cell.Node] += cell.Weight
		}
	}
	return r.tree.Totals(self)
}

func (r *Run) chosen(c choice, track int32) bool {
	return c.process == 0 || r.tables.Tracks.At(stream.TrackID(track)).Process == c.process
}

// density is the first basis by slot.
func (r *Run) density(c choice) []float64 {
	all := make([]float64, course.Slots)
	if len(r.bases) == 0 {
		return all
	}
	cells := &r.bases[0].cells
	for _, cell := range cells.List {
		if !r.chosen(c, cell.Track) {
			continue
		}
		n := 1 << cells.Shift
		for slot := range n {
			all[int(cell.Group)*n+slot] += float64(cell.Weight) / float64(n)
		}
	}
	return all
}

// track is the markers of one name: by slot, whether there are any, and whether one lasted.
type track struct {
	name    string
	marks   []mark
	longest int64
	rows    int64
}

type mark uint8

const (
	noMark mark = iota
	instant
	interval
)

// tracks are the lanes of a choice: of the longest intervals first, then those with most markers.
func (r *Run) tracks(c choice) []track {
	byName := map[string]*track{}
	for key, lane := range r.lanes {
		if c.process != 0 && key.process != c.process {
			continue
		}
		name := r.tables.Event(key.event).Name
		t := byName[name]
		if t == nil {
			t = &track{name: name, marks: make([]mark, course.Slots)}
			byName[name] = t
		}
		t.add(r.axis.Width, lane)
	}
	var all []track
	for _, t := range byName {
		all = append(all, *t)
	}
	slices.SortFunc(all, func(a, b track) int {
		return cmp.Or(cmp.Compare(b.longest, a.longest), cmp.Compare(b.rows, a.rows), cmp.Compare(a.name, b.name))
	})
	return all
}

func (t *track) add(width uint64, lane *course.Lane) {
	t.rows += lane.Rows
	longest := lane.Longest.BySlot()
	for slot, n := range lane.Count.BySlot() {
		if n == 0 {
			continue
		}
		t.marks[slot] = max(t.marks[slot], instant)
		if len(longest) == 0 || longest[slot] <= 0 {
			continue
		}
		t.longest = max(t.longest, longest[slot])
		last := slot
		if width > 0 {
			last = int(min(uint64(slot)+uint64(longest[slot])/width, course.Slots-1))
		}
		for i := slot; i <= last; i++ {
			t.marks[i] = interval
		}
	}
}
