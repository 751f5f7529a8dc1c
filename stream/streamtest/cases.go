package streamtest

import (
	"fmt"
	"math"
	"strings"

	"gprof/stream"
)

// Case is some events that a sink must be able to write.
type Case struct {
	Name  string
	Why   string // printed when it fails
	Build func(*Builder)
}

// start is when the processes of the cases start: in November 2026.
const start stream.Time = 1_795_000_000_000_000_000

const ms = 1_000_000 // ns

// Cases are the events that TestSink tries.
var Cases = []Case{
	{"empty", "an input may hold nothing at all", func(*Builder) {}},
	{"process without rows", "a process that recorded nothing is still shown", func(b *Builder) { shop(b).Track("idle") }},
	{"one sample", "the smallest useful profile", func(b *Builder) { shop(b).Main.Sample(start+ms, b.Stack("main.main", "main.work")) }},
	{"no stack", "a sample may have no stack, when its dictionary is gone", func(b *Builder) { shop(b).Main.Sample(start, 0) }},
	{"deep stack", "recursion gives 1,000 frames; nothing may recurse along", deepStack},
	{"code", "frames have modules, offsets, files, lines, inline depth and labels", code},
	{"same names", "tracks, events, counters and functions of two processes may be called the same", sameNames},
	{"equal pids", "in containers every pid is 1", equalPids},
	{"family", "a child names its parent, and may come before it when clocks differ", family},
	{"phases", "a start may lack its end and an end its start", phases},
	{"arguments", "arguments may be missing or of another type than their field", arguments},
	{"formats", "every format is written for every type", formats},
	{"types", "events may be of types that a viewer has code for, and markers of these lack what it needs", types},
	{"nested", "arguments may be lists and objects, or pretend to be", nested},
	{"texts", "texts are bytes: of any length, with control characters, quotes or invalid UTF-8", texts},
	{"numbers", "JSON has no NaN and no infinity, and few numbers are exact there", numbers},
	{"times", "clocks may be wrong: time 0, before the start, the last there is", times},
	{"unicode", "names come from everywhere", unicode},
	{"many rows", "a series comes in segments of at most 8,192 rows", manyRows},
	{"weights", "a sample may stand for many or none, with or without CPU time", weights},
	{"counters", "a counter may go down and below zero, and have no category", counters},
	{"measurements", "a measure has any unit, its values may be below zero, and a track may have several of them, and samples", measurements},
	{"pauses", "a recording may begin or end while it is paused", pauses},
	{"whose", "some samples and markers tell thread, goroutine and labels, others do not; labels may repeat, be empty, or be called as anything else", whose},
	{"all kinds", "a process may have rows of every kind", allKinds},
}

// shop adds a process with everything that is usually known.
func shop(b *Builder) *Process {
	return b.Process(stream.Process{
		Instance: 0xfeedfacecafe0001, Pid: 4711, Name: "shop", Service: "checkout", Version: "1.42.0", Revision: "5a1bf7",
		Host: "checkout-7f9c", Exe: "/usr/bin/shop", Args: []string{"shop", "-v"}, Attrs: []stream.Attr{{Key: "zone", Value: "b"}},
		Go: "go1.26.8", OS: "linux", Arch: "amd64", CPUs: 8, Start: start, End: start + 1000*ms,
		Exit: stream.Exit{Known: true, Reason: "exit", Code: 3}, Interval: ms, CPU: "pprof", RangeStart: 1,
		Modified: true, Module: "example.org/x/shop", SlowedBy: []string{"race"}, CPUName: "Fast 3000", Cores: 4,
		Settings: stream.Settings{Limit: 64 << 20, Features: []string{"markers"}, Tracks: []string{"worker *", "-worker 3"}},
	})
}

func measurements(b *Builder) {
	p := shop(b)
	stack := b.Stack("main.main", "main.work")
	p.Main.Sample(start, stack)
	for unit := range stream.NumFormats {
		c := p.Counter(stream.Counter{Name: fmt.Sprint("measure ", unit), Unit: unit, Measure: true})
		t := p.Track(fmt.Sprint("track ", unit))
		t.Measure(start+ms, c, stack, 5)
		t.Measure(start+2*ms, c, 0, -7)
		p.Main.Measure(start, c, stack, 1)
	}
	c := p.Counter(stream.Counter{Name: "delay", Unit: stream.FormatNanoseconds, Measure: true})
	labels := b.Tables.Labels.Intern(stream.NewLabelSet(stream.Attr{Key: "route", Value: "/"}))
	p.Track("labels").Add(Row{Series: stream.Series{Kind: stream.Measurements, Counter: c}, Time: start, Stack: stack, Value: math.MaxInt64, Owner: stream.Owner{Labels: labels}})
	p.Track("labels").Measure(start, c, stack, math.MaxInt64)
}

