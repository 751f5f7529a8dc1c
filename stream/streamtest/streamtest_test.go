package streamtest

import (
	"errors"
	"io"
	"strings"
	"testing"

	"gprof/stream"
)

// The text sink conforms as a sink.
func TestText(t *testing.T) {
	TestSink(t, NewText, func(t *testing.T, output []byte) {
		if s := string(output); !strings.HasPrefix(s, "begin\n") || !strings.HasSuffix(s, "close\n") {
			t.Errorf("text lacks begin or close: %.60q", s)
		}
	})
}

func TestSources(t *testing.T) {
	for _, c := range Cases {
		t.Run(c.Name, func(t *testing.T) {
			b := NewBuilder()
			c.Build(b)
			TestSource(t, func(*testing.T) stream.Source {
				src := b.Shuffled(3)
				return stream.Merge(src.Tables(), src)
			})
		})
	}
}

// good are tables and a segment without a fault; each fault is one change of them.
func good() (*stream.Tables, *stream.Batch) {
	b := NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 1, OutPid: "1", Name: "a", Start: 5, End: 9})
	other := b.Tables.Categories.Intern(stream.Other)
	e := b.Event(stream.Event{Name: "e", Category: other, Fields: []stream.EventField{{Name: "f", Type: stream.Int}}})
	frame := stream.Frame{Function: b.Tables.Strings.Intern("f"), Category: other}
	s := stream.Series{Kind: stream.Markers, Event: e}
	stack := b.StackOf(frame, frame)
	p.Main.Add(Row{Series: s, Time: 6, Index: 1, Args: []any{1}, Stack: stack})
	p.Main.Add(Row{Series: s, Time: 6, Index: 2, Args: []any{nil}, Phase: stream.Interval, Duration: 3})
	return b.Tables, Batches(b.Tables, b.Rows, 10)[0]
}

// give gives a sink one segment.
func give(s stream.Sink, t *stream.Tables, b *stream.Batch) error {
	if err := s.Begin(t); err != nil {
		return err
	}
	if err := s.Segment(b); err != nil {
		return err
	}
	return s.Close()
}

func TestValidateFaults(t *testing.T) {
	tables, b := good()
	if err := give(Validate(stream.Discard), tables, b); err != nil {
		t.Fatal("without a fault:", err)
	}
	faults := map[string]func(*stream.Tables, *stream.Batch){
		"lost pid": func(t *stream.Tables, _ *stream.Batch) { t.Processes[0].OutPid = "2" },
		"same name": func(t *stream.Tables, _ *stream.Batch) {
			t.Processes[0].OutPid = "1 (0001)"
			twin(t, stream.Process{Instance: 2, Pid: 1, OutPid: "1 (0002)", Name: "a", Start: 5})
		},
		"own parent":     func(t *stream.Tables, _ *stream.Batch) { t.Processes[0].Parent = 1 },
		"no such parent": func(t *stream.Tables, _ *stream.Batch) { t.Processes[0].Parent = 2 },
		"end first":      func(t *stream.Tables, _ *stream.Batch) { t.Processes[0].End = 4 },
		"same pid": func(t *stream.Tables, _ *stream.Batch) {
			twin(t, stream.Process{Instance: 2, Pid: 1, OutPid: "1", Start: 5})
		},
		"processes": func(t *stream.Tables, _ *stream.Batch) {
			twin(t, stream.Process{Instance: 2, Pid: 3, OutPid: "3", Start: 4})
		},
		"no main": func(t *stream.Tables, _ *stream.Batch) {
			t.Processes = append(t.Processes, stream.Process{Instance: 2, Pid: 3, OutPid: "3", Start: 5})
		},
		"two mains": func(t *stream.Tables, _ *stream.Batch) {
			t.Tracks.Intern(stream.Track{Process: 1, Main: true, Name: "b"})
		},
		"tracks":          func(t *stream.Tables, _ *stream.Batch) { addTracks(t, "b", "a") },
		"track of none":   func(t *stream.Tables, _ *stream.Batch) { t.Tracks.Intern(stream.Track{Process: 2}) },
		"spare counter":   func(t *stream.Tables, _ *stream.Batch) { t.Counters.Intern(stream.Counter{Process: 1}) },
		"counter of none": func(t *stream.Tables, _ *stream.Batch) { t.Counters.Intern(stream.Counter{Name: "c"}) },
		"spare string":    func(t *stream.Tables, _ *stream.Batch) { t.Strings.Intern("z") },
		"strings":         func(t *stream.Tables, _ *stream.Batch) { t.Strings.Intern("a") },
		"spare module":    func(t *stream.Tables, _ *stream.Batch) { t.Modules.Intern(stream.Module{Name: "m"}) },
		"spare category":  func(t *stream.Tables, _ *stream.Batch) { t.Categories.Intern(stream.Category{Name: "c"}) },
		"no Other":        func(t *stream.Tables, _ *stream.Batch) { t.Categories = (&stream.Tables{}).Categories },
		"spare stack":     func(t *stream.Tables, _ *stream.Batch) { t.Stacks.Intern(2, 1) },
		"stack's frame":   func(t *stream.Tables, _ *stream.Batch) { t.Stacks.Intern(0, 7) },
		"frame's module":  func(t *stream.Tables, _ *stream.Batch) { t.Frames.Intern(stream.Frame{Module: 1, Category: 1}) },
		"frames":          func(t *stream.Tables, _ *stream.Batch) { t.Frames.Intern(stream.Frame{Category: 1}) },
		"spare event":     func(t *stream.Tables, _ *stream.Batch) { t.AddEvent(stream.Event{Name: "x", Category: 1}) },
		"events":          func(t *stream.Tables, _ *stream.Batch) { t.AddEvent(stream.Event{Name: "a", Category: 1}) },
		"event category":  func(t *stream.Tables, _ *stream.Batch) { t.Events[0].Category = 0 },

		"no rows":        func(_ *stream.Tables, b *stream.Batch) { b.Reset(b.Series, 1) },
		"short column":   func(_ *stream.Tables, b *stream.Batch) { b.Stack = b.Stack[:1] },
		"extra column":   func(_ *stream.Tables, b *stream.Batch) { b.Weight = append(b.Weight, 1, 1) },
		"missing track":  func(_ *stream.Tables, b *stream.Batch) { b.Series.Track = 0 },
		"no such track":  func(_ *stream.Tables, b *stream.Batch) { b.Series.Track = 2 },
		"no such event":  func(_ *stream.Tables, b *stream.Batch) { b.Series.Event = 2 },
		"with a counter": func(_ *stream.Tables, b *stream.Batch) { b.Series.Counter = 1 },
		"arguments":      func(_ *stream.Tables, b *stream.Batch) { b.Args = b.Args[:0] },
		"time":           func(_ *stream.Tables, b *stream.Batch) { b.Time[1] = 5 },
		"index":          func(_ *stream.Tables, b *stream.Batch) { b.Index[1] = 1 },
		"stack":          func(_ *stream.Tables, b *stream.Batch) { b.Stack[0] = 3 },
		"phase":          func(_ *stream.Tables, b *stream.Batch) { b.Phase[0] = 4 },
		"instant's end":  func(_ *stream.Tables, b *stream.Batch) { b.Duration[0] = 1 },
		"negative":       func(_ *stream.Tables, b *stream.Batch) { b.Duration[1] = -1 },
		"endless":        func(_ *stream.Tables, b *stream.Batch) { b.Duration[1] = 1<<63 - 1 },
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			tables, b := good()
			fault(tables, b)
			if err := give(Validate(stream.Discard), tables, b); !errors.Is(err, ErrInvalid) {
				t.Errorf("got %v, want %v", err, ErrInvalid)
			}
		})
	}
}

