package main

import (
	"errors"
	"io"

	"gprof/stream"
)

// document is a Gecko profile as one writes it with a library for JSON: a value
// of its shape.
type document struct {
	Meta    map[string]any `json:"meta"`
	Threads []*thread      `json:"threads"`
}

type thread struct {
	Name        string   `json:"name"`
	Samples     table    `json:"samples"`
	Markers     table    `json:"markers"`
	StackTable  table    `json:"stackTable"`
	FrameTable  table    `json:"frameTable"`
	StringTable []string `json:"stringTable"`

	strings map[string]int
	stacks  map[stream.StackID]*int
	frames  map[stream.FrameID]int
	order   []stream.FrameID // by number
	rows    rowsOf
}

type table struct {
	Schema map[string]int `json:"schema"`
	Data   any            `json:"data"`
}

// rowsOf are the rows of a thread. Those of which there are many are lists of
// anything, as they are in JSON, or have types.
type rowsOf struct {
	samples, stacks, markers, frames [][]any
	typedSamples                     [][3]float64 // stack, time and CPU time
	typedStacks                      [][2]*int    // caller, nil for none, and frame
}

func newTable(columns ...string) table {
	t := table{Schema: map[string]int{}}
	for i, name := range columns {
		t.Schema[name] = i
	}
	return t
}

func newThread(name string) *thread {
	return &thread{Name: name,
		Samples:     newTable("stack", "time", "threadCPUDelta", "eventDelay"),
		Markers:     newTable("name", "startTime", "endTime", "phase", "category", "data"),
		StackTable:  newTable("prefix", "frame"),
		FrameTable:  newTable("location", "relevantForJS", "category", "subcategory", "innerWindowID", "implementation", "line", "column"),
		StringTable: []string{}, rows: rowsOf{samples: [][]any{}, stacks: [][]any{}, markers: [][]any{}, frames: [][]any{}, typedSamples: [][3]float64{}, typedStacks: [][2]*int{}},
		strings: map[string]int{}, stacks: map[stream.StackID]*int{}, frames: map[stream.FrameID]int{}}
}

// encode writes a value.
type encode func(io.Writer, any) error

// newLists and newTyped are sinks that put a Gecko profile together, of lists of
// anything and of rows that have types.
func newLists(w io.Writer, e encode) stream.Sink { return &naive{out: w, encode: e} }
func newTyped(w io.Writer, e encode) stream.Sink { return &naive{out: w, encode: e, typed: true} }

// naive is a Sink that puts a profile together, and writes it at the end.
type naive struct {
	out      io.Writer
	encode   encode
	typed    bool // rows have types
	tables   *stream.Tables
	document document
	tracks   map[stream.TrackID]*thread
}

func (n *naive) Begin(t *stream.Tables) error {
	n.tables, n.tracks = t, map[stream.TrackID]*thread{}
	n.document.Meta = map[string]any{"version": 36, "interval": 1, "product": "gprof"}
	return nil
}

func (n *naive) Segment(b *stream.Batch) error {
	t := n.tracks[b.Series.Track]
	if t == nil {
		t = newThread(n.name(b.Series.Track))
		n.tracks[b.Series.Track] = t
		n.document.Threads = append(n.document.Threads, t)
	}
	switch b.Series.Kind {
	case stream.Samples:
		return n.samples(t, b)
	case stream.Markers:
		n.markers(t, b)
	}
	return nil
}

// errNoStack says that rows of numbers can't hold a recording.
var errNoStack = errors.New("a sample has no stack")

func (n *naive) samples(t *thread, b *stream.Batch) error {
	for i, at := range b.Time {
		stack := n.stack(t, b.Stack[i])
		switch {
		case !n.typed:
			t.rows.samples = append(t.rows.samples, []any{orNil(stack), n.ms(at), b.CPU[i]})
		case stack == nil:
			return errNoStack
		default:
			t.rows.typedSamples = append(t.rows.typedSamples, [3]float64{float64(*stack), n.ms(at), float64(b.CPU[i])})
		}
	}
	return nil
}

