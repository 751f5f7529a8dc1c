package gecko

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gprof/convert/internal/viewer"
)

// check reports what the viewer would not bear in a profile: it fails on it, or
// it draws something wrong without a word.
func check(t *testing.T, output []byte) {
	t.Helper()
	var top object
	if err := json.Unmarshal(output, &top); err != nil {
		t.Fatalf("no JSON: %v", err)
	}
	if key := twice(output); key != "" {
		t.Errorf("an object has two members %q", key)
	}
	c := &checker{T: t, pids: map[any]bool{}, tids: map[float64]bool{}}
	c.meta(top.object("meta"))
	c.process("top", top)
	for i, child := range top.list("processes") {
		p := object(child.(map[string]any))
		if _, ok := p["processes"]; ok {
			c.Errorf("process %d has processes of its own", i+1)
		}
		c.process(fmt.Sprint("process ", i+1), p)
		if start := p.object("meta")["startTime"]; start != top.object("meta")["startTime"] {
			c.Errorf("process %d starts at %v", i+1, start)
		}
	}
	top.object("profileGatheringLog")
}

// twice returns a key that an object has twice: readers keep only one of them.
func twice(output []byte) string {
	in := json.NewDecoder(bytes.NewReader(output))
	var walk func() string
	walk = func() string {
		open, _ := in.Token()
		keys := map[json.Token]bool{}
		for (open == json.Delim('{') || open == json.Delim('[')) && in.More() {
			if open == json.Delim('{') {
				key, _ := in.Token()
				if keys[key] {
					return key.(string)
				}
				keys[key] = true
			}
			if key := walk(); key != "" {
				return key
			}
		}
		if _, container := open.(json.Delim); container {
			_, _ = in.Token()
		}
		return ""
	}
	return walk()
}

// object is a JSON object whose members must be there.
type object map[string]any

func (o object) object(key string) object  { return o[key].(map[string]any) }
func (o object) list(key string) []any     { return o[key].([]any) }
func (o object) text(key string) string    { return o[key].(string) }
func (o object) number(key string) float64 { return o[key].(float64) }
func (o object) table(key string) table    { return newTable(o.object(key)) }

func (o object) has(key string) bool {
	_, ok := o[key]
	return ok
}

// members are the elements of a list of objects.
func members(list []any) []object {
	out := make([]object, len(list))
	for i, x := range list {
		out[i] = x.(map[string]any)
	}
	return out
}

// table is a table with a schema.
type table struct {
	columns map[string]int
	rows    [][]any
}

func newTable(o object) table {
	out := table{columns: map[string]int{}}
	for _, row := range o.list("data") {
		out.rows = append(out.rows, row.([]any))
	}
	for name, at := range o.object("schema") {
		out.columns[name] = int(at.(float64))
	}
	return out
}

// cell is nil if the row ends before the column; a column must be there.
func (t table) cell(row int, column string) any {
	at, ok := t.columns[column]
	if !ok || len(t.rows[row]) > len(t.columns) {
		panic(fmt.Sprintf("no column %s, or row %d is longer than the schema", column, row))
	}
	if at < len(t.rows[row]) {
		return t.rows[row][at]
	}
	return nil
}

type checker struct {
	*testing.T
	parts   []int                        // how many subcategories each category has
	schemas map[string]map[string]string // type → key → format
	pids    map[any]bool
	tids    map[float64]bool
}

var displays = []string{"marker-chart", "marker-table", "timeline-overview", "timeline-memory", "timeline-ipc", "timeline-fileio", "stack-chart", "timeline-network"}

// meta checks that of the first process.
func (c *checker) meta(m object) {
	if m.number("interval") <= 0 || m["presymbolicated"] != true || m.number("profilingStartTime") >= m.number("profilingEndTime") {
		c.Errorf("interval %v, presymbolicated %v, from %v to %v", m["interval"], m["presymbolicated"], m["profilingStartTime"], m["profilingEndTime"])
	}
	if got := fmt.Sprint(m["sampleUnits"]); got != "map[eventDelay:ms threadCPUDelta:ns time:ms]" {
		c.Errorf("units %s", got)
	}
	for _, key := range []string{"product", "misc", "oscpu", "platform", "abi"} {
		m.text(key)
	}
	if regexp.MustCompile(`[\d.]+$`).MatchString(m.text("misc")) {
		c.Errorf("misc %q ends like a version", m["misc"])
	}
	for _, key := range []string{"features", "threads"} {
		m.object("configuration").list(key)
	}
	c.schemas = map[string]map[string]string{}
	for _, s := range members(m.list("markerSchema")) {
		c.schema(s)
	}
}

