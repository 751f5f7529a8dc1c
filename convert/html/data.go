package html

import (
	"cmp"
	"unicode/utf16"

	"gprof/convert/internal/course"
	"gprof/convert/internal/flame"
	"gprof/convert/internal/jsontext"
	"gprof/stream"
	"gprof/stream/wording"
)

const (
	maxName   = 2000 // bytes of a name
	maxLanes  = 64   // events
	maxCurves = 64   // counters
)

// writeData writes the page's data, which model.js reads.
func (s *Sink) writeData(out *jsontext.Writer) {
	out.BeginObject()
	member(out, "title", s.caption.Title)
	member(out, "range", s.caption.Range)
	member(out, "processCount", s.caption.Processes)
	member(out, "losses", s.caption.Losses)
	s.writeWidth(out)
	s.writeAxis(out)
	s.writeLedger(out)
	s.writeProcesses(out)
	s.writeTree(out)
	s.writeTracks(out)
	s.writeLanes(out)
	s.writeCurves(out)
	out.EndObject()
}

// writeWidth writes what weights are of and in, if not the number of samples.
func (s *Sink) writeWidth(out *jsontext.Writer) {
	if width := flame.WidthOf(&s.meter); width.Of != "" {
		member(out, "of", width.String())
		member(out, "unit", width.Unit)
	}
}

func member(out *jsontext.Writer, key, value string) {
	out.Member(key, value[:min(len(value), maxName)])
}

// writeAxis writes times in milliseconds, those of slots relative to the start, which need not be
// exact.
func (s *Sink) writeAxis(out *jsontext.Writer) {
	out.Object("axis")
	out.Decimal("start", int64(s.axis.Start), 6)
	out.Decimal("width", int64(s.axis.Width), 6)
	out.Key("slots")
	if s.axis.Width == 0 {
		out.Int(1)
	} else {
		out.Int(course.Slots)
	}
	out.Key("group") // of slots, that cells tell apart
	out.Int(1 << s.cells.Shift)
	out.EndObject()
}

func (s *Sink) writeLedger(out *jsontext.Writer) {
	out.Array("ledger")
	for _, line := range s.lines {
		out.BeginArray()
		out.String(line.Reason.Severity().String())
		out.String(line.Process)
		out.Int(line.Count)
		out.String(line.What)
		out.String(wording.Reason(line.Reason))
		out.String(line.Where)
		out.EndArray()
	}
	out.EndArray()
}

func (s *Sink) writeProcesses(out *jsontext.Writer) {
	out.Array("processes")
	for i := range s.tables.Processes {
		out.String(s.tables.Processes[i].Title())
	}
	out.EndArray()
}

// names numbers texts as they come.
type names struct {
	numbers map[string]int64
	list    []string
}

func (n *names) number(name string) int64 {
	id, known := n.numbers[name]
	if !known {
		if n.numbers == nil {
			n.numbers = make(map[string]int64)
		}
		id = int64(len(n.list))
		n.numbers[name] = id
		n.list = append(n.list, name)
	}
	return id
}

// writeTree writes the nodes that have samples, with their frames, renumbered:
// the root is node 0 and has no frame.
func (s *Sink) writeTree(out *jsontext.Writer) {
	totals := s.cells.Totals()
	node := make([]int64, len(totals))
	frame := make([]int64, len(s.tree.Frames))
	var frames []int
	var parents, frameOf []int64
	for old := 1; old < len(totals); old++ {
		if totals[old] <= 0 {
			continue
		}
		f := s.tree.Frame[old]
		if frame[f] == 0 {
			frames = append(frames, int(f))
			frame[f] = int64(len(frames))
		}
		parents = append(parents, node[s.tree.Parent[old]])
		frameOf = append(frameOf, frame[f]-1)
		node[old] = int64(len(parents))
	}
	s.writeFrames(out, frames)
	numbers(out, "parents", parents)
	numbers(out, "frameOf", frameOf)
	for i := range s.cells.List { // nodes have the numbers of the page now
		c := &s.cells.List[i]
		c.Node = int32(node[c.Node])
	}
}

func (s *Sink) writeFrames(out *jsontext.Writer, frames []int) {
	var packages, files, categories names
	var hex []string // of categories
	out.Key("frames")
	out.BeginArray() // name, what is left out of a short one, tint, package, file, category: one after the other
	for _, i := range frames {
		f := &s.tree.Frames[i]
		out.String(f.Name)
		out.Int(int64(len(utf16.Encode([]rune(f.Name[:len(f.Name)-len(f.Short)])))))
		out.Int(int64(f.Tint))
		out.Int(packages.number(f.Package))
		out.Int(files.number(place(f)))
		out.Int(categories.number(f.Category.Name))
		if len(hex) < len(categories.list) {
			hex = append(hex, flame.CategoryHex(f.Category.Color))
		}
	}
	out.EndArray()
	texts(out, "packages", packages.list)
	texts(out, "files", files.list)
	texts(out, "categories", categories.list)
	texts(out, "categoryColors", hex)
	for i, name := range packages.list {
		packages.list[i] = flame.PackageHex(name)
	}
	texts(out, "packageColors", packages.list)
}