// orNil is the number, if there is one.
func orNil(number *int) any {
	if number == nil {
		return nil
	}
	return *number
}

// ms is a moment in milliseconds since the profile's beginning.
func (n *naive) ms(at stream.Time) float64 { return float64(at-startOf(n.tables)) / 1e6 }

func (n *naive) markers(t *thread, b *stream.Batch) {
	event := n.tables.Event(b.Series.Event)
	name := t.text(event.Name)
	for i, at := range b.Time {
		row := []any{name, n.ms(at), nil, int(b.Phase[i]), int(event.Category - 1), n.payload(event, b, i)}
		if b.Phase[i] == stream.Interval {
			row[2] = n.ms(at + stream.Time(b.Duration[i]))
		}
		t.rows.markers = append(t.rows.markers, row)
	}
}

func (n *naive) payload(event *stream.Event, b *stream.Batch, i int) any {
	if n.typed {
		return typedPayload(event, b, i)
	}
	data := map[string]any{"type": event.Name}
	for k := range b.Args {
		switch column := &b.Args[k]; column.TypeAt(i) {
		case stream.Text:
			data[event.Fields[k].Name] = string(column.TextAt(i))
		case stream.Int:
			data[event.Fields[k].Name] = int64(column.BitsAt(i))
		case stream.Uint:
			data[event.Fields[k].Name] = column.BitsAt(i)
		}
	}
	if of := b.Owner(i).Goroutine; of != 0 {
		data["goroutine"] = of
	}
	return data
}

func (t *thread) text(s string) int {
	number, ok := t.strings[s]
	if !ok {
		number = len(t.StringTable)
		t.strings[s] = number
		t.StringTable = append(t.StringTable, s)
	}
	return number
}

// stack is the number of a stack in the thread's table, callers first.
func (n *naive) stack(t *thread, id stream.StackID) *int {
	if id == 0 {
		return nil
	}
	number, ok := t.stacks[id]
	if ok {
		return number
	}
	caller, of := n.tables.Stacks.At(id)
	prefix, frame := n.stack(t, caller), n.frame(t, of)
	next := len(t.stacks)
	t.stacks[id] = &next
	if n.typed {
		t.rows.typedStacks = append(t.rows.typedStacks, [2]*int{prefix, &frame})
	} else {
		t.rows.stacks = append(t.rows.stacks, []any{orNil(prefix), frame})
	}
	return &next
}

func (n *naive) frame(t *thread, id stream.FrameID) int {
	number, ok := t.frames[id]
	if !ok {
		number = len(t.order)
		t.frames[id] = number
		t.order = append(t.order, id)
	}
	return number
}

func (n *naive) Close() error {
	for _, t := range n.document.Threads {
		for _, id := range t.order {
			f := n.tables.Frames.At(id)
			location := n.tables.Strings.At(f.Function) + " (in " + n.tables.Modules.At(f.Module).Name + ")"
			t.rows.frames = append(t.rows.frames, []any{t.text(location), false, int(f.Category - 1), 0})
		}
		t.putRows(n.typed)
	}
	return n.encode(n.out, &n.document)
}

// putRows gives the tables of a thread their rows.
func (t *thread) putRows(typed bool) {
	t.Samples.Data, t.StackTable.Data = t.rows.samples, t.rows.stacks
	if typed {
		t.Samples.Data, t.StackTable.Data = t.rows.typedSamples, t.rows.typedStacks
	}
	t.Markers.Data, t.FrameTable.Data = t.rows.markers, t.rows.frames
}

// name is what the viewer wants the main thread to be called, or the track.
func (n *naive) name(id stream.TrackID) string {
	if track := n.tables.Tracks.At(id); !track.Main {
		return track.Name
	}
	return "GeckoMain"
}