func (c *checker) schema(s object) {
	name := s.text("name")
	if c.schemas[name] != nil {
		c.Errorf("schema %q is there twice", name)
	}
	for _, place := range s.list("display") {
		if !slices.Contains(displays, place.(string)) {
			c.Errorf("schema %q is shown in %v", name, place)
		}
	}
	c.schemas[name] = map[string]string{}
	for _, f := range members(s.list("data")) {
		if _, static := f["value"]; static {
			_, _ = f.text("label"), f.text("value")
			continue
		}
		key := f.text("key")
		if table, ok := f["format"].(map[string]any); ok && table["type"] == "table" {
			f["format"] = "table"
		}
		if _, twice := c.schemas[name][key]; twice || viewer.IsSpecialKey(key) && key != "innerWindowID" || kindOf[f.text("format")] == "" {
			c.Errorf("schema %q: field %v", name, f)
		}
		c.schemas[name][key] = f.text("format")
	}
}

// kindOf is what the values of a format are.
var kindOf = map[string]string{
	"url": "text", "file-path": "text", "sanitized-string": "text", "string": "text", "pid": "text", "tid": "text",
	"list": "list", "table": "list", "microseconds": "number",
	"unique-string": "index", "flow-id": "index", "terminating-flow-id": "index",
	"duration": "number", "time": "number", "bytes": "number", "percentage": "number", "integer": "number", "decimal": "number", "hexadecimal": "number",
}

func (c *checker) process(where string, p object) {
	m := p.object("meta")
	if m.number("version") != 36 || m.number("startTime") != math.Trunc(m.number("startTime")) || !m.has("shutdownTime") {
		c.Errorf("%s: version %v, start %v", where, m["version"], m["startTime"])
	}
	m.list("markerSchema")
	c.checkCategories(where, members(m.list("categories")))
	libs := c.libs(where, members(p.list("libs")))
	newTable(p.object("sources"))
	threads := members(p.list("threads"))
	if len(threads) == 0 || threads[0]["name"] != viewer.MainName || c.pids[threads[0]["pid"]] {
		c.Fatalf("%s: no main thread, or the pid of another process", where)
	}
	pid := threads[0]["pid"] // a number, or a text if several have it
	c.pids[pid] = true
	for i, thread := range threads {
		where := fmt.Sprint(where, ", thread ", i)
		if thread["name"] == viewer.MainName && i > 0 || thread["pid"] != pid || c.tids[thread.number("tid")] {
			c.Errorf("%s: name %v, pid %v, tid %v", where, thread["name"], thread["pid"], thread["tid"])
		}
		c.tids[thread.number("tid")] = true
		c.thread(where, thread, libs)
	}
	c.counters(where, members(p.list("counters")))
	for _, r := range members(p.list("pausedRanges")) {
		r.text("reason")
		if !r.has("startTime") || !r.has("endTime") {
			c.Errorf("%s: pause %v", where, r)
		}
	}
	for _, page := range members(p.list("pages")) {
		_, _, _, _ = page.number("tabID"), page.number("innerWindowID"), page.number("embedderInnerWindowID"), page.text("url")
	}
	if p.has("profilerOverhead") {
		o := p.object("profilerOverhead").table("samples")
		for i := range o.rows {
			for _, column := range []string{"time", "locking", "expiredMarkerCleaning", "counters", "threads"} {
				_ = o.cell(i, column).(float64)
			}
		}
	}
	p.object("profilingLog")
}

func (c *checker) checkCategories(where string, list []object) {
	c.parts = nil
	if len(list) == 0 || len(list) > 256 || list[0]["color"] != "grey" {
		c.Errorf("%s: %d categories, the first %v", where, len(list), list)
	}
	for _, g := range list {
		c.parts = append(c.parts, len(g.list("subcategories")))
		if g.text("name"); !viewer.KnowsColor(g.text("color")) || len(g.list("subcategories")) == 0 || g.list("subcategories")[0] != "Other" {
			c.Errorf("%s: category %v", where, g)
		}
	}
}

