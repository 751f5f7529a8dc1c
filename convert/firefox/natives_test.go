package firefox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/convert/internal/pipeline"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// nativesOf is a profile's native symbols, and for each frame the name of its own, in the order of the profile.
func nativesOf(t *testing.T, extent Extent) (natives [][3]any, frames []any) {
	t.Helper()
	b := streamtest.NewBuilder()
	text := b.Tables.Strings.Intern
	p := b.Process(stream.Process{Instance: 0xab, Pid: 1, Name: "shop", Start: begin, End: begin + second})
	shop := b.Tables.Modules.Intern(stream.Module{Name: "shop", Build: "ab"})
	for i, f := range []stream.Frame{
		{Module: shop, Offset: 0x120, Function: text("main.work")},
		{Module: shop, Offset: 0x120, Depth: 1, Function: text("main.inlined")},
		{Module: shop, Offset: 0x110, Function: text("main.work")},
		{Module: shop, Offset: 0x230, Function: text("main.other")},
		{Module: shop, Offset: 0x330},
		{Function: text("label"), Label: true},
		{Function: text("named")},
		{Function: text("script"), Script: true},
	} {
		p.Main.Sample(begin+stream.Time(i), b.StackOf(f))
	}
	output := convert(t, func(w io.Writer) stream.Sink {
		out, err := pipeline.New(w, pipeline.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return New(out, "", extent)
	}, b.Source())
	check(t, output)
	var profile struct {
		Shared struct {
			StringArray []string
			FrameTable  struct{ NativeSymbol, Func []*int }
			FuncTable   struct{ Name []int }

			NativeSymbols struct {
				LibIndex, Address, Name []int
				FunctionSize            []any
			}
		}
	}
	if err := json.NewDecoder(bytes.NewReader(output)).Decode(&profile); err != nil {
		t.Fatal(err)
	}
	s := profile.Shared
	for i, name := range s.NativeSymbols.Name {
		if s.NativeSymbols.LibIndex[i] != 0 {
			t.Errorf("native symbol %d is of library %d", i, s.NativeSymbols.LibIndex[i])
		}
		natives = append(natives, [3]any{s.StringArray[name], s.NativeSymbols.Address[i], s.NativeSymbols.FunctionSize[i]})
	}
	for i, n := range s.FrameTable.NativeSymbol {
		name := s.StringArray[s.FuncTable.Name[*s.FrameTable.Func[i]]]
		if n == nil {
			frames = append(frames, name)
			continue
		}
		frames = append(frames, name+" in "+s.StringArray[s.NativeSymbols.Name[*n]])
	}
	return natives, frames
}

// Native functions are told apart by name, and begin at the lowest place of theirs; what was inlined is of the
// function that it is in. A program that is known says where they begin, and how long they are.
func TestNatives(t *testing.T) {
	natives, frames := nativesOf(t, nil)
	if diff := cmp.Diff([][3]any{{"main.work", 0x110, nil}, {"main.other", 0x230, nil}}, natives); diff != "" {
		t.Error(diff)
	}
	alike := []any{"label", "named", "script", "main.work in main.work", "main.work in main.work", "main.inlined in main.work", "main.other in main.other"}
	if diff := cmp.Diff(append(alike, "0x330"), frames); diff != "" {
		t.Error(diff)
	}
	natives, frames = nativesOf(t, func(build string, offset uint64) (Native, bool) {
		return Native{fmt.Sprintf("at %#x", offset&^0xff), offset &^ 0xff, 0x80}, build == "ab"
	})
	if diff := cmp.Diff([][3]any{{"main.work", 0x100, 128.0}, {"main.other", 0x200, 128.0}, {"at 0x300", 0x300, 128.0}}, natives); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(append(alike, "0x330 in at 0x300"), frames); diff != "" {
		t.Error(diff)
	}
}

// A file that two modules were compiled from is two sources: each has its own text.
func TestSourcesOfModules(t *testing.T) {
	top := build(t, func(b *streamtest.Builder, p *streamtest.Process) {
		text := b.Tables.Strings.Intern
		for i, build := range []string{"ab", "cd", "ab"} {
			module := b.Tables.Modules.Intern(stream.Module{Name: "shop", Build: build})
			p.Main.Sample(begin+stream.Time(i), b.StackOf(stream.Frame{Module: module, Offset: uint64(0x10 + i), Function: text("main.work"), File: text("/src/main.go"), Line: 1}))
		}
	})
	shared := top.object("shared")
	if diff := cmp.Diff([]any{0.0, 1.0}, shared.object("funcTable")["source"]); diff != "" {
		t.Error(diff)
	}
	if n := shared.object("sources")["length"]; n != 2.0 {
		t.Errorf("%v sources", n)
	}
}