// place is the source position of a frame, as far as known.
func place(f *flame.Frame) string {
	return cmp.Or(f.File, f.Module)
}

// writeTracks writes the tracks that have samples: density by slot, and cells.
func (s *Sink) writeTracks(out *jsontext.Writer) {
	out.Array("tracks")
	rest := s.cells.List
	for id := range s.density {
		density := s.density[id].BySlot()
		n := 0
		for n < len(rest) && int(rest[n].Track) == id {
			n++
		}
		if density != nil && n > 0 {
			track := stream.Track{Name: "other tracks"}
			if id != 0 {
				track = s.tables.Tracks.At(stream.TrackID(id))
			}
			out.BeginObject()
			member(out, "name", trackName(&track))
			out.Key("process") // -1 of the other tracks
			out.Int(int64(track.Process) - 1)
			numbers(out, "density", appendRuns(nil, density))
			writeCells(out, rest[:n])
			out.EndObject()
		}
		rest = rest[n:]
	}
	out.EndArray()
}

func trackName(t *stream.Track) string {
	if t.Main {
		return "process"
	}
	return t.Name
}

// writeCells writes each group: its number, its size, and the node and weight of each cell. Numbers
// of nodes and groups are differences.
func writeCells(out *jsontext.Writer, list []course.Cell) {
	out.Array("cells")
	var group int32
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Group == list[0].Group {
			n++
		}
		out.Int(int64(list[0].Group - group))
		out.Int(int64(n))
		group = list[0].Group
		var node int32
		for _, c := range list[:n] {
			out.Int(int64(c.Node - node))
			out.Int(c.Weight)
			node = c.Node
		}
		list = list[n:]
	}
	out.EndArray()
}

// appendRuns appends non-negative values, with runs of zeros as their negated length, and none at
// the end.
func appendRuns(dst, values []int64) []int64 {
	zeros := int64(0)
	for _, v := range values {
		if v == 0 {
			zeros++
			continue
		}
		if zeros > 0 {
			dst = append(dst, -zeros)
			zeros = 0
		}
		dst = append(dst, v)
	}
	return dst
}

// writeLanes writes the markers of the events that have most.
func (s *Sink) writeLanes(out *jsontext.Writer) {
	rows := make([]int64, len(s.lanes))
	for id := range s.lanes {
		rows[id] = s.lanes[id].Rows
	}
	keep := s.busiest("markers", rows, maxLanes)
	out.Array("lanes")
	for id := range s.lanes {
		if !keep[id] {
			continue
		}
		l, event := &s.lanes[id], s.tables.Event(stream.EventID(id))
		color := flame.CategoryHex("")
		if event.Category != 0 {
			color = flame.CategoryHex(s.tables.Categories.At(event.Category).Color)
		}
		out.BeginObject()
		member(out, "name", event.Name)
		member(out, "color", color)
		out.Number("rows", l.Rows)
		numbers(out, "count", appendRuns(nil, l.Count.BySlot()))
		numbers(out, "longest", appendRuns(nil, l.Longest.BySlot())) // ns
		out.EndObject()
	}
	out.EndArray()
}

// writeCurves writes the counters that have most rows: slot and value in turn.
func (s *Sink) writeCurves(out *jsontext.Writer) {
	rows := make([]int64, len(s.curves))
	for id := range s.curves {
		rows[id] = s.curves[id].Rows
	}
	keep := s.busiest("counts", rows, maxCurves)
	out.Array("curves")
	for id := range s.curves {
		if !keep[id] {
			continue
		}
		c, counter := &s.curves[id], s.tables.Counters.At(stream.CounterID(id))
		out.BeginObject()
		member(out, "name", counter.Name)
		out.Number("process", int64(counter.Process)-1)
		out.Flag("bytes", counter.Unit == stream.FormatBytes)
		out.Flag("nanoseconds", counter.Unit == stream.FormatNanoseconds)
		out.Flag("total", counter.Total)
		out.Array("values")
		for _, x := range c.Values {
			out.Int(int64(x.Slot))
			out.Int(x.Value)
		}
		out.EndArray()
		out.EndObject()
	}
	out.EndArray()
}

// busiest selects those with most rows; others are left out.
func (s *Sink) busiest(what string, rows []int64, most int) []bool {
	keep := course.Heaviest(rows, most)
	left := int64(0)
	for i, n := range rows {
		if !keep[i] {
			left += n
		}
	}
	s.left.Add(nil, stream.ReasonUnsupported, what, left)
	return keep
}

func numbers(out *jsontext.Writer, key string, values []int64) {
	out.Array(key)
	for _, v := range values {
		out.Int(v)
	}
	out.EndArray()
}

func texts(out *jsontext.Writer, key string, values []string) {
	out.Array(key)
	for _, v := range values {
		out.String(v[:min(len(v), maxName)])
	}
	out.EndArray()
}
