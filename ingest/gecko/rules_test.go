package gecko

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gprof/stream"
)

// A process whose main thread was registered while the profiler ran began then; the stack
// of a marker that was captured at another time is told, and the time that is lost.
func TestBegunLater(t *testing.T) {
	const text = `{"meta":{"version":36,"startTime":1000,"interval":1,"profilingStartTime":1,"categories":[{"name":"Other","color":"grey","subcategories":["Other"]}],"markerSchema":[]},"libs":[],"threads":[{"name":"GeckoMain","pid":1,"tid":1,"registerTime":2.5,
 "samples":{"schema":{"stack":0,"time":1},"data":[]},"frameTable":{"schema":{"location":0},"data":[[0]]},"stackTable":{"schema":{"prefix":0,"frame":1},"data":[[null,0]]},"stringTable":["f"],
 "markers":{"schema":{"name":0,"startTime":1,"endTime":2,"phase":3,"category":4,"data":5},"data":[
  [0,4,null,0,0,{"type":"a","stack":{"samples":{"schema":{"stack":0,"time":1},"data":[[0,4]]}}}],
  [0,5,null,0,0,{"type":"a","stack":{"samples":{"schema":{"stack":0,"time":1},"data":[[0,3]]}}}]]}}]}`
	p, err := Open(strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	if start := p.Processes()[0].Start; start != 1002_500_000 {
		t.Errorf("it began at %d ns", start)
	}
	var got stream.Count
	if err := stream.Copy(&got, sourceOf(t, text, 1), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	lines := got.Tables.Ledger.Lines()
	if len(lines) != 1 || lines[0].What != "times of the stacks of markers" || lines[0].Count != 1 {
		t.Errorf("ledger %+v", lines)
	}
}

// threadText is a processed profile of one thread, of which a test replaces a piece.
const threadText = `{"meta":{"preprocessedProfileVersion":70,"version":36,"startTime":1000,"interval":1,"categories":[{"name":"Other","color":"grey","subcategories":["Other"]}],"markerSchema":[]},
 "libs":[{"name":"a"}],
 "shared":{"stringArray":["main","serve","note"],"stackTable":{"length":2,"frame":[0,1],"prefixOffset":[0,1]},
  "frameTable":{"length":2,"address":[16,32],"lib":[0,0],"category":[0,0],"subcategory":[0,0],"func":[0,1],"line":[1,2]},"funcTable":{"length":2,"isJS":[false,false],"name":[0,1],"resource":[-1,-1]}},
 "threads":[{"name":"a","isMainThread":true,"pid":"1","tid":"1","registerTime":0,"unregisterTime":9,"samples":{"length":2,"stack":[0,1],"timeDeltas":[5,6]},
  "markers":{"length":1,"name":[2],"startTime":[5],"endTime":[6],"phase":[1],"category":[0],"data":[null]}}]}`

// Each fault of a profile has a line that names it; a whole profile has none.
func TestWrongValues(t *testing.T) {
	for _, c := range []struct{ old, new, line string }{
		{"", "", ""},
		{`"prefixOffset":[0,1]`, `"prefixOffset":[0,-1]`, "impossible shared.stackTable.prefixOffset"},
		{`"prefixOffset":[0,1]`, `"prefixOffset":[0,2]`, "impossible shared.stackTable.prefixOffset"},
		{`"name":[0,1]`, `"name":[0,"serve"]`, "malformed shared.funcTable.name"},
		{`"name":[0,1]`, `"name":[0,null]`, "undefined shared.funcTable.name"},
		{`"serve"`, `7`, "malformed shared.stringArray"},
		{`"categories":[{"name":"Other","color":"grey","subcategories":["Other"]}],`, ``, "undefined meta.categories"},
		{`"endTime":[6]`, `"endTime":[4]`, "impossible threads.markers.endTime"},
		{`"endTime":[6]`, `"endTime":[null]`, "impossible threads.markers.endTime"},
		{`"name":[2]`, `"name":[3]`, "impossible threads.markers.name"},
		{`"phase":[1],"category":[0]`, `"phase":[1],"category":[1]`, "impossible threads.markers.category"},
		{`"phase":[1]`, `"phase":[4]`, "impossible threads.markers.phase"},
		{`"address":[16,32]`, `"address":[16,4503599627370495]`, "impossible shared.frameTable.address"},
		{`"line":[1,2]`, `"line":[1,4294967296]`, "impossible shared.frameTable.line"},
		{`"registerTime":0,"unregisterTime":9`, `"registerTime":5,"unregisterTime":4`, "impossible threads.unregisterTime"},
		{`"timeDeltas":[5,6]`, `"timeDeltas":[5,1e300]`, "malformed threads.samples.timeDeltas"},
		{`"timeDeltas":[5,6]`, `"timeDeltas":[9000000000000,9000000000000]`, "impossible threads.samples.timeDeltas"},
		{`"length":2,"stack"`, `"length":3,"stack"`, "impossible threads.samples.length"},
		{`"samples":{`, `"nativeAllocations":{"length":2,"time":[5,6],"weight":[8,-8],"stack":[0,0],"memoryAddress":[null,16],"threadId":[0,7]},"samples":{`, ""},
		{`"samples":{`, `"nativeAllocations":{"length":1,"time":[5],"weight":[8],"stack":[0],"memoryAddress":["0x10"],"threadId":[7]},"samples":{`, "unsupported addresses of allocations"},
		{`"samples":{`, `"nativeAllocations":{"length":1,"time":[5],"weight":[8],"stack":[0],"memoryAddress":[16],"threadId":[-7]},"samples":{`, "unsupported threads of allocations"},
		{`"startTime":1000,`, ``, "undefined meta.startTime"},
		{`"markers":{`, `"marks":{`, "undefined threads.markers"},
		{`Version":70`, `Version":76`, "newer versions"},
		{`Version":70`, `Version":"70"`, "malformed meta.preprocessedProfileVersion"},
		{`Version":70`, `Version":71`, "undefined shared.frameTable.flags"},
		{`"preprocessedProfileVersion":70,"version":36`, `"version":37`, "newer versions"},
	} {
		text := strings.Replace(threadText, c.old, c.new, 1)
		if c.new == `"version":37` {
			text = strings.Replace(string(manySamples(1)), `"version":31`, c.new, 1)
		}
		var got stream.Count
		if err := stream.Copy(&got, sourceOf(t, text, 1), stream.CopyOptions{}); err != nil {
			t.Fatal(c.new, err)
		}
		lines := map[string]bool{}
		for _, l := range got.Tables.Ledger.Lines() {
			lines[l.Reason.String()+" "+l.What] = true
		}
		if c.line == "" && len(lines) > 0 || c.line != "" && !lines[c.line] {
			t.Errorf("%s: %v, want %q", c.new, lines, c.line)
		}
	}
}

// A profile is asked for categories and schemas from the version on that brought them.
func TestMissingByVersion(t *testing.T) {
	for version, want := range map[int]string{
		10: "[]", 11: "[meta.categories]", 21: "[meta.categories]", 22: "[meta.categories meta.markerSchema]", 23: "[meta.categories meta.markerSchema]",
	} {
		text := strings.Replace(string(manySamples(1)), `"version":31`, fmt.Sprintf(`"version":%d`, version), 1)
		var got stream.Count
		if err := stream.Copy(&got, sourceOf(t, text, 1), stream.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
		var lacks []string
		for _, l := range got.Tables.Ledger.Lines() {
			if l.What == "meta.categories" || l.What == "meta.markerSchema" {
				lacks = append(lacks, l.What)
			}
		}
		if slices.Sort(lacks); fmt.Sprint(lacks) != want {
			t.Errorf("version %d: %v, want %s", version, lacks, want)
		}
	}
}

// A value that is wrong is counted once, however often the file is read, and the line
// says where the first one stands.
func TestWrongValuesAreCountedOnce(t *testing.T) {
	text := strings.Replace(string(manySamples(3)), `"stringTable":["f"]`, `"stringTable":[0]`, 1)
	text = strings.ReplaceAll(text, `,1,0,{"type"`, `,1,9,{"type"`)
	var got stream.Count
	if err := stream.Copy(&got, sourceOf(t, text, 1), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"threads.stringTable": 1, "threads.markers.category": 4, "meta.categories": 1, "meta.markerSchema": 1, "meta.interval": 1}
	for _, l := range got.Tables.Ledger.Lines() {
		if l.Count != want[l.What] {
			t.Errorf("%+v, want %d", l, want[l.What])
		}
		if at := strings.Index(text, `0,0,null,0,0]`) - 1; l.What == "threads.markers.category" && l.Where != fmt.Sprintf("byte %d and later", at) {
			t.Errorf("%+v, want byte %d", l, at)
		}
		delete(want, l.What)
	}
	if len(want) > 0 {
		t.Errorf("no line for %v", want)
	}
}
