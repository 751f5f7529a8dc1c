package firefox

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gprof/convert/internal/viewer"
)

// object is a JSON object whose members must be there.
type object map[string]any

func (o object) object(key string) object  { return o[key].(map[string]any) }
func (o object) list(key string) []any     { return o[key].([]any) }
func (o object) text(key string) string    { return o[key].(string) }
func (o object) number(key string) float64 { return o[key].(float64) }

// members are the elements of a list of objects.
func members(list []any) []object {
	out := make([]object, len(list))
	for i, x := range list {
		out[i] = x.(map[string]any)
	}
	return out
}

// check reports what the viewer would not bear in a profile: it fails on it, or
// it draws something wrong without a word.
func check(t *testing.T, output []byte) {
	t.Helper()
	var top object
	if err := json.Unmarshal(output, &top); err != nil {
		t.Fatalf("no JSON: %v", err)
	}
	c := &checker{T: t, pids: map[string]bool{}}
	c.meta(top.object("meta"), len(top.list("threads")))
	c.shared(top.object("shared"), len(top.list("libs")))
	for i, thread := range members(top.list("threads")) {
		c.thread(fmt.Sprint("thread ", i), thread, float64(i+1))
	}
	for _, key := range []string{"counters", "profilerOverhead"} {
		for i, part := range members(top.list(key)) {
			where := fmt.Sprint(key, " ", i)
			main := c.index(where, part["mainThreadIndex"], len(top.list("threads")))
			if of := members(top.list("threads"))[main]; of["isMainThread"] != true || of["pid"] != part["pid"] {
				c.Errorf("%s: thread %d is %v of %v", where, main, of["name"], of["pid"])
			}
			c.table(where, part.object("samples"))
			if key == "counters" {
				c.display(where, part)
			}
		}
	}
	top.list("pages")
	top.object("profilingLog")
	top.object("profileGatheringLog")
	top.object("gprof").list("processes")
}

type checker struct {
	*testing.T
	categories, strings, stacks int
	schemas                     map[string]bool
	pids                        map[string]bool
}

// index checks a number that must be below n.
func (c *checker) index(what string, value any, n int) int {
	c.Helper()
	f, ok := value.(float64)
	if !ok || f < 0 || f >= float64(n) || f != math.Trunc(f) {
		c.Fatalf("%s: index %v of %d", what, value, n)
	}
	return int(f)
}

// table checks that all columns have the length that the table says.
func (c *checker) table(where string, table object) int {
	c.Helper()
	n := int(table.number("length"))
	for key, value := range table {
		if column, ok := value.([]any); ok && len(column) != n {
			c.Errorf("%s: %d rows in column %s, want %d", where, len(column), key, n)
		}
	}
	return n
}

// indexes checks a column; none is what stands for no index, if that may be.
func (c *checker) indexes(where string, table object, column string, n int, none any) {
	c.Helper()
	for i, value := range table.list(column) {
		if value != none || none == "never" {
			c.index(fmt.Sprint(where, ", ", column, " of ", i), value, n)
		}
	}
}

func (c *checker) meta(m object, threads int) {
	if m.number("preprocessedProfileVersion") != 70 || m.number("interval") <= 0 || m["symbolicated"] != true || m.number("profilingStartTime") >= m.number("profilingEndTime") {
		c.Errorf("meta %v", m)
	}
	for i, g := range members(m.list("categories")) {
		if !viewer.KnowsColor(g.text("color")) || g.list("subcategories")[0] != "Other" || i == 0 && g["color"] != "grey" {
			c.Errorf("category %v", g)
		}
	}
	c.categories = len(m.list("categories"))
	c.schemas = map[string]bool{viewer.JankType: true}
	for _, s := range members(m.list("markerSchema")) {
		c.schemas[s.text("name")] = true
		s.list("fields")
		s.list("display")
	}
	if len(m.list("initialVisibleThreads")) == 0 {
		c.Error("no thread is shown")
	}
	for _, key := range []string{"initialVisibleThreads", "initialSelectedThreads"} {
		for _, thread := range m.list(key) {
			c.index(key, thread, threads)
		}
	}
	for _, section := range members(m.list("extra")) {
		for _, entry := range members(section.list("entries")) {
			_, _, _ = entry.text("label"), entry.text("format"), entry.text("value")
		}
	}
}

// tables are the shared ones with all their columns.
var tables = map[string][]string{
	"stackTable":          {"frame", "prefixOffset"},
	"frameTable":          {"address", "lib", "inlineDepth", "category", "subcategory", "func", "nativeSymbol", "innerWindowID", "line", "column", "originalLocation"},
	"funcTable":           {"name", "isJS", "relevantForJS", "resource", "source", "lineNumber", "columnNumber", "originalLocation"},
	"resourceTable":       {"name", "host", "type"},
	"nativeSymbols":       {"libIndex", "address", "name", "functionSize"},
	"sources":             {"id", "filename", "startLine", "startColumn", "sourceMapURL", "content"},
	"sourceLocationTable": {"source", "line", "column"},
}