func deepStack(b *Builder) {
	functions := make([]string, 1000)
	for i := range functions {
		functions[i] = fmt.Sprint("main.recurse", i%7)
	}
	p := shop(b)
	p.Main.Sample(start, b.Stack(functions...))
	p.Main.Sample(start+ms, b.Stack(functions[:999]...))
}

func code(b *Builder) {
	t := b.Tables
	exe := t.Modules.Intern(stream.Module{Build: "c0ffee", Name: "shop"})
	libc := t.Modules.Intern(stream.Module{Path: "/lib/libc.so.6", Name: "libc.so.6"})
	file, blue := t.Strings.Intern("main.go"), b.Category("Program", "blue")
	outer := stream.Frame{Module: exe, Offset: 0x1000, Function: t.Strings.Intern("main.main"), File: file, Line: 12, Category: blue}
	inlined := stream.Frame{Module: exe, Offset: 0x1000, Depth: 1, Function: t.Strings.Intern("main.add"), File: file, Line: 40, Category: blue}
	unknown := stream.Frame{Module: libc, Offset: math.MaxUint64}
	label := stream.Frame{Function: t.Strings.Intern("GET /"), Label: true}
	p := shop(b)
	p.Main.Sample(start, b.StackOf(outer, inlined, unknown))
	p.Main.Sample(start+1, b.StackOf(label, outer))
}

func sameNames(b *Builder) {
	event := b.Event(stream.Event{Name: "load"})
	other := b.Event(stream.Event{Name: "load", Fields: []stream.EventField{{Name: "n", Type: stream.Int}}})
	for pid := range 2 {
		p := b.Process(stream.Process{Instance: uint64(pid), Pid: 10 + pid, Name: "twin", Start: start})
		for range 2 {
			for k := range stream.Time(2) {
				t := p.TrackOf(stream.Track{Name: "worker", Start: start + k})
				t.Sample(start, b.Stack("main.main"))
				t.Mark(start, stream.Instant, event)
				t.Mark(start, stream.Instant, other, 5)
			}
		}
		p.Count(start, p.Counter(stream.Counter{Name: "load"}), 1, 1)
		p.Count(start, p.Counter(stream.Counter{Name: "load", Category: "cpu"}), 2, 1)
	}
}

func equalPids(b *Builder) {
	for i := range uint64(3) {
		p := b.Process(stream.Process{Instance: 9 - i, Pid: 1, Name: "app", Start: start})
		p.Main.Sample(start+stream.Time(i), b.Stack("main.main"))
	}
	b.Process(stream.Process{Instance: 20, Pid: 2, Name: "app", Start: start})
}

func family(b *Builder) {
	parent := b.Process(stream.Process{Instance: 1, Pid: 5, Name: "parent", Start: start})
	child := b.Process(stream.Process{Instance: 2, Pid: 6, Parent: parent.ID, Name: "child", Start: start - 1})
	b.Process(stream.Process{Instance: 3, Pid: 7, Parent: child.ID, Name: "grandchild", Start: start + 1})
	parent.Main.Sample(start, b.Stack("main.main"))
	child.Main.Sample(start, b.Stack("main.main"))
}

func phases(b *Builder) {
	p := shop(b)
	e := b.Event(stream.Event{Name: "request", Display: stream.ShowChart | stream.ShowTable, Chart: "request"})
	p.Main.Mark(start, stream.PhaseEnd, e) // began before the recording
	p.Main.Mark(start+1*ms, stream.Instant, e)
	p.Main.Interval(start+2*ms, 0, e)
	p.Main.Interval(start+2*ms, 3*ms, e)
	p.Main.Mark(start+3*ms, stream.PhaseStart, e)
	p.Track("other").Mark(start+4*ms, stream.PhaseEnd, e)
	p.Main.Mark(start+5*ms, stream.PhaseEnd, e)
	p.Main.Mark(start+6*ms, stream.PhaseStart, e) // never ends
	p.Main.Add(Row{Series: stream.Series{Kind: stream.Markers, Event: e}, Time: start, Stack: b.Stack("main.main", "main.serve")})
}

