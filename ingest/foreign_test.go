package ingest

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"gprof/chunks"
	"gprof/stream"
	"gprof/stream/filter"
	"gprof/stream/streamtest"
)

// told is a foreign file of one sample for each process.
type told []stream.Process

func (f *told) Processes() []stream.Process { return *f }

func (f *told) Lacks() string { return "nearly all" }

func (f *told) Source(t *stream.Tables, ids []stream.ProcessID, shift stream.Time) stream.Source {
	var rows []streamtest.Row
	for i, p := range *f {
		if ids[i] != 0 {
			track := t.Tracks.Intern(stream.Track{Process: ids[i], Main: true})
			rows = append(rows, streamtest.Row{Series: stream.Series{Process: ids[i], Track: track}, Time: p.Start + shift, Index: 1, Weight: 1})
		}
	}
	return streamtest.NewSource(t, streamtest.Batches(t, rows, 1)...)
}

// findTold is what a search for these files finds.
func findTold(files ...*told) *Found {
	f := new(Found)
	for _, file := range files {
		for i, row := range *file {
			f.Processes = append(f.Processes, &Process{Process: &chunks.Process{Instance: row.Instance}, Location: "x",
				foreign: &foreignProcess{file: file, number: i, format: "told", size: 7}})
		}
	}
	f.order()
	return f
}

var clocked = stream.Clock{By: "the file"}

func TestForeignIsPlaced(t *testing.T) {
	known := &told{{Instance: 1, Name: "a", Start: 1000, End: 1500, Clock: clocked}, {Instance: 2, Parent: 1, Name: "b", Start: 1200, Clock: clocked}}
	unknown := &told{{Instance: 3, Name: "c", Start: 70}, {Instance: 4, Name: "d", Start: 75}}
	again := &told{{Instance: 1, Name: "a", Start: 1000, End: 1500, Clock: clocked}}
	var want []byte
	for _, files := range [][]*told{{known, unknown, again}, {again, unknown, known}} {
		found := findTold(files...)
		if start, end := found.Span(); start != 1000 || end != 1500 {
			t.Errorf("the run is from %d to %d, want 1000 to 1500", start, end)
		}
		var text bytes.Buffer
		if err := stream.Copy(streamtest.Validate(streamtest.NewText(&text)), found.Source(), stream.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = text.Bytes()
		}
		if !bytes.Equal(text.Bytes(), want) {
			t.Errorf("in another order there comes\n%s\nbefore:\n%s", text.Bytes(), want)
		}
		for _, line := range []string{"Name:a", "  1000 #1", "  1200 #1", "  1005 #1", "the start of the run", "Parent:1"} {
			if !bytes.Contains(text.Bytes(), []byte(line)) {
				t.Errorf("%q is not in\n%s", line, text.Bytes())
			}
		}
	}
}

func TestForeignIsSelected(t *testing.T) {
	for _, c := range []struct {
		s    Selection
		want int
	}{
		{Selection{}, 2},
		{Selection{Processes: filter.Patterns{"b"}}, 1},
		{Selection{From: 1600, To: 3000}, 1}, // the end of b is not known
		{Selection{From: 100, To: 1000}, 0},
		{Selection{From: 100, To: 1100}, 1},
	} {
		found := findTold(&told{{Instance: 1, Name: "a", Start: 1000, End: 1500, Clock: clocked}, {Instance: 2, Name: "b", Start: 1200, Clock: clocked}})
		src, err := found.Select(c.s)
		if err != nil {
			t.Fatal(err)
		}
		var count stream.Count
		if err := stream.Copy(&count, src, stream.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
		if n := count.Sum(func(stream.Series) bool { return true }).Rows; n != int64(c.want) {
			t.Errorf("%+v gives %d rows, want %d", c.s, n, c.want)
		}
	}
}

func TestForeignIsNoRecording(t *testing.T) {
	found := findTold(&told{{Instance: 1, Clock: clocked}})
	_, packed := found.Pack(io.Discard, PackOptions{})
	for what, err := range map[string]error{"pack": packed, "unpack": found.Unpack(t.TempDir(), nil), "inspect": found.Inspect(io.Discard)} {
		if !errors.Is(err, ErrNotOurs) {
			t.Errorf("%s: %v, want %v", what, err, ErrNotOurs)
		}
	}
	if v := found.Verify(); len(v) != 0 {
		t.Errorf("verified %v", v)
	}
	if format, lacks := found.Processes[0].Foreign(); format != "told" || lacks != "nearly all" || found.Processes[0].Bytes() != 7 {
		t.Error(format, lacks)
	}
}