func (c *checker) libs(where string, list []object) []addresses {
	var out []addresses
	var last float64
	for _, l := range list {
		for _, key := range []string{"arch", "name", "path", "debugName", "debugPath", "breakpadId", "codeId"} {
			l.text(key)
		}
		start, end := l.number("start"), l.number("end")
		if start < last || end <= start || end > 1<<53 || l.number("offset") != 0 || len(l.text("breakpadId")) != 33 {
			c.Errorf("%s: module %v", where, l)
		}
		last = end
		out = append(out, addresses{uint64(start), uint64(end)})
	}
	return out
}

func (c *checker) thread(where string, t object, libs []addresses) {
	_, _ = t.text("processName"), t.number("registerTime")
	if t.text("processType") != viewer.ProcessType || !t.has("unregisterTime") {
		c.Errorf("%s: type %v", where, t["processType"])
	}
	var texts []string
	for _, s := range t.list("stringTable") {
		texts = append(texts, s.(string))
	}
	if sorted := slices.Sorted(slices.Values(texts)); len(slices.Compact(sorted)) != len(texts) {
		c.Errorf("%s: a string is there twice", where)
	}
	c.frames(where, t.table("frameTable"), texts, libs)
	stacks := t.table("stackTable")
	for i := range stacks.rows {
		c.index(where+", frame of stack", stacks.cell(i, "frame"), len(t.table("frameTable").rows))
		if prefix := stacks.cell(i, "prefix"); prefix != nil {
			c.index(fmt.Sprint(where, ", prefix of stack ", i), prefix, i)
		}
	}
	c.samples(where, t.table("samples"), len(stacks.rows))
	markers := t.table("markers")
	for i := range markers.rows {
		c.marker(fmt.Sprint(where, ", marker ", i), markers, i, len(texts), len(stacks.rows))
	}
}

// index checks a number that must be below n.
func (c *checker) index(what string, value any, n int) int {
	f, ok := value.(float64)
	if !ok || f < 0 || f >= float64(n) || f != math.Trunc(f) {
		c.Fatalf("%s: index %v of %d", what, value, n)
	}
	return int(f)
}

func (c *checker) samples(where string, samples table, stacks int) {
	last := math.Inf(-1)
	for i := range samples.rows {
		if stack := samples.cell(i, "stack"); stack != nil {
			c.index(where+", stack of sample", stack, stacks)
		}
		at := samples.cell(i, "time").(float64)
		if cpu := samples.cell(i, "threadCPUDelta"); at < last || cpu != nil && cpu.(float64) < 0 || samples.cell(i, "eventDelay") != nil {
			c.Errorf("%s: sample %d at %v is %v", where, i, last, samples.rows[i])
		}
		last = at
	}
}

// The viewer's own patterns, in its order.
var (
	nativePattern = regexp.MustCompile(`^(.*) \(in ([^)]*)\)( \+ [0-9]+| \(.*:.*\))?$`)
	scriptPattern = regexp.MustCompile(`^(.*) \((.+?):([0-9]+)(?::([0-9]+))?\)(?:\[(\d+)\])?$|^()(.+?):([0-9]+)(?::([0-9]+))?(?:\[(\d+)\])?$`)
)

func (c *checker) frames(where string, frames table, texts []string, libs []addresses) {
	labels := map[string]bool{}
	for i := range frames.rows {
		location := texts[c.index(where+", location", frames.cell(i, "location"), len(texts))]
		_ = frames.cell(i, "relevantForJS").(bool)
		category := c.index(where+", category", frames.cell(i, "category"), len(c.parts))
		c.index(where+", subcategory", frames.cell(i, "subcategory"), c.parts[category])
		for _, column := range []string{"innerWindowID", "implementation", "line", "column"} { // of pages and scripts, which there are none
			if value := frames.cell(i, column); value != nil {
				c.Errorf("%s: %s %v of frame %q", where, column, value, location)
			}
		}
		native := nativePattern.FindStringSubmatch(location)
		switch {
		case strings.HasPrefix(location, "0x"):
			if !c.address(location, libs) {
				c.Errorf("%s: address %q in no module", where, location)
			}
		case native != nil:
			if labels[native[1]] || native[2] == "" || native[3] != "" {
				c.Errorf("%s: native function %q, of an unknown module or the name of a label", where, location)
			}
		case scriptPattern.MatchString(location):
			c.Errorf("%s: %q looks like JavaScript", where, location)
		default:
			labels[location] = true
		}
	}
}

