package gecko

import (
	"testing"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// The viewer moves the addresses of frames that call, and of the stacks of markers,
// one byte back: all of them come out where they were. A stack that was sampled and
// called from is two.
func TestCallersAddresses(t *testing.T) {
	profile := build(t, func(b *streamtest.Builder, p *streamtest.Process) {
		lib := b.Tables.Modules.Intern(stream.Module{Name: "lib"})
		outer, inner := stream.Frame{Module: lib, Offset: 0x10}, stream.Frame{Module: lib, Offset: 0x20}
		p.Main.Sample(begin, b.StackOf(outer))
		p.Main.Sample(begin+1, b.StackOf(outer, inner))
		event := b.Event(stream.Event{Name: "captured"})
		p.Main.Add(streamtest.Row{Series: stream.Series{Kind: stream.Markers, Event: event}, Time: begin + 2, Stack: b.StackOf(outer, inner)})
	})
	thread := members(profile.list("threads"))[0]
	stacks, frames, texts := thread.table("stackTable"), thread.table("frameTable"), thread.list("stringTable")
	var locations func(stack any) string
	locations = func(stack any) string {
		if stack == nil {
			return ""
		}
		frame := int(stacks.cell(int(stack.(float64)), "frame").(float64))
		text := texts[int(frames.cell(frame, "location").(float64))].(string)
		return locations(stacks.cell(int(stack.(float64)), "prefix")) + " " + text
	}
	samples := thread.table("samples")
	marker := newTable(thread.table("markers").cell(0, "data").(map[string]any)["stack"].(map[string]any)["samples"].(map[string]any))
	for i, tt := range []struct {
		stack any
		want  string
	}{
		{samples.cell(0, "stack"), " 0x1000000000010"},
		{samples.cell(1, "stack"), " 0x1000000000011 0x1000000000020"},
		{marker.cell(0, "stack"), " 0x1000000000011 0x1000000000021"},
	} {
		if got := locations(tt.stack); got != tt.want {
			t.Errorf("stack %d is%s, want%s", i, got, tt.want)
		}
	}
}

// The highest address is not moved: none lies behind it.
func TestLastAddress(t *testing.T) {
	b := streamtest.NewBuilder()
	b.StackOf(stream.Frame{Offset: 1<<64 - 1}, stream.Frame{Offset: 1})
	var c code
	c.build(b.Tables)
	if c.stacks[1] != c.calls[1] {
		t.Errorf("the last address is %d, and %d of what calls", c.stacks[1], c.calls[1])
	}
}
