package stream_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/stream"
	"gprof/stream/streamtest"
)

func TestMerge(t *testing.T) {
	b := streamtest.Busy(5000)
	half := len(b.Rows) / 2
	first := streamtest.NewSource(b.Tables, streamtest.Batches(b.Tables, b.Rows[:half], 50)...)
	second := streamtest.NewSource(b.Tables, streamtest.Batches(b.Tables, b.Rows[half:], 70)...)
	empty := streamtest.NewSource(b.Tables)
	want := text(t, b.Source(), stream.CopyOptions{})
	if got := text(t, stream.Merge(b.Tables, empty, second, empty, first), stream.CopyOptions{}); got != want {
		t.Error("merged sources give something else than one source")
	}
	if f := (&failingPipe{Source: b.Source(), in: "next"}); !errors.Is(stream.Merge(b.Tables, f).Next(new(stream.Batch)), errTest) {
		t.Error("a source's error is lost")
	}
}

func TestTee(t *testing.T) {
	b := streamtest.Busy(2000)
	want := text(t, b.Source(), stream.CopyOptions{})
	var x, y bytes.Buffer
	tee := stream.Tee(streamtest.NewText(&x), streamtest.NewText(&y))
	if err := stream.Copy(tee, b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	if x.String() != want || y.String() != want {
		t.Error("sinks behind a tee are given something else")
	}
	for _, in := range []string{"begin", "segment", "close"} {
		tee := stream.Tee(stream.Discard, &failingPipe{in: in})
		if err := stream.Copy(tee, b.Source(), stream.CopyOptions{}); !errors.Is(err, errTest) {
			t.Errorf("the error of %s becomes %v", in, err)
		}
	}
}

func TestCount(t *testing.T) {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Start: 10})
	q := b.Process(stream.Process{Instance: 2, Start: 20})
	load, save := b.Event(stream.Event{Name: "load"}), b.Event(stream.Event{Name: "save"})
	worker := p.Track("worker")
	worker.Sample(30, 0)
	worker.Add(streamtest.Row{Time: 40, Weight: 5})
	worker.Interval(15, 100, load)
	worker.Interval(50, 2, load)
	worker.Mark(60, stream.Instant, save)
	q.Main.Mark(70, stream.Instant, save)
	q.Log(25, stream.LogInfo, "")

	var c stream.Count
	if err := stream.Copy(streamtest.Validate(&c), b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		match func(stream.Series) bool
		want  stream.Tally
	}{
		{"all", func(stream.Series) bool { return true }, stream.Tally{Rows: 7, Samples: 6, First: 15, Last: 115}},
		{"none", func(stream.Series) bool { return false }, stream.Tally{}},
		{"samples", func(s stream.Series) bool { return s.Kind == stream.Samples }, stream.Tally{Rows: 2, Samples: 6, First: 30, Last: 40}},
		{"load", func(s stream.Series) bool { return s.Event == 1 }, stream.Tally{Rows: 2, First: 15, Last: 115}},
		{"save", func(s stream.Series) bool { return s.Event == 2 }, stream.Tally{Rows: 2, First: 60, Last: 70}},
		{"process 2", func(s stream.Series) bool { return s.Process == 2 }, stream.Tally{Rows: 2, First: 25, Last: 70}},
		{"worker", func(s stream.Series) bool { return s.Track == 2 }, stream.Tally{Rows: 5, Samples: 6, First: 15, Last: 115}},
	}
	for _, test := range tests {
		if got := c.Sum(test.match); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
	kinds := stream.Count{Kinds: true}
	if err := stream.Copy(streamtest.Validate(&kinds), b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	if sameKinds(t, &kinds, &c); len(kinds.Series) != 3 {
		t.Errorf("tallies of %d kinds, want 3", len(kinds.Series))
	}
	if c.Tables.Event(1).Name != "load" || len(c.Series) != 5 {
		t.Errorf("tables %v, %d series, want 5", c.Tables.Events, len(c.Series))
	}
}

// A series in many segments is one tally.
func TestCountSegments(t *testing.T) {
	b := streamtest.NewBuilder()
	main := b.Process(stream.Process{Instance: 1}).Main
	for i := range stream.Time(20_000) {
		main.Sample(i+7, 0)
	}
	var c stream.Count
	if err := stream.Copy(&c, b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	want := stream.Tally{Rows: 20_000, Samples: 20_000, First: 7, Last: 20_006}
	if len(c.Series) != 1 || c.Series[0].Tally != want {
		t.Errorf("%+v, want %+v", c.Series, want)
	}
}

// quietSource is a source that does not tell its progress.
type quietSource struct{ stream.Source }

// The end of each phase is reported, however little there is to copy.
func TestCopyProgress(t *testing.T) {
	const rows = 300
	src := streamtest.Busy(rows).Source()
	for _, s := range []stream.Source{src, quietSource{src}, stream.Merge(src.Tables(), src)} {
		src.Rewind()
		var calls []string
		err := stream.Copy(stream.Discard, s, stream.CopyOptions{Progress: func(done, total int64, phase string) {
			calls = append(calls, phase)
			if done != rows || total != rows {
				t.Errorf("%s: %d of %d, want %d of both", phase, done, total, rows)
			}
		}})
		if want := []string{stream.PhaseReading, stream.PhaseWriting}; err != nil || !slices.Equal(calls, want) {
			t.Errorf("%v; calls for %q, want %q", err, calls, want)
		}
	}
}

// Losses of one output are neither in the ledger of another nor in that of the tables;
// losses of the recording are in all.
func TestOutputLedgers(t *testing.T) {
	b := streamtest.NewBuilder()
	b.Process(stream.Process{Instance: 1})
	gap := stream.Line{Process: "a", Reason: stream.ReasonGap, What: "chunks", Where: "3", Count: 1, Bytes: 9}
	old := stream.Line{Process: "b", Reason: stream.ReasonUnsupported, What: "logs", Count: 1}
	b.Tables.Ledger.Add(gap)
	b.Tables.Ledger.Add(old)
	lossy := func(what string) *stream.Output {
		return stream.NewOutput(&streamtest.LossySink{Loss: stream.Line{Process: "b", Reason: stream.ReasonUnsupported, What: what, Count: 2}})
	}
	first, second := lossy("markers"), lossy("logs")
	var count stream.Count
	if err := stream.Copy(stream.Tee(first, &count, second), b.Source(), stream.CopyOptions{Outputs: 2}); err != nil {
		t.Fatal(err)
	}
	markers, logs := old, old
	markers.What, markers.Count = "markers", 2
	logs.Count = 2
	both := old
	both.Count = 3
	for _, tt := range []struct {
		name      string
		got, want []stream.Line
	}{
		{"recording", count.Tables.Ledger.Lines(), []stream.Line{gap, old}},
		{"first", first.Ledger().Lines(), []stream.Line{gap, old, markers}},
		{"first alone", first.Added(), []stream.Line{markers}},
		{"second", second.Ledger().Lines(), []stream.Line{gap, both}},
		{"second alone", second.Added(), []stream.Line{logs}},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s: -want +got: %s", tt.name, diff)
		}
	}
	if worst, any := first.Ledger().Worst(); worst != stream.Loss || !any {
		t.Errorf("the worst of a branch is %v, %v", worst, any)
	}
}

// The more outputs share the memory, the less of it is for tables, and the error asks for
// enough for all of them.
func TestOutputsShareMemory(t *testing.T) {
	need := func(outputs int) int64 {
		b := streamtest.NewBuilder()
		p := b.Process(stream.Process{Instance: 1})
		for i := range 20_000 {
			p.Main.Sample(stream.Time(i), b.Stack("main", fmt.Sprint("function ", i)))
		}
		var tooMuch *stream.ErrMemory
		if err := stream.Copy(stream.Discard, b.Source(), stream.CopyOptions{Memory: 1 << 20, Outputs: outputs}); !errors.As(err, &tooMuch) {
			t.Fatalf("%d outputs: %v", outputs, err)
		}
		if tooMuch.Have != 1<<20 {
			t.Errorf("has %d bytes", tooMuch.Have)
		}
		return tooMuch.Need
	}
	one, four := need(1), need(4)
	if four < one*3/2 || four > one*5/2 {
		t.Errorf("one output needs %d bytes, four need %d, want about twice as much", one, four)
	}
}