// address reports whether a location is a number that, if it was made up, lies
// in one of the modules.
func (c *checker) address(location string, libs []addresses) bool {
	n, err := strconv.ParseUint(location, 0, 64)
	madeUp := firstAddress <= n && n < lastAddress
	return err == nil && (!madeUp || slices.ContainsFunc(libs, func(a addresses) bool { return a.start <= n && n < a.end }))
}

func (c *checker) marker(where string, m table, i, texts, stacks int) {
	start, end, phase := m.cell(i, "startTime"), m.cell(i, "endTime"), m.cell(i, "phase").(float64)
	c.index(where+", name", m.cell(i, "name"), texts)
	c.index(where+", category", m.cell(i, "category"), len(c.parts))
	hasStart, hasEnd := start != nil, end != nil
	if hasStart != (phase != 3) || hasEnd != (phase == 1 || phase == 3) || phase != math.Trunc(phase) || phase > 3 {
		c.Errorf("%s: phase %v from %v to %v", where, phase, start, end)
	}
	if hasStart && hasEnd && end.(float64) < start.(float64) || phase == 3 && end == 0.0 {
		c.Errorf("%s: from %v to %v", where, start, end)
	}
	data := object(m.cell(i, "data").(map[string]any))
	typ := data.text("type")
	fields, ok := c.schemas[typ]
	if typ == allocationName { // has a table of its own, and no schema
		fields, ok = map[string]string{"size": "bytes"}, true
	}
	if !ok && typ != viewer.JankType && !bare(typ) {
		c.Errorf("%s: no schema of %q", where, typ)
	}
	if bare(typ) && !bearable(typ, data, phase, start) {
		c.Errorf("%s: the viewer fails on %v", where, data)
	}
	for key, value := range data {
		switch {
		case key == "type":
		case key == "stack":
			samples := data.object("stack").table("samples")
			c.index(where+", stack", samples.cell(0, "stack"), stacks)
			_ = samples.cell(0, "time").(float64)
		default:
			c.value(where+", "+key, fields[key], value, texts)
		}
	}
}

// bare reports whether a type needs no schema.
func bare(typ string) bool { return viewer.IsSpecial(strings.TrimPrefix(typ, "gprof.")) }

// bearable reports whether a marker is what the viewer's code for its type takes
// for granted.
func bearable(typ string, data object, phase, start any) bool {
	details, _ := data["timings"].(map[string]any)
	switch typ {
	case "Network":
		_, hasURI := data["URI"].(string)
		return phase == 1.0 && hasURI
	case "IPC":
		_, ok := data["startTime"].(float64)
		return ok
	case "CompositorScreenshot", "JS allocation":
		return start != nil
	case "GCMajor":
		return details["status"] == "aborted" || details["status"] == "completed" && details["totals"] != nil && details["phase_times"] == nil
	case "GCSlice":
		return details["times"] != nil && details["phase_times"] == nil
	}
	return typ != allocationName || data["size"] != nil
}

func (c *checker) value(where, format string, value any, texts int) {
	ok := false
	switch kindOf[format] {
	case "": // of no schema
		ok = true
	case "list":
		_, ok = value.([]any)
	case "text":
		_, ok = value.(string)
	case "number":
		_, ok = value.(float64)
	case "index":
		if value != nil {
			c.index(where, value, texts)
		}
		ok = true
	}
	switch value.(type) {
	case bool, nil:
		ok = true // shown as nothing
	case float64, string:
		ok = ok || value == 1.5 || value == "text" // values of JSON are written as they are
	}
	if !ok {
		c.Errorf("%s: %v in a field of format %q", where, value, format)
	}
}

func (c *checker) counters(where string, list []object) {
	for _, counter := range list {
		_, _ = counter.text("category"), counter.text("description")
		samples := counter.table("samples")
		last := math.Inf(-1)
		for i := range samples.rows {
			at := samples.cell(i, "time").(float64)
			if _, ok := samples.cell(i, "count").(float64); !ok || at < last {
				c.Errorf("%s: counter %q: row %v", where, counter.text("name"), samples.rows[i])
			}
			last = at
		}
		if len(samples.rows) == 0 {
			c.Errorf("%s: counter %q is empty", where, counter.text("name"))
		}
	}
}