func arguments(b *Builder) {
	p := shop(b)
	e := b.Event(stream.Event{Name: "query", Tooltip: "{marker.data.sql}", Fields: []stream.EventField{
		{Name: "rows", Label: "Rows", Type: stream.Int, Format: stream.FormatInteger},
		{Name: "bytes", Type: stream.Uint, Format: stream.FormatBytes, Hidden: true},
		{Name: "load", Type: stream.Float, Format: stream.FormatPercentage},
		{Name: "sql", Type: stream.Text, Format: stream.FormatText, Searchable: true, Privacy: stream.PrivacySecret},
	}})
	p.Main.Mark(start, stream.Instant, e, -1, uint64(2), 0.5, "select")
	p.Main.Mark(start+1, stream.Instant, e, nil, nil, nil, nil)
	p.Main.Mark(start+2, stream.Instant, e, "text", 1.5, -7, uint64(8))
	p.Main.Mark(start+3, stream.Instant, e, 0, uint64(0), 0.0, "")
	p.Main.Mark(start+4, stream.Instant, e, nil, uint64(9), nil, "select")
}

func formats(b *Builder) {
	p := shop(b)
	values := []any{nil, -3, uint64(3), 2.5, "three"}
	for f := range stream.NumFormats {
		for _, typ := range []stream.Type{stream.Int, stream.Uint, stream.Float, stream.Text} {
			e := b.Event(stream.Event{Name: fmt.Sprintf("format %d of %d", f, typ), Fields: []stream.EventField{{Name: "value", Type: typ, Format: f}}})
			for i, v := range values {
				p.Main.Mark(start+stream.Time(i), stream.Instant, e, v)
			}
		}
		p.Count(start, p.Counter(stream.Counter{Name: fmt.Sprint("format ", f), Unit: f}), 1, 0)
	}
}

// types are markers of types that Firefox Profiler knows: complete ones, and some on
// which its code would fail.
func types(b *Builder) {
	p := shop(b)
	text := func(name string) stream.EventField {
		return stream.EventField{Name: name, Type: stream.Text, Format: stream.FormatText, Unlisted: true}
	}
	moment := func(name string) stream.EventField {
		return stream.EventField{Name: name, Type: stream.Int, Format: stream.FormatTime, Unlisted: true}
	}
	json := stream.EventField{Name: "timings", Type: stream.JSON, Format: stream.FormatText, Unlisted: true}
	load := b.Event(stream.Event{Name: "Load", Type: "Network", Bare: true, NameField: "called", Fields: []stream.EventField{text("URI"), text("status"), moment("startTime"), text("called")}})
	p.Main.Interval(start+1*ms, 2*ms, load, "https://a.example/", "STATUS_STOP", int64(start), "Load 1: https://a.example/")
	p.Main.Interval(start+2*ms, 2*ms, load, "https://a.example/", "STATUS_STOP", nil, nil)
	p.Main.Mark(start+3*ms, stream.Instant, load, "https://a.example/", "STATUS_START", int64(start), "Load 2")
	major := b.Event(stream.Event{Name: "GCMajor", Type: "GCMajor", Bare: true, Fields: []stream.EventField{json}})
	p.Main.Interval(start, ms, major, JSON(`{"status":"completed","phase_times":{"mark":1.25,"sweep":0},"mmu_20ms":0.31,"reason":"ALLOC"}`))
	for i, odd := range []any{nil, JSON(`{"status":"aborted"}`), JSON(`{"status":"completed"}`), JSON(`[]`), JSON("{"), "text", 7} {
		p.Main.Interval(start+stream.Time(i+1)*ms, ms, major, odd)
	}
	p.Main.Interval(start, ms, b.Event(stream.Event{Name: "GCSlice", Type: "GCSlice", Bare: true, Fields: []stream.EventField{json}}), JSON(`{"phase_times":{"mark":0.001},"slice":1}`))
	for _, typ := range []string{"IPC", "CompositorScreenshot", "GCMinor", "JS allocation", "Native allocation", "Jank", "Text", "FileIO"} {
		p.Main.Mark(start, stream.PhaseEnd, b.Event(stream.Event{Name: typ, Type: typ, Bare: true}))
	}
	shared := func(name string, fields ...stream.EventField) stream.EventID {
		return b.Event(stream.Event{Name: name, Type: "shared", Display: stream.ShowNetwork, Description: "one of " + name, ColorField: "color", Nested: true, Fields: fields,
			Graphs: []stream.Graph{{Field: "n", Shape: "line", Color: "teal"}, {Field: "n", Shape: "cake"}, {Field: "n", Shape: "bar", Color: "mauve"}}})
	}
	n, color := stream.EventField{Name: "n", Type: stream.Int}, stream.EventField{Name: "color", Type: stream.Text, Format: stream.FormatString}
	p.Main.Mark(start, stream.Instant, shared("a", n, color), 1, "red")
	color.Format = stream.FormatText
	p.Main.Mark(start, stream.Instant, shared("b", color, n, text("n2")), "blue", 2, "x")
}

