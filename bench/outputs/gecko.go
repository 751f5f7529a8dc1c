package main

import (
	"encoding/json"
	"io"

	"github.com/bytedance/sonic"
	"github.com/klauspost/compress/gzip"

	"gprof/stream"
)

// profile is a Gecko profile as one writes it with a library for JSON: a value
// of its shape, whose rows are lists of anything.
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
	stacks  map[stream.StackID]int
	frames  map[stream.FrameID]int
	order   []stream.FrameID // by number
}

type table struct {
	Schema map[string]int `json:"schema"`
	Data   [][]any        `json:"data"`
}

func newTable(columns ...string) table {
	t := table{Schema: map[string]int{}, Data: [][]any{}}
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
		StringTable: []string{},
		strings:     map[string]int{}, stacks: map[stream.StackID]int{}, frames: map[stream.FrameID]int{}}
}

// naive is a Sink that puts a profile together, and writes it at the end.
type naive struct {
	out      io.Writer
	encode   func(io.Writer, any) error
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
		for i, at := range b.Time {
			t.Samples.Data = append(t.Samples.Data, []any{n.stack(t, b.Stack[i]), n.ms(at), b.CPU[i]})
		}
	case stream.Markers:
		n.markers(t, b)
	}
	return nil
}

// ms is a moment in milliseconds since the profile's beginning.
func (n *naive) ms(at stream.Time) float64 {
	const whole = 1_000_000
	start := n.tables.Processes[0].Start
	return float64(at-start+start%whole) / whole
}

func (n *naive) markers(t *thread, b *stream.Batch) {
	event := n.tables.Event(b.Series.Event)
	name := t.text(event.Name)
	for i, at := range b.Time {
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
		row := []any{name, n.ms(at), nil, int(b.Phase[i]), int(event.Category - 1), data}
		if b.Phase[i] == stream.Interval {
			row[2] = n.ms(at + stream.Time(b.Duration[i]))
		}
		t.Markers.Data = append(t.Markers.Data, row)
	}
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
func (n *naive) stack(t *thread, id stream.StackID) any {
	if id == 0 {
		return nil
	}
	number, ok := t.stacks[id]
	if !ok {
		caller, frame := n.tables.Stacks.At(id)
		row := []any{n.stack(t, caller), n.frame(t, frame)}
		number = len(t.StackTable.Data)
		t.stacks[id] = number
		t.StackTable.Data = append(t.StackTable.Data, row)
	}
	return number
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
			t.FrameTable.Data = append(t.FrameTable.Data, []any{t.text(location), false, int(f.Category - 1), 0})
		}
	}
	return n.encode(n.out, &n.document)
}

// name is what the viewer wants the main thread to be called, or the track.
func (n *naive) name(id stream.TrackID) string {
	if track := n.tables.Tracks.At(id); !track.Main {
		return track.Name
	}
	return "GeckoMain"
}

func standardJSON(w io.Writer, value any) error { return json.NewEncoder(w).Encode(value) }

func sonicJSON(w io.Writer, value any) error { return sonic.ConfigDefault.NewEncoder(w).Encode(value) }

// marshal writes the profile of a session, compressed at level 1 by the same
// library that we use.
func marshal(encode func(io.Writer, any) error) work {
	return func(session string) (said, error) {
		var c counter
		packed, err := gzip.NewWriterLevel(&c, 1)
		if err != nil {
			return said{}, err
		}
		if err := copyTo(&naive{out: packed, encode: encode}, session); err != nil {
			return said{}, err
		}
		err = packed.Close()
		return said{Bytes: c.bytes}, err
	}
}
