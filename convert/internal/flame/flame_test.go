package flame

import (
	"slices"
	"testing"
	"time"

	"gprof/stream"
	"gprof/stream/streamtest"
)

func TestSplitName(t *testing.T) {
	tests := []struct{ function, pkg, short string }{
		{"main.main", "main", "main.main"},
		{"net/http.(*conn).serve", "net/http", "http.(*conn).serve"},
		{"github.com/klauspost/compress/zstd.(*Encoder).EncodeAll", "github.com/klauspost/compress/zstd", "zstd.(*Encoder).EncodeAll"},
		{"slices.SortFunc[go.shape.[]example.org/x.T]", "slices", "slices.SortFunc[go.shape.[]example.org/x.T]"},
		{"example.org/v2.run.func1", "example.org/v2", "v2.run.func1"},
		{"__libc_start_main", "libc.so.6", "__libc_start_main"},
		{".plt", "libc.so.6", ".plt"},
		{"", "libc.so.6", ""},
	}
	for _, tt := range tests {
		if pkg, short := splitName(tt.function, "libc.so.6"); pkg != tt.pkg || short != tt.short {
			t.Errorf("splitName(%q) = %q, %q", tt.function, pkg, short)
		}
	}
}

// Places in one function are one frame, but only if they are known to be in one function.
func TestTreeMergesPlaces(t *testing.T) {
	b := streamtest.NewBuilder()
	exe := b.Tables.Modules.Intern(stream.Module{Build: "c0ffee", Name: "shop"})
	at := func(name string, offset uint64) stream.Frame {
		f := stream.Frame{Module: exe, Offset: offset, Line: int32(offset)}
		if name != "" {
			f.Function = b.Tables.Strings.Intern(name)
		}
		return f
	}
	one := b.StackOf(at("main.main", 1), at("main.work", 2))
	two := b.StackOf(at("main.main", 3), at("main.work", 4))
	odd := b.StackOf(at("main.main", 1), at("", 16))
	tree, err := NewTree(b.Tables)
	if err != nil {
		t.Fatal(err)
	}
	if tree.Node(one) != tree.Node(two) || tree.Node(one) == tree.Node(odd) || tree.Node(0) != 0 {
		t.Errorf("nodes %d, %d, %d", tree.Node(one), tree.Node(two), tree.Node(odd))
	}
	if f := tree.Frames[tree.Frame[tree.Node(odd)]]; f.Name != "shop+0x10" || f.Package != "shop" {
		t.Errorf("an address without a name: %+v", f)
	}
	self := make([]int64, len(tree.Parent))
	self[0], self[tree.Node(one)], self[tree.Node(odd)] = 1, 5, 2
	totals := tree.Totals(self)
	if totals[0] != 8 || totals[tree.Parent[tree.Node(one)]] != 7 {
		t.Errorf("totals %v", totals)
	}
	want := []box{{width: 8}, {1, 1, 0, 7}, {tree.Node(one), 2, 0, 5}, {tree.Node(odd), 2, 5, 2}}
	for _, c := range []struct {
		least int64
		rows  int
		want  []box
	}{{0, 3, want}, {3, 3, want[:3]}, {0, 2, want[:2]}} {
		if got, deepest := tree.boxes(totals, c.least, c.rows); !slices.Equal(got, c.want) || deepest != 2 {
			t.Errorf("boxes of at least %d in %d rows: %v, want %v; the deepest in row %d", c.least, c.rows, got, c.want, deepest)
		}
	}
}

func TestCaption(t *testing.T) {
	start := stream.Time(time.Date(2026, 11, 21, 23, 59, 58, 0, time.UTC).UnixNano())
	tables := &stream.Tables{Processes: []stream.Process{
		{Service: "shop", Version: "1.2", Host: "a", Start: start, End: start + 1},
		{Name: "thumbs", Host: "b", Start: start + 5, End: start + stream.Time(2500*time.Millisecond)},
		{Service: "shop", Version: "1.2"},
	}}
	c := NewCaption(tables, []stream.Line{
		{Process: "1", Reason: stream.ReasonGap, What: "chunks", Count: 1200},
		{Process: "2", Reason: stream.ReasonGap, What: "chunks", Count: 300},
		{Process: "2", Reason: stream.ReasonUnproven, What: "blocks", Count: 7},
	})
	want := Caption{Title: "shop 1.2, thumbs", Range: "2026-11-21 23:59:58.000 – 2026-11-22 00:00:00.500 UTC (2.5s)",
		Processes: "3 processes on 2 hosts", Losses: "1,500 chunks (gap)",
		Start: start, End: start + stream.Time(2500*time.Millisecond)}
	if c != want {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
	if c := NewCaption(&stream.Tables{}, nil); c.Title != "Recording" || c.Range != "time unknown" || c.Losses != "" {
		t.Errorf("of nothing: %+v", c)
	}
}