func twin(t *stream.Tables, p stream.Process) {
	t.Processes = append(t.Processes, p)
	t.Tracks.Intern(stream.Track{Process: stream.ProcessID(len(t.Processes)), Main: true})
}

func addTracks(t *stream.Tables, names ...string) {
	for _, n := range names {
		t.Tracks.Intern(stream.Track{Process: 1, Name: n})
	}
}

func TestValidateRows(t *testing.T) {
	tests := []struct {
		name string
		add  func(*Process)
	}{
		{"weight", func(p *Process) { p.Main.Add(Row{Weight: -1}) }},
		{"cpu", func(p *Process) { p.Main.Add(Row{CPU: -2}) }},
		{"reason of a pause", func(p *Process) { p.Pause(1, stream.PhaseEnd, 3) }},
		{"phase of a pause", func(p *Process) { p.Pause(1, stream.Instant, 0) }},
		{"level of a log", func(p *Process) { p.Log(1, 3, "") }},
		{"phase of a page", func(p *Process) { p.Page(1, stream.Interval, 0, 0, 0, 0, "") }},
		{"time of two rows", func(p *Process) {
			p.Main.Add(Row{Time: 2, Index: 1})
			p.Main.Add(Row{Time: 2, Index: 1})
		}},
	}
	for _, test := range tests {
		b := NewBuilder()
		test.add(b.Process(stream.Process{Instance: 1}))
		if err := stream.Copy(Validate(stream.Discard), b.Source(), stream.CopyOptions{}); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: got %v, want %v", test.name, err, ErrInvalid)
		}
	}
}

func TestValidateCalls(t *testing.T) {
	tables, b := good()
	later := *b
	later.Time, later.Index = []stream.Time{6, 7}, []uint64{2, 3} // begins with the last row
	s := Validate(stream.Discard)
	want := func(what string, err error, invalid bool) {
		t.Helper()
		if errors.Is(err, ErrInvalid) != invalid {
			t.Errorf("%s: %v", what, err)
		}
	}
	want("segment first", s.Segment(b), true)
	want("close first", s.Close(), true)
	want("begin", s.Begin(tables), false)
	want("begin again", s.Begin(tables), true)
	want("segment", s.Segment(b), false)
	want("overlap", s.Segment(&later), true)
	want("same again", s.Segment(b), true)
	want("close", s.Close(), false)
	want("segment after close", s.Segment(b), true)
	want("close again", s.Close(), true)
}

// carelessSink changes what does not belong to it.
type carelessSink struct{ stream.Sink }

func (carelessSink) Segment(b *stream.Batch) error {
	b.Time[0]--
	return nil
}

// brokenSink returns an error at the first segment.
type brokenSink struct{ stream.Sink }

func (brokenSink) Segment(*stream.Batch) error { return io.ErrShortWrite }

func TestValidateSink(t *testing.T) {
	tables, b := good()
	if err := give(Validate(carelessSink{stream.Discard}), tables, b); !errors.Is(err, ErrInvalid) {
		t.Errorf("a sink that changes a batch: %v", err)
	}
	s := Validate(brokenSink{stream.Discard})
	if err := give(s, tables, b); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("a sink that fails: %v", err)
	}
	if err := s.Close(); !errors.Is(err, ErrInvalid) {
		t.Errorf("close after an error: %v", err)
	}
}