func nested(b *Builder) {
	p := shop(b)
	values := []any{JSON(`[1,"two",null]`), JSON(`{"a":{"b":[]}}`), JSON(`[["a","b"],["c","d"]]`), JSON(`[["a"]]`), JSON("true"), JSON("null"), JSON("1.5"), JSON(`"text"`),
		JSON("["), JSON(""), JSON("\xff"), JSON("\"\xff\""), JSON(" "), "text", 3, 2.5, nil}
	for i, f := range []stream.EventField{
		{Type: stream.JSON, Format: stream.FormatText}, {Type: stream.JSON, Format: stream.FormatText, Unlisted: true}, {Type: stream.JSON, Format: stream.FormatText, Shown: "list"},
		{Type: stream.JSON, Format: stream.FormatText, Shown: `{"type":"table","columns":[{"label":"A"},{"type":"integer"}]}`}, {Type: stream.JSON, Format: stream.FormatText, Shown: `{"type":`},
		{Type: stream.Int, Format: stream.FormatNanoseconds, Shown: "microseconds"}, {Type: stream.Int, Format: stream.FormatNanoseconds, Shown: "fortnights"},
		{Type: stream.Text, Format: stream.FormatString}, {Type: stream.Text, Format: stream.FormatFlow}, {Type: stream.Int, Format: stream.FormatBool, Unlisted: true}, {Type: stream.Text, Format: stream.FormatText},
	} {
		f.Name = "value"
		e := b.Event(stream.Event{Name: fmt.Sprint("nested ", i), Fields: []stream.EventField{f}})
		for at, v := range values {
			p.Main.Mark(start+stream.Time(at), stream.Instant, e, v)
		}
	}
}

func whose(b *Builder) {
	p := shop(b)
	t := p.Track("whose")
	for i, bytes := range []int64{512, 64, -512, 0} {
		p.Main.AllocateAt(start+stream.Time(i), b.Stack("main.main", []string{"malloc", "free"}[i/2]), bytes, []int64{0x7f0000001000, math.MaxInt64, 0x7f0000001000, -1}[i], 7)
	}
	labels := func(pairs ...string) stream.LabelsID {
		var set []stream.Attr
		for i := 0; i < len(pairs); i += 2 {
			set = append(set, stream.Attr{Key: pairs[i], Value: pairs[i+1]})
		}
		return b.Tables.Labels.Intern(stream.NewLabelSet(set...))
	}
	request := labels("route", "/cart", "customer", "4711")
	e := b.Event(stream.Event{Name: "step", Fields: []stream.EventField{{Name: "goroutine", Type: stream.Int}}})
	for i, who := range []stream.Owner{
		{}, {Thread: 7, Goroutine: 1}, {Goroutine: 2, Labels: request}, {Goroutine: 3, Labels: request}, {Goroutine: 2}, {},
		{Labels: labels("customer", "4711")}, {Goroutine: math.MaxInt64, Thread: math.MaxInt64, Labels: labels("goroutine", "x", "process", "y", "track", "z")},
		{Goroutine: 5, Labels: labels("", "", "odd", strings.Join(oddTexts, ""))}, {Thread: 8, Labels: labels()},
		{Goroutine: 6, Span: span(1, 1)}, {Goroutine: 6, Span: span(1, 2)}, {Span: span(math.MaxUint64, math.MaxUint64)}, {Span: span(2, 0)},
		{Labels: labels(stream.LabelTrace, span(3, 3).TraceText(), stream.LabelSpan, span(3, 3).IDText())},
		{Labels: labels(stream.LabelTrace, "cut", stream.LabelSpan, "none"), Span: span(4, 4)},
	} {
		at := start + stream.Time(i)
		t.Add(Row{Series: stream.Series{Kind: stream.Samples}, Time: at, Stack: b.Stack("main.main"), Weight: 1, CPU: ms, Owner: who})
		t.Add(Row{Series: stream.Series{Kind: stream.Markers, Event: e}, Time: at, Args: []any{i}, Owner: who})
	}
}

