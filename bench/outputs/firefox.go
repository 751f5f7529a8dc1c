package main

import (
	"io"

	"gprof/stream"
)

// processed is a processed profile as one writes it with a library for JSON: each
// column is a slice of numbers.
type processed struct {
	Meta    map[string]any `json:"meta"`
	Threads []*columns     `json:"threads"`
	Shared  shared         `json:"shared"`
}

// columns is one thread of it.
type columns struct {
	Name    string         `json:"name"`
	Samples sampleColumns  `json:"samples"`
	Markers *markerColumns `json:"markers"`

	last stream.Time // of a sample
}

type sampleColumns struct {
	Length     int       `json:"length"`
	Stack      []int32   `json:"stack"`
	TimeDeltas []float64 `json:"timeDeltas"`
	CPU        []int64   `json:"threadCPUDelta,omitempty"`
	Weight     *int      `json:"weight"`
	WeightType string    `json:"weightType"`
}

type markerColumns struct {
	Length    int        `json:"length"`
	Data      []any      `json:"data"`
	Name      []int32    `json:"name"`
	StartTime []float64  `json:"startTime"`
	EndTime   []*float64 `json:"endTime"`
	Phase     []int32    `json:"phase"`
	Category  []int32    `json:"category"`
}

// shared is the tables of all threads, without the columns that would be null in
// all rows.
type shared struct {
	Stacks  stackColumns `json:"stackTable"`
	Frames  frameColumns `json:"frameTable"`
	Funcs   funcColumns  `json:"funcTable"`
	Strings []string     `json:"stringArray"`
}

type stackColumns struct {
	Length       int     `json:"length"`
	Frame        []int32 `json:"frame"`
	PrefixOffset []int32 `json:"prefixOffset"`
}

type frameColumns struct {
	Length   int     `json:"length"`
	Address  []int64 `json:"address"`
	Lib      []int32 `json:"lib"`
	Category []int32 `json:"category"`
	Func     []int32 `json:"func"`
	Line     []int32 `json:"line"`
}

type funcColumns struct {
	Length int     `json:"length"`
	Name   []int32 `json:"name"`
}

// columnar is a Sink that puts a processed profile together, and writes it at
// the end.
type columnar struct {
	out     io.Writer
	encode  encode
	tables  *stream.Tables
	profile processed
	tracks  map[stream.TrackID]*columns
	strings map[string]int32
}

func newColumns(w io.Writer, e encode) stream.Sink { return &columnar{out: w, encode: e} }

func (c *columnar) Begin(t *stream.Tables) error {
	c.tables, c.tracks, c.strings = t, map[stream.TrackID]*columns{}, map[string]int32{}
	c.profile.Meta = map[string]any{"preprocessedProfileVersion": 70, "interval": 1, "product": "gprof"}
	return nil
}

func (c *columnar) Segment(b *stream.Batch) error {
	t := c.tracks[b.Series.Track]
	if t == nil {
		track := c.tables.Tracks.At(b.Series.Track)
		t = newThreadColumns(track.Name, startOf(c.tables))
		if track.Main {
			t.Name = "GeckoMain"
		}
		c.tracks[b.Series.Track] = t
		c.profile.Threads = append(c.profile.Threads, t)
	}
	switch b.Series.Kind {
	case stream.Samples:
		return t.samples(b)
	case stream.Markers:
		c.markers(t.Markers, b)
	}
	return nil
}

func newThreadColumns(name string, start stream.Time) *columns {
	return &columns{Name: name, last: start,
		Samples: sampleColumns{Stack: []int32{}, TimeDeltas: []float64{}, WeightType: "samples"},
		Markers: &markerColumns{Data: []any{}, Name: []int32{}, StartTime: []float64{}, EndTime: []*float64{}, Phase: []int32{}, Category: []int32{}}}
}

func (t *columns) samples(b *stream.Batch) error {
	s := &t.Samples
	for i, at := range b.Time {
		if b.Stack[i] == 0 {
			return errNoStack
		}
		s.Stack = append(s.Stack, int32(b.Stack[i])-1)
		s.TimeDeltas = append(s.TimeDeltas, float64(at-t.last)/1e6)
		t.last = at
	}
	s.CPU = append(s.CPU, b.CPU...)
	s.Length += b.Len()
	return nil
}

func (c *columnar) markers(m *markerColumns, b *stream.Batch) {
	event, start := c.tables.Event(b.Series.Event), startOf(c.tables)
	name := c.text(event.Name)
	for i, at := range b.Time {
		m.Data = append(m.Data, typedPayload(event, b, i))
		m.Name = append(m.Name, name)
		m.StartTime = append(m.StartTime, float64(at-start)/1e6)
		var end *float64
		if b.Phase[i] == stream.Interval {
			ms := float64(at+stream.Time(b.Duration[i])-start) / 1e6
			end = &ms
		}
		m.EndTime = append(m.EndTime, end)
		m.Phase = append(m.Phase, int32(b.Phase[i]))
		m.Category = append(m.Category, int32(event.Category)-1)
	}
	m.Length += b.Len()
}

func (c *columnar) text(s string) int32 {
	number, ok := c.strings[s]
	if !ok {
		number = int32(len(c.profile.Shared.Strings))
		c.strings[s] = number
		c.profile.Shared.Strings = append(c.profile.Shared.Strings, s)
	}
	return number
}

func (c *columnar) Close() error {
	c.stacks()
	c.frames()
	return c.encode(c.out, &c.profile)
}

func (c *columnar) stacks() {
	t := &c.profile.Shared.Stacks
	for id := stream.StackID(1); int(id) <= c.tables.Stacks.Len(); id++ {
		caller, frame := c.tables.Stacks.At(id)
		offset := int32(0)
		if caller != 0 {
			offset = int32(id - caller)
		}
		t.Frame, t.PrefixOffset = append(t.Frame, int32(frame)-1), append(t.PrefixOffset, offset)
	}
	t.Length = len(t.Frame)
}

func (c *columnar) frames() {
	frames, funcs := &c.profile.Shared.Frames, &c.profile.Shared.Funcs
	known := map[stream.StringID]int32{}
	for id := stream.FrameID(1); int(id) <= c.tables.Frames.Len(); id++ {
		f := c.tables.Frames.At(id)
		n, ok := known[f.Function]
		if !ok {
			n = int32(len(funcs.Name))
			known[f.Function] = n
			funcs.Name = append(funcs.Name, c.text(c.tables.Strings.At(f.Function)))
		}
		frames.Address = append(frames.Address, int64(f.Offset))
		frames.Lib = append(frames.Lib, int32(f.Module)-1)
		frames.Category = append(frames.Category, int32(f.Category)-1)
		frames.Func = append(frames.Func, n)
		frames.Line = append(frames.Line, f.Line)
	}
	frames.Length, funcs.Length = len(frames.Func), len(funcs.Name)
}

// startOf is the start of a profile: a whole millisecond.
func startOf(t *stream.Tables) stream.Time {
	const whole = 1_000_000
	start := t.Processes[0].Start
	return start - start%whole
}