func (c *checker) shared(s object, libs int) {
	rows := map[string]int{}
	for name, columns := range tables {
		rows[name] = c.table(name, s.object(name))
		for _, column := range columns {
			s.object(name).list(column)
		}
	}
	seen := map[string]bool{}
	for _, text := range s.list("stringArray") {
		if seen[text.(string)] {
			c.Errorf("string %q is there twice", text)
		}
		seen[text.(string)] = true
	}
	c.strings, c.stacks = len(seen), rows["stackTable"]
	c.indexes("stackTable", s.object("stackTable"), "frame", rows["frameTable"], "never")
	for i, offset := range s.object("stackTable").list("prefixOffset") {
		c.index(fmt.Sprint("prefix of stack ", i), offset, i+1)
	}
	frames := s.object("frameTable")
	c.indexes("frameTable", frames, "lib", libs, -1.0)
	c.indexes("frameTable", frames, "func", rows["funcTable"], "never")
	c.indexes("frameTable", frames, "category", c.categories, "never")
	c.indexes("frameTable", frames, "address", 1<<31, -1.0)
	c.indexes("frameTable", frames, "inlineDepth", 1<<8, "never")
	funcs := s.object("funcTable")
	c.indexes("funcTable", funcs, "name", c.strings, "never")
	c.indexes("funcTable", funcs, "resource", rows["resourceTable"], -1.0)
	c.indexes("funcTable", funcs, "source", rows["sources"], nil)
	c.indexes("resourceTable", s.object("resourceTable"), "name", c.strings, "never")
	c.indexes("sources", s.object("sources"), "filename", c.strings, "never")
}

func (c *checker) thread(where string, t object, tid float64) {
	if t["tid"] != tid || t.text("processType") != viewer.ProcessType || t.text("processName") == "" || t.list("pausedRanges") == nil {
		c.Errorf("%s: %v", where, t)
	}
	if main := t["isMainThread"] == true; main != (t["name"] == viewer.MainName) || main == c.pids[t.text("pid")] {
		c.Errorf("%s: name %v of pid %v", where, t["name"], t["pid"])
	}
	c.pids[t.text("pid")] = true
	for _, key := range []string{"processStartupTime", "processShutdownTime", "registerTime", "unregisterTime"} {
		if _, ok := t[key]; !ok {
			c.Errorf("%s: no %s", where, key)
		}
	}
	samples := t.object("samples")
	c.table(where+", samples", samples)
	c.indexes(where+", samples", samples, "stack", c.stacks, nil)
	for i, delta := range samples.list("timeDeltas") {
		if i > 0 && delta.(float64) < 0 {
			c.Errorf("%s: sample %d is %v before the last", where, i, delta)
		}
	}
	cpus, there := samples["threadCPUDelta"].([]any)
	if there != (samples.number("length") > 0) {
		c.Errorf("%s: CPU times %v", where, cpus)
	}
	for _, cpu := range cpus {
		if cpu != nil && cpu.(float64) < 0 {
			c.Errorf("%s: CPU time %v", where, cpu)
		}
	}
	if weight, ok := samples["weight"]; !ok || weight != nil && slices.Contains(weight.([]any), nil) || samples["weightType"] != "samples" && (weight == nil || samples["weightType"] != "tracing-ms" && samples["weightType"] != "bytes") {
		c.Errorf("%s: weights %v of %v", where, weight, samples["weightType"])
	}
	markers := t.object("markers")
	c.indexes(where+", markers", markers, "name", c.strings, "never")
	c.indexes(where+", markers", markers, "category", c.categories, "never")
	for i := range c.table(where+", markers", markers) {
		c.marker(fmt.Sprint(where, ", marker ", i), markers.list("startTime")[i], markers.list("endTime")[i], markers.list("phase")[i].(float64), markers.list("data")[i].(map[string]any))
	}
}

func (c *checker) marker(where string, start, end any, phase float64, data object) {
	if (start != nil) != (phase != 3) || (end != nil) != (phase == 1 || phase == 3) || phase != math.Trunc(phase) || phase > 3 {
		c.Errorf("%s: phase %v from %v to %v", where, phase, start, end)
	}
	if start != nil && end != nil && end.(float64) < start.(float64) || phase == 3 && end == 0.0 {
		c.Errorf("%s: from %v to %v", where, start, end)
	}
	if typ := data.text("type"); !c.schemas[typ] && !viewer.IsSpecial(strings.TrimPrefix(typ, "gprof.")) {
		c.Errorf("%s: no schema of %v", where, data["type"])
	}
	if cause, ok := data["cause"].(map[string]any); ok {
		c.index(where+", stack", cause["stack"], c.stacks)
	}
}

func (c *checker) display(where string, counter object) {
	d := counter.object("display")
	for _, row := range members(d.list("tooltipRows")) {
		if row["type"] == "value" {
			row.object("format").text("unit")
			row.text("label")
		}
	}
	_, hasLocation := d["markerSchemaLocation"]
	if !slices.Contains([]string{level, rate}, d.text("graphType")) || !slices.Contains([]string{"grey", "blue", "orange", "purple"}, d.text("color")) || !hasLocation || d.text("unit") != "" && d["unit"] == nil {
		c.Errorf("%s: display %v", where, d)
	}
	counter.text("category")
	counter.text("description")
}