func span(trace, id uint64) stream.Span { return stream.Span{Trace: [2]uint64{trace, trace}, ID: id} }

// oddTexts are texts that break careless writers.
var oddTexts = []string{
	"", " ", "\x00", "\x01\x1f\x7f", "line\nline\r\n\ttab", `quote " and \ backslash`, "</script><!--", "\u2028\u2029",
	"\xff\xfe", "cut \xe2\x82", "\xed\xa0\x80", "\ufffd", "\U0001f600", "a,b;c", "null", "{marker.data.x}",
}

func texts(b *Builder) {
	p := shop(b)
	e := b.Event(stream.Event{Name: "text", Fields: []stream.EventField{{Name: "s", Type: stream.Text, Format: stream.FormatString}}})
	for i, s := range append(oddTexts, strings.Repeat("0123456789abcdef", 100<<10/16)) {
		at := start + stream.Time(i)*ms
		p.Main.Mark(at, stream.Instant, e, s)
		p.Main.Sample(at, b.Stack("main.main", s+"()"))
		p.Log(at, stream.LogWarn, s)
		p.Track("track "+s[:min(len(s), 20)]).Sample(at, 0)
	}
	odd := strings.Join(oddTexts, "")
	q := b.Process(stream.Process{Instance: 7, Pid: 3, Name: odd, Service: odd, Host: odd, Exe: odd, Args: []string{odd},
		Attrs: []stream.Attr{{Key: odd, Value: odd}}, Start: start, Exit: stream.Exit{Known: true, Reason: odd, Text: odd}})
	q.Main.Mark(start, stream.Instant, b.Event(stream.Event{Name: odd, Chart: odd, Tooltip: odd, Table: odd, Category: b.Category(odd, odd),
		Fields: []stream.EventField{{Name: odd, Label: odd, Type: stream.Text}}}), odd)
	q.Count(start, q.Counter(stream.Counter{Name: odd, Category: odd, Description: odd}), 1, 1)
	b.Tables.Ledger.Add(stream.Line{Process: "0000000000000007", Reason: stream.ReasonTorn, What: "pages", Where: odd, Count: 1, Bytes: 9})
}

func numbers(b *Builder) {
	p := shop(b)
	e := b.Event(stream.Event{Name: "number", Fields: []stream.EventField{{Name: "f", Type: stream.Float, Format: stream.FormatDecimal}}})
	for i, v := range []any{
		math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0.1, 1e300, math.SmallestNonzeroFloat64, math.MaxFloat64,
		int64(math.MinInt64), int64(math.MaxInt64), uint64(math.MaxUint64), uint64(1<<53 + 1),
	} {
		p.Main.Mark(start+stream.Time(i), stream.Instant, e, v)
	}
	c := p.Counter(stream.Counter{Name: "extreme"})
	p.Count(start, c, math.MinInt64, 0)
	p.Count(start+1, c, math.MaxInt64, math.MaxInt64)
}

func times(b *Builder) {
	p := shop(b)
	e := b.Event(stream.Event{Name: "when"})
	for _, at := range []stream.Time{0, 1, start - 1, start, start + 1, math.MaxInt64} {
		p.Main.Sample(at, b.Stack("main.main"))
		p.Main.Mark(at, stream.Instant, e)
		p.Main.Interval(at, 0, e)
	}
	p.Main.Interval(0, math.MaxInt64, e)
	b.Process(stream.Process{Instance: 1, Pid: 1, Name: "timeless"})
}

func unicode(b *Builder) {
	p := b.Process(stream.Process{Instance: 1, Pid: 1, Name: "Größe 測試", Service: "магазин", Start: start})
	t := p.Track("работник 👩‍💻")
	e := b.Event(stream.Event{Name: "événement", Category: b.Category("分類", "blue"), Fields: []stream.EventField{{Name: "länge", Label: "Länge", Type: stream.Text}}})
	t.Sample(start, b.Stack("main.große", "main.函数"))
	t.Mark(start, stream.Instant, e, "العربية")
}

