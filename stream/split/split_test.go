package split_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/stream"
	"gprof/stream/split"
	"gprof/stream/streamtest"
)

// rowTexts is a sink that keeps its rows as texts, in which there are no ids.
type rowTexts struct {
	tables *stream.Tables
	rows   []string
	closed bool
}

func (r *rowTexts) Begin(t *stream.Tables) error { r.tables = t; return nil }
func (r *rowTexts) Close() error                 { r.closed = true; return nil }

func (r *rowTexts) Segment(b *stream.Batch) error {
	t, s := r.tables, b.Series
	head := fmt.Sprintf("%x %v", t.Process(s.Process).Instance, s.Kind)
	if s.Track != 0 {
		track := t.Tracks.At(s.Track)
		head += fmt.Sprintf(" track %q %v of %x", track.Name, track.Main, t.Process(track.Process).Instance)
	}
	if s.Event != 0 {
		head += " event " + t.Event(s.Event).Name
	}
	if s.Counter != 0 {
		counter := t.Counters.At(s.Counter)
		head += fmt.Sprintf(" counter %s of %x", counter.Name, t.Process(counter.Process).Instance)
	}
	for i := range b.Time {
		row := fmt.Sprint(head, " ", b.Time[i], " ", b.Index[i])
		if len(b.Weight) > 0 {
			row += fmt.Sprint(" ", b.Weight[i], b.CPU[i])
		}
		if len(b.Stack) > 0 {
			row += functionsOf(t, b.Stack[i])
		}
		for k := range b.Args {
			row += fmt.Sprintf(" %q", fmt.Sprint(streamtest.Arg(&b.Args[k], i)))
		}
		r.rows = append(r.rows, row)
	}
	return nil
}

// functionsOf names the functions of a stack, the innermost first.
func functionsOf(t *stream.Tables, id stream.StackID) (names string) {
	for id != 0 {
		parent, frame := t.Stacks.At(id)
		names += " " + t.Strings.At(t.Frames.At(frame).Function)
		id = parent
	}
	return names
}

// partSink is a sink of a part.
type partSink struct {
	split.Part
	*rowTexts
}

const tick = stream.Time(250e6)

// Each row is in one part, as it was in the whole. A part is a valid stream, with only
// the processes of its rows.
func TestSplit(t *testing.T) {
	for _, c := range streamtest.Cases {
		for name, by := range map[string]split.Sink{"process": {}, "track": {Tracks: true}, "time": {Every: tick}} {
			t.Run(c.Name+"/"+name, func(t *testing.T) {
				b := streamtest.NewBuilder()
				c.Build(b)
				var whole rowTexts
				if err := stream.Copy(&whole, b.Source(), stream.CopyOptions{}); err != nil {
					t.Fatal(err)
				}
				var parts []partSink
				by.Open = func(p split.Part) (stream.Sink, error) {
					if n := len(parts); n > 0 && !parts[n-1].closed {
						t.Error("two are open")
					}
					parts = append(parts, partSink{p, new(rowTexts)})
					return streamtest.Validate(parts[len(parts)-1].rowTexts), nil
				}
				src := stream.Source(b.Shuffled(1))
				if by.Every > 0 {
					src = split.ByTime(src, by.Every)
				}
				if err := stream.Copy(&by, src, stream.CopyOptions{}); err != nil {
					t.Fatal(err)
				}
				var all []string
				for _, p := range parts {
					p.check(t)
					all = append(all, p.rows...)
				}
				slices.Sort(whole.rows)
				slices.Sort(all)
				if diff := cmp.Diff(whole.rows, all); diff != "" || by.Count() != len(parts) {
					t.Errorf("%d parts, -whole +parts: %s", by.Count(), diff)
				}
			})
		}
	}
}

// check wants that a part holds what it says.
func (o partSink) check(t *testing.T) {
	t.Helper()
	if len(o.rows) == 0 || !o.closed {
		t.Errorf("part %+v has %d rows, closed: %v", o.Part, len(o.rows), o.closed)
	}
	if o.Process != nil && (len(o.tables.Processes) != 1 || o.tables.Processes[0].Instance != o.Process.Instance) {
		t.Errorf("part of %x has %d processes", o.Process.Instance, len(o.tables.Processes))
	}
	if o.Track != nil && o.tables.Tracks.Len() > 2 {
		t.Errorf("part of %q has %d tracks", o.Track.Name, o.tables.Tracks.Len())
	}
	if o.Process == nil && o.To-o.From != tick {
		t.Errorf("part from %d to %d", o.From, o.To)
	}
}

// A format that takes only samples and waits gets no part without them. Rows lost thereby
// are in the ledger, and so are losses of the sinks of parts; no part has the ledger of
// another.
func TestSplitLedger(t *testing.T) {
	b := streamtest.NewBuilder()
	first, second := b.Process(stream.Process{Instance: 0xa}), b.Process(stream.Process{Instance: 0xb, Start: 1})
	third := b.Process(stream.Process{Instance: 0xc, Start: 2})
	third.Main.Wait(2, b.Stack("main"), 5, 1)
	first.Main.Sample(1, b.Stack("main"))
	second.Main.Delay(1, 5)
	second.Main.Delay(2, 5)
	gap := func(of string) stream.Line {
		return stream.Line{Process: of, Reason: stream.ReasonGap, What: "chunks", Count: 1}
	}
	for _, of := range []string{"000000000000000a", "000000000000000b", "000000000000000c", ""} {
		b.Tables.Ledger.Add(gap(of))
	}
	var last *streamtest.LossySink
	split := split.Sink{Kinds: []stream.Kind{stream.Samples, stream.Waits}, Open: func(split.Part) (stream.Sink, error) {
		last = &streamtest.LossySink{Loss: stream.Line{Process: "b", Reason: stream.ReasonUnsupported, What: "markers", Count: 2}}
		return last, nil
	}}
	out := stream.NewOutput(&split)
	if err := stream.Copy(out, b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]stream.Line{gap(""), gap("000000000000000c")}, last.Known); diff != "" || split.Count() != 2 {
		t.Errorf("%d parts; ledger of the part: %s", split.Count(), diff)
	}
	want := []stream.Line{{Process: "000000000000000b", Reason: stream.ReasonNoPlace, What: "delays", Count: 2},
		{Process: "b", Reason: stream.ReasonUnsupported, What: "markers", Count: 4}}
	if diff := cmp.Diff(want, out.Added()); diff != "" {
		t.Error("-want +got:", diff)
	}
}

// A recording is not split into more parts than anybody could want as files.
func TestTooManyParts(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1})
	for i := range split.MaxParts + 1 {
		p.Main.Sample(stream.Time(i)*tick, 0)
	}
	if err := stream.Copy(stream.Discard, split.ByTime(b.Source(), tick), stream.CopyOptions{}); !errors.Is(err, split.ErrParts) {
		t.Errorf("got %v", err)
	}
	if err := stream.Copy(stream.Discard, split.ByTime(b.Source(), 2*tick), stream.CopyOptions{}); err != nil {
		t.Error(err)
	}
}
