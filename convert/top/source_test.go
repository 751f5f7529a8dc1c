package top

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// Lines are summed up each by itself, with what they call, also what was inlined; a recursion has each sample once.
func TestSource(t *testing.T) {
	b := streamtest.NewBuilder()
	text := func(s string) stream.StringID { return b.Tables.Strings.Intern(s) }
	at := func(function, file string, line, start, depth int32) stream.Frame {
		return stream.Frame{Function: text(function), File: text(file), Line: line, Start: start, Depth: depth, Offset: uint64(line)}
	}
	work := func(line int32) stream.Frame { return at("shop/price.(*List).work", "/src/price.go", line, 10, 0) }
	p := b.Process(stream.Process{Instance: 1, Name: "shop", Start: 5, End: 9, Go: "go1.26"})
	add := func(cpu int64, frames ...stream.Frame) {
		p.Main.Add(streamtest.Row{Time: 6, Stack: b.StackOf(frames...), Weight: 1, CPU: cpu})
	}
	root := at("main.main", "/src/main.go", 3, 1, 0)
	add(10, root, work(12))
	add(20, root, work(12), at("shop/price.inlined", "/src/price.go", 30, 29, 1))
	add(40, root, work(14), work(12))
	add(80, root)
	sink, err := NewSource("(*List).work", Auto)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Copy(streamtest.Validate(sink), b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	cpu := func(n, ns int64) Amount { return Amount{Samples: n, Timed: n, CPU: ns} }
	want := &Listing{Of: Auto, All: cpu(4, 150), Recorded: 5, Go: "go1.26", Functions: []Function{{
		Name: "shop/price.(*List).work", File: "/src/price.go", Start: 10, Self: cpu(2, 50), Total: cpu(3, 70),
		Lines: []Line{{Line: 12, Self: cpu(2, 50), Total: cpu(3, 70)}, {Line: 14, Total: cpu(1, 40)}},
	}}}
	if diff := cmp.Diff(want, sink.Listing, cmpopts.IgnoreUnexported(Listing{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	for name, found := range map[string]bool{"shop/price.(*List).work": true, "price.(*List).work": true, "work": true, "ork": false, "price": false} {
		sink, err := NewSource(name, Auto)
		if err != nil {
			t.Fatal(err)
		}
		if err := stream.Copy(sink, b.Source(), stream.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
		if l := sink.Listing; len(l.Functions) == 1 != found || !found && !slices.Contains(l.Similar, "shop/price.(*List).work") {
			t.Errorf("%s: %+v", name, l)
		}
	}
	moon, err := NewSource("work", "moon")
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Copy(moon, b.Source(), stream.CopyOptions{}); !errors.As(err, new(*MeasureError)) {
		t.Errorf("of moon: %v", err)
	}
}