func manyRows(b *Builder) {
	p := shop(b)
	e := b.Event(stream.Event{Name: "tick", Fields: []stream.EventField{{Name: "n", Type: stream.Int}, {Name: "s", Type: stream.Text}}})
	stacks := []stream.StackID{0, b.Stack("main.main"), b.Stack("main.main", "main.a"), b.Stack("main.main", "main.b")}
	for i := range 10_000 {
		at := start + stream.Time(i)*ms
		p.Main.Sample(at, stacks[i%len(stacks)])
		p.Main.Mark(at, stream.Instant, e, i, fmt.Sprint("tick ", i%100))
	}
}

func weights(b *Builder) {
	t := shop(b).Main
	stack := b.Stack("main.main")
	for i, w := range []int64{0, 1, 2, 1 << 40} {
		for k, cpu := range []int64{-1, 0, 1, ms, 1 << 50} {
			t.Add(Row{Time: start + stream.Time(10*i+k), Stack: stack, Weight: w, CPU: cpu})
		}
	}
}

func counters(b *Builder) {
	p := shop(b)
	level := p.Counter(stream.Counter{Name: "balance", Description: "may be overdrawn"})
	total := p.Counter(stream.Counter{Name: "sent", Category: "network", Unit: stream.FormatBytes, Total: true})
	p.Counter(stream.Counter{Name: "never counted"})
	for i, v := range []int64{0, 5, -5, -5, 1 << 40} {
		p.Count(start+stream.Time(i)*ms, level, v, 0)
		p.Count(start+stream.Time(i)*ms, total, int64(i)*1000, int64(i))
	}
}

func pauses(b *Builder) {
	p := shop(b)
	p.Pause(start+1*ms, stream.PhaseEnd, stream.PausedAll)
	p.Pause(start+2*ms, stream.PhaseStart, stream.PausedSampling)
	p.Pause(start+3*ms, stream.PhaseEnd, stream.PausedSampling)
	p.Pause(start+3*ms, stream.PhaseStart, stream.PausedCollecting)
}

func allKinds(b *Builder) {
	p := shop(b)
	t := p.Track("worker")
	stack := b.Stack("main.main", "main.work")
	for _, k := range []*Track{t, p.Main} {
		k.Sample(start+4*ms, stack)
		k.Mark(start+1*ms, stream.Instant, b.Event(stream.Event{Name: "tick"}))
		k.Interval(start+1*ms, ms, b.Event(stream.Event{Name: "span", Category: b.Category("Work", "green")}))
		k.Delay(start+2*ms, 300)
	}
	p.Track("worker (waiting)").Wait(start+5*ms, stack, int64(2*ms), 2)
	p.Track("worker delay").Measure(start+5*ms, p.Counter(stream.Counter{Name: "delay", Unit: stream.FormatNanoseconds, Measure: true}), stack, 3*int64(ms))
	p.Main.Allocate(start+2*ms, stream.PhaseStart, stack, 4096, 2)
	p.Main.Allocate(start+3*ms, stream.Instant, stack, 1<<20, 3)
	p.Main.Allocate(start+4*ms, stream.Instant, 0, -4096, 2)
	p.Count(start+3*ms, p.Counter(stream.Counter{Name: "rss", Category: "memory", Unit: stream.FormatBytes}), 1<<20, 3)
	p.Pause(start+5*ms, stream.PhaseStart, stream.PausedAll)
	p.Pause(start+6*ms, stream.PhaseEnd, stream.PausedAll)
	p.Overhead(start+7*ms, 10, 20, 30, 40, 50)
	p.Log(start+8*ms, stream.LogError, "disk is full")
	p.Page(start, stream.PhaseStart, 1, 2, 0, 1, "https://example.org/?q=1")
	p.Page(start+9*ms, stream.PhaseEnd, 1, 2, 0, 1, "https://example.org/?q=1")
	b.Tables.Ledger.Add(stream.Line{Process: "feedfacecafe0001", Reason: stream.ReasonDropped, What: "samples", Count: 7})
	b.Tables.Ledger.Add(stream.Line{Reason: stream.ReasonUnreadable, What: "files", Where: "notes.txt", Count: 1, Bytes: 100})
}
