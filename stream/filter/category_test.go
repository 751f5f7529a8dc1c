package filter_test

import (
	"strings"
	"testing"

	"gprof/stream"
	"gprof/stream/filter"
	"gprof/stream/streamtest"
)

// A category matches for all its parts; a part has the name of its category before its
// own.
func TestCategoriesOfParts(t *testing.T) {
	for pattern, want := range map[filter.Pattern]string{"Runtime": "abc", "Runtime: Maps": "b", "*: M*": "bd", "Maps": ""} {
		b := streamtest.NewBuilder()
		p := b.Process(stream.Process{Instance: 1})
		for i, c := range []stream.Category{{Name: "Runtime"}, {Name: "Runtime", Sub: "Maps"}, {Name: "Runtime", Sub: "Locks"}, {Name: "Other", Sub: "More"}} {
			name := string(rune('a' + i))
			frame := stream.Frame{Label: true, Function: b.Tables.Strings.Intern(name), Category: b.Tables.Categories.Intern(c)}
			p.Main.Sample(stream.Time(i+1), b.StackOf(frame))
		}
		var got strings.Builder
		sink := &functions{to: &got}
		err := stream.Copy(sink, filter.ByCategory(b.Source(), filter.Patterns{pattern}), stream.CopyOptions{})
		if (err == nil) != (want != "") || got.String() != want {
			t.Errorf("%s: samples in %q, want %q; %v", pattern, got.String(), want, err)
		}
	}
}

// functions is a sink that writes the innermost function of each sample.
type functions struct {
	to     *strings.Builder
	tables *stream.Tables
}

func (f *functions) Begin(t *stream.Tables) error { f.tables = t; return nil }

func (f *functions) Segment(b *stream.Batch) error {
	for _, id := range b.Stack {
		_, frame := f.tables.Stacks.At(id)
		f.to.WriteString(f.tables.Strings.At(f.tables.Frames.At(frame).Function))
	}
	return nil
}

func (f *functions) Close() error { return nil }
