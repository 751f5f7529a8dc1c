package tables

import (
	"io"
	"testing"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// A recursion of which each depth was sampled: a row has the innermost frames only, or
// all rows would be as large as the square of the depth. The ledger counts those rows.
func TestDeepStacks(t *testing.T) {
	const depth = maxFrames + 10
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Name: "p"})
	frame := stream.Frame{Function: b.Tables.Strings.Intern("f")}
	at := stream.StackID(0)
	for i := range stream.Time(depth) {
		at = b.Tables.Stacks.Intern(at, b.Tables.Frames.Intern(frame))
		if i >= depth-20 {
			p.Main.Sample(i, at)
		}
	}
	var rows depths
	format := Format{Extension: ".x", OneFile: true, Begin: func(_ io.Writer, d *Definition, _ int) Writer {
		if d.Name == "stacks" {
			return &rows
		}
		return nothing{}
	}}
	var count stream.Count
	if err := stream.Copy(stream.Tee(New(nowhere{}, format, Options{}), &count), b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	lists := 0
	for i, n := range rows.frames {
		if want := min(rows.depth[i], maxFrames); n != 0 && n != want {
			t.Errorf("a stack of depth %d has %d frames, want %d", rows.depth[i], n, want)
		} else if n != 0 {
			lists++
		}
	}
	if len(rows.depth) != depth || rows.depth[depth-1] != depth || lists != 20 {
		t.Errorf("%d stacks, the last of depth %d, %d with frames", len(rows.depth), rows.depth[len(rows.depth)-1], lists)
	}
	if lines := count.Tables.Ledger.Lines(); len(lines) != 1 || lines[0].Reason != stream.ReasonMoved || lines[0].Count != 10 {
		t.Errorf("ledger %v", lines)
	}
}

// depths are the depths and the numbers of frames of the rows of a table of stacks.
type depths struct {
	nothing
	depth, frames []int
}

func (d *depths) Write(columns []Values, done func()) error {
	defer done()
	for i := range columns[8].Rows {
		from, to := columns[8].ListAt(i)
		d.depth, d.frames = append(d.depth, int(columns[7].Shorts[i])), append(d.frames, to-from)
	}
	return nil
}

// nothing is a table that nobody reads, nowhere a directory.
type (
	nothing struct{}
	nowhere struct{}
)

func (nothing) Write(_ []Values, done func()) error { done(); return nil }
func (nothing) Waiting() int                        { return 0 }
func (nothing) Cut() error                          { return nil }
func (nothing) Close() error                        { return nil }

func (nowhere) Create(string) (io.WriteCloser, error) { return nowhere{}, nil }
func (nowhere) Write(p []byte) (int, error)           { return len(p), nil }
func (nowhere) Close() error                          { return nil }
