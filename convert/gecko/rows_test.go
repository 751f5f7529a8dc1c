package gecko

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// build converts the rows that f adds to a process, and returns the profile.
func build(t *testing.T, f func(*streamtest.Builder, *streamtest.Process)) object {
	t.Helper()
	b := streamtest.NewBuilder()
	f(b, b.Process(stream.Process{Instance: 1, Pid: 1, Name: "shop", Start: begin, End: begin + second}))
	output := convert(t, b.Source())
	check(t, output)
	var top object
	if err := json.Unmarshal(output, &top); err != nil {
		t.Fatal(err)
	}
	return top
}

// mainRows are the rows of a table of the first thread, as JSON.
func mainRows(t *testing.T, profile object, table string) string {
	t.Helper()
	return rowsOf(t, members(profile.list("threads"))[0].object(table))
}

func rowsOf(t *testing.T, table object) string {
	t.Helper()
	text, err := json.Marshal(table["data"])
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestWeights(t *testing.T) {
	profile := build(t, func(b *streamtest.Builder, p *streamtest.Process) {
		stack := b.Stack("main")
		for i, row := range []streamtest.Row{{Weight: 3, CPU: 5}, {Weight: 2, CPU: -1}, {Weight: 0, CPU: 6}, {Weight: 1, CPU: 0}} {
			row.Time, row.Stack = begin+stream.Time(i)*milli, stack
			p.Main.Add(row)
		}
	})
	want := `[[0,0.25,5],[0,0.25,0],[0,0.25,0],[0,1.25],[0,1.25],[null,2.25,6],[0,3.25,0]]`
	if got := mainRows(t, profile, "samples"); got != want {
		t.Errorf("samples %s\nwant    %s", got, want)
	}
}

// A sample's rows have a bound, and so have those of all samples. One sample's rows may
// lie in several pieces. Only its first row has CPU time.
func TestWeightBeyondBound(t *testing.T) {
	const most = 2*pieceRows + 1
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Pid: 1, Name: "shop", Start: begin, End: begin + second})
	stack := b.StackOf(stream.Frame{Function: b.Tables.Strings.Intern("main")})
	for i := range 3 {
		p.Main.Add(streamtest.Row{Time: begin + stream.Time(i), Stack: stack, Weight: most - 1 + int64(i), CPU: 7})
	}
	p.Main.Add(streamtest.Row{Time: begin + 4, Stack: stack, Weight: 9, CPU: 7}) // of which two have room
	var out bytes.Buffer
	s := newSink(&out).(*Sink)
	s.maxRepeat, s.repeatsLeft = most, 3*(most-1)
	if err := stream.Copy(s, b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]int{`0.25`: most - 1, `0.250001`: most, `0.250002`: most, `0.250004`: 2} {
		first, further := strings.Count(out.String(), "[0,"+at+",7]"), strings.Count(out.String(), "[0,"+at+",0]")
		if first != 1 || first+further != want {
			t.Errorf("at %s %d rows with CPU time and %d without, want %d in all", at, first, further, want)
		}
	}
	lines := s.tables.Ledger.Lines()
	if len(lines) != 1 || lines[0].What != "samples" || lines[0].Reason != stream.ReasonUnsupported || lines[0].Count != 1+7 {
		t.Errorf("ledger %v", lines)
	}
}

// Places in one function are one frame.
func TestMerge(t *testing.T) {
	profile := build(t, func(b *streamtest.Builder, p *streamtest.Process) {
		exe := b.Tables.Modules.Intern(stream.Module{Name: "shop"})
		f, g := b.Tables.Strings.Intern("f"), b.Tables.Strings.Intern("g")
		for i := range uint64(4) {
			p.Main.Sample(begin+stream.Time(i), b.StackOf(
				stream.Frame{Module: exe, Offset: i, Function: f, Line: int32(i)}, stream.Frame{Module: exe, Offset: 100 + i%2, Function: g}))
		}
		p.Main.Sample(begin+10, b.StackOf(stream.Frame{Module: exe, Offset: 1, Function: f}))
	})
	if got, want := mainRows(t, profile, "samples"), `[[1,0.25],[1,0.250001],[1,0.250002],[1,0.250003],[0,0.25001]]`; got != want {
		t.Errorf("samples %s, want %s", got, want)
	}
	if got, want := mainRows(t, profile, "stackTable"), `[[null,0],[0,1]]`; got != want {
		t.Errorf("stacks %s, want %s", got, want)
	}
}

func TestEndAtStart(t *testing.T) {
	const start = begin - begin%milli
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Name: "shop", Start: start, End: start + second})
	e := b.Event(stream.Event{Name: "e"})
	for _, phase := range []stream.Phase{stream.Instant, stream.PhaseStart, stream.PhaseEnd} {
		p.Main.Mark(start, phase, e)
	}
	p.Main.Interval(start, 0, e)
	output := convert(t, b.Source())
	check(t, output)
	want := `[[0,0,null,0,0,{"type":"e"}],[0,0,null,2,0,{"type":"e"}],[0,null,0.000001,3,0,{"type":"e"}],[0,0,0,1,0,{"type":"e"}]]`
	if !strings.Contains(string(output), want) {
		t.Errorf("the markers are not %s:\n%s", want, output)
	}
}

func TestJank(t *testing.T) {
	tests := []struct {
		name   string
		delays []int64 // ms, one a ms
		want   string  // start and end
	}{
		{"short", []int64{10, 49, 0}, ``},
		{"grows and falls", []int64{10, 49, 50, 60, 0}, `[-56.75,3.25]`},
		{"falls and grows", []int64{80, 10, 70}, `[-79.75,0.25][-67.75,2.25]`},
		{"until the end", []int64{50}, `[-49.75,0.25]`},
		{"stays", []int64{60, 60}, `[-58.75,1.25]`},
	}
	for _, tt := range tests {
		profile := build(t, func(b *streamtest.Builder, p *streamtest.Process) {
			b.Tables.Processes[0].Go = "go1.26"
			for i, delay := range tt.delays {
				p.Main.Delay(begin+stream.Time(i)*milli, delay*int64(milli))
			}
		})
		var got strings.Builder
		thread := members(profile.list("threads"))[0]
		for _, row := range thread.table("markers").rows {
			text, err := json.Marshal(row[1:3])
			if err != nil {
				t.Fatal(err)
			}
			got.Write(text)
			if name := thread.list("stringTable")[int(row[0].(float64))]; name != "scheduler delay" {
				t.Errorf("%s: a delay in a Go program is called %v", tt.name, name)
			}
		}
		if got.String() != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got.String(), tt.want)
		}
	}
}

func TestCounterRows(t *testing.T) {
	type value struct{ value, number int64 }
	tests := []struct {
		name   string
		values []value // one a ms
		want   string
	}{
		{"one", []value{{5, 0}}, `[[0.25,5]]`},
		{"zero", []value{{0, 0}}, `[[0.25,0]]`},
		{"zero that stays", []value{{0, 0}, {0, 0}, {0, 0}}, `[[0.25,0],[2.25,0]]`},
		{"changes", []value{{5, 0}, {7, 0}, {-1, 0}}, `[[0.25,5],[1.25,2],[2.25,-8]]`},
		{"last", []value{{5, 0}, {5, 0}, {5, 0}}, `[[0.25,5],[2.25,0]]`},
		{"before a change", []value{{5, 0}, {5, 0}, {5, 0}, {6, 0}}, `[[0.25,5],[2.25,0],[3.25,1]]`},
		{"first behind a change", []value{{5, 0}, {7, 0}, {7, 0}, {7, 0}, {7, 0}, {8, 0}},
			`[[0.25,5],[1.25,2],[2.25,0],[4.25,0],[5.25,1]]`},
		{"there and back", []value{{5, 0}, {7, 0}, {5, 0}, {5, 0}, {5, 0}, {5, 0}}, `[[0.25,5],[1.25,2],[2.25,-2],[3.25,0],[5.25,0]]`},
		{"two at once", []value{{5, 0}, {5, 0}, {7, 0}, {7, 0}}, `[[0.25,5],[1.25,0],[2.25,2],[3.25,0]]`},
		{"numbers", []value{{5, 1}, {5, 3}, {5, 3}}, `[[0.25,5,1],[1.25,0,2],[2.25,0,0]]`},
	}
	for _, tt := range tests {
		profile := build(t, func(b *streamtest.Builder, p *streamtest.Process) {
			c := p.Counter(stream.Counter{Name: "c"})
			for i, v := range tt.values {
				p.Count(begin+stream.Time(i)*milli, c, v.value, v.number)
			}
		})
		if got := rowsOf(t, members(profile.list("counters"))[0].object("samples")); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		repeated := len(tt.values) - strings.Count(tt.want, "],") - 1
		log := compact(t, profile.object("profileGatheringLog"))
		line := fmt.Sprintf(`"count":%d,"process":"0000000000000001","reason":"repeated"`, repeated)
		if strings.Contains(log, line) != (repeated > 0) || strings.Contains(log, `"reason":"repeated"`) != (repeated > 0) {
			t.Errorf("%s: %d rows left out, but the ledger has %s", tt.name, repeated, log)
		}
	}
}

func TestCounterCategory(t *testing.T) {
	tests := []struct {
		counter stream.Counter
		want    string
	}{
		{stream.Counter{Unit: stream.FormatBytes}, "Memory"},
		{stream.Counter{Unit: stream.FormatBytes, Category: "GC"}, "Memory"},
		{stream.Counter{Unit: stream.FormatBytes, Category: "GC", Total: true}, "GC"},
		{stream.Counter{Unit: stream.FormatBytes, Category: "Network", Total: true}, "Bandwidth"},
		{stream.Counter{Unit: stream.FormatPicowatt, Category: "x"}, "power"},
		{stream.Counter{Unit: stream.FormatNanoseconds, Total: true}, "CPU"},
		{stream.Counter{Unit: stream.FormatNanoseconds, Category: "x"}, "x"},
		{stream.Counter{Category: "Memory"}, "Bytes"},
		{stream.Counter{}, "Other"},
	}
	for _, tt := range tests {
		var tables stream.Tables
		id := tables.Counters.Intern(tt.counter)
		if got := titlesOf(&tables).category(id, &tt.counter); got != tt.want {
			t.Errorf("%+v is in %q, want %q", tt.counter, got, tt.want)
		}
	}
}

// The viewer titles counters of memory and of networks by their kind, not by their names.
// So there is one of each kind in a process; the others keep their names.
func TestCountersAreToldApart(t *testing.T) {
	var tables stream.Tables
	for _, c := range []stream.Counter{
		{Process: 1, Name: "heap", Category: "Go", Unit: stream.FormatBytes},
		{Process: 1, Name: "RSS", Category: "Memory", Unit: stream.FormatBytes},
		{Process: 1, Name: "cgroup", Category: "Memory", Unit: stream.FormatBytes},
		{Process: 1, Name: "sent", Category: "Network", Unit: stream.FormatBytes, Total: true},
		{Process: 1, Name: "received", Category: "Network", Unit: stream.FormatBytes, Total: true},
		{Process: 2, Name: "heap", Category: "Go", Unit: stream.FormatBytes},
		{Process: 2, Name: "heap goal", Category: "Go", Unit: stream.FormatBytes},
		{Process: 2, Name: "sent", Category: "Bandwidth", Unit: stream.FormatBytes, Total: true},
		{Process: 3, Name: "malloc", Category: "Memory", Unit: stream.FormatBytes},
	} {
		tables.Counters.Intern(c)
	}
	var got []string
	for id := stream.CounterID(1); int(id) <= tables.Counters.Len(); id++ {
		c := tables.Counters.At(id)
		got = append(got, titlesOf(&tables).category(id, &c))
	}
	want := []string{"Go", "Memory", "Bytes", "Network", "Network", "Memory", "Go", "Bandwidth", "Memory"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Every format shows every type that it can.
func TestArguments(t *testing.T) {
	at := uint64(begin + 2*milli)
	tests := []struct {
		format  stream.Format
		privacy stream.Privacy
		arg     any
		want    string // format in the schema, and the payload behind its type
	}{
		{stream.FormatInteger, 0, int64(-5), `integer "f":-5`},
		{stream.FormatInteger, 0, uint64(math.MaxUint64), `integer "f":18446744073709551615`},
		{stream.FormatInteger, 0, "5", `integer `},
		{stream.FormatInteger, 0, nil, `integer `},
		{stream.FormatDecimal, 0, 0.5, `decimal "f":0.5`},
		{stream.FormatDecimal, 0, math.NaN(), `decimal `},
		{stream.FormatDecimal, 0, math.Inf(-1), `decimal `},
		{stream.FormatText, 0, "a\"b", `string "f":"a\"b"`},
		{stream.FormatText, 0, int64(7), `string "f":"7"`},
		{stream.FormatText, stream.PrivacyPath, "/tmp", `file-path "f":"/tmp"`},
		{stream.FormatText, stream.PrivacyURL, "u", `url "f":"u"`},
		{stream.FormatText, stream.PrivacyUser, "u", `sanitized-string "f":"u"`},
		{stream.FormatString, stream.PrivacySecret, "u", `sanitized-string "f":"u"`},
		{stream.FormatBytes, 0, uint64(4096), `bytes "f":4096`},
		{stream.FormatNanoseconds, 0, int64(1500), `duration "f":0.0015`},
		{stream.FormatNanoseconds, 0, int64(-1500), `duration "f":-0.0015`},
		{stream.FormatNanoseconds, 0, 2.5e6, `duration "f":2.5`},
		{stream.FormatNanoseconds, 0, uint64(math.MaxUint64), `duration "f":9223372036854.775807`},
		{stream.FormatTime, 0, int64(at), `time "f":2.25`},
		{stream.FormatTime, 0, at, `time "f":2.25`},
		{stream.FormatPercentage, 0, 0.25, `percentage "f":0.25`},
		{stream.FormatHexadecimal, 0, uint64(255), `hexadecimal "f":255`},
		{stream.FormatBool, 0, uint64(1), `integer "f":1`},
		{stream.FormatPath, 0, "/x", `file-path "f":"/x"`},
		{stream.FormatURL, 0, "http://x", `url "f":"http://x"`},
		{stream.FormatString, 0, "often", `unique-string "f":1`},
		{stream.FormatString, 0, int64(3), `unique-string "f":1`},
		{stream.FormatFlow, 0, uint64(0xabc), `flow-id "f":1`},
		{stream.FormatFlowEnd, 0, "abc", `terminating-flow-id "f":1`},
		{stream.FormatThread, 0, uint64(12), `tid "f":"12"`},
		{stream.FormatProcess, 0, uint64(13), `pid "f":"13"`},
		{stream.FormatWindow, 0, uint64(14), `integer "innerWindowID":14`},
		{stream.FormatWindow, 0, uint64(0), `integer `},
		{stream.FormatPicowatt, 0, uint64(15), `integer "f":15`},
	}
	for _, tt := range tests {
		b := streamtest.NewBuilder()
		p := b.Process(stream.Process{Name: "shop", Start: begin, End: begin + second})
		e := b.Event(stream.Event{Name: "e", Fields: []stream.EventField{{Name: "f", Format: tt.format, Privacy: tt.privacy}}})
		p.Main.Mark(begin, stream.Instant, e, tt.arg)
		output := string(convert(t, b.Source()))
		check(t, []byte(output))
		_, schema, _ := strings.Cut(output, `"format":"`)
		format, _, _ := strings.Cut(schema, `"`)
		_, payload, _ := strings.Cut(output, `{"type":"e"`)
		payload, _, _ = strings.Cut(payload, "}]")
		if got := format + " " + strings.TrimPrefix(payload, ","); got != tt.want {
			t.Errorf("format %d of %v (privacy %d): %s, want %s", tt.format, tt.arg, tt.privacy, got, tt.want)
		}
	}
}

func TestPauses(t *testing.T) {
	const all, sampling = stream.PausedAll, stream.PausedSampling
	profile := build(t, func(b *streamtest.Builder, p *streamtest.Process) {
		for i, row := range []struct {
			phase  stream.Phase
			reason int64
		}{
			{stream.PhaseEnd, sampling}, {stream.PhaseStart, all}, {stream.PhaseStart, all}, {stream.PhaseStart, sampling},
			{stream.PhaseEnd, all}, {stream.PhaseEnd, all},
		} {
			p.Pause(begin+stream.Time(i)*milli, row.phase, row.reason)
		}
	})
	var got []string
	for _, r := range members(profile.list("pausedRanges")) {
		text, err := json.Marshal([]any{r["startTime"], r["endTime"], r["reason"]})
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(text))
	}
	want := []string{`[null,0.25,"sampling-paused"]`, `[2.25,4.25,"profiler-paused"]`, `[null,5.25,"profiler-paused"]`, `[3.25,null,"sampling-paused"]`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A window has its first page, or the first that is not blank. Ends of pages are
// not written.
func TestPages(t *testing.T) {
	profile := build(t, func(b *streamtest.Builder, p *streamtest.Process) {
		for i, page := range []struct {
			phase  stream.Phase
			window int64
			url    string
		}{
			{stream.PhaseStart, 7, "about:blank"}, {stream.PhaseStart, 8, "https://a/"}, {stream.PhaseEnd, 8, ""},
			{stream.PhaseStart, 7, "https://b/"}, {stream.PhaseStart, 8, "https://c/"}, {stream.PhaseStart, 7, "about:blank"},
			{stream.PhaseStart, 9, "about:blank"}, {stream.PhaseEnd, 10, ""},
		} {
			p.Page(begin+stream.Time(i)*milli, page.phase, 1, page.window, 5, page.window%2, page.url)
		}
	})
	text, err := json.Marshal(profile.list("pages"))
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"embedderInnerWindowID":5,"innerWindowID":8,"isPrivateBrowsing":false,"tabID":1,"url":"https://a/"},` +
		`{"embedderInnerWindowID":5,"innerWindowID":7,"isPrivateBrowsing":true,"tabID":1,"url":"https://b/"},` +
		`{"embedderInnerWindowID":5,"innerWindowID":9,"isPrivateBrowsing":true,"tabID":1,"url":"about:blank"}]`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Error(diff)
	}
}

// Segments in another order than package stream promises are refused, not
// written somewhere.
func TestOrder(t *testing.T) {
	tables := &stream.Tables{Processes: []stream.Process{{Name: "a"}, {Name: "b"}}}
	first := tables.Tracks.Intern(stream.Track{Process: 1, Main: true})
	other := tables.Tracks.Intern(stream.Track{Process: 1, Name: "t"})
	of2 := tables.Tracks.Intern(stream.Track{Process: 2, Main: true})
	series := func(p stream.ProcessID, track stream.TrackID, k stream.Kind) *stream.Batch {
		b := new(stream.Batch)
		b.Reset(stream.Series{Process: p, Track: track, Kind: k}, 0)
		return b
	}
	tests := []struct {
		name   string
		before *stream.Batch
		then   *stream.Batch
	}{
		{"process", series(2, of2, stream.Samples), series(1, first, stream.Samples)},
		{"no such process", series(1, first, stream.Samples), series(3, 0, stream.Logs)},
		{"track", series(1, other, stream.Samples), series(1, first, stream.Samples)},
		{"track of another process", series(1, first, stream.Samples), series(1, of2, stream.Samples)},
		{"no track", series(1, first, stream.Samples), series(1, 0, stream.Samples)},
		{"samples behind delays", series(1, first, stream.Delays), series(1, first, stream.Samples)},
		{"samples behind pauses", series(1, 0, stream.Pauses), series(1, other, stream.Samples)},
	}
	for _, tt := range tests {
		s := newSink(io.Discard)
		if err := s.Begin(tables); err != nil {
			t.Fatal(err)
		}
		if err := s.Segment(tt.before); err != nil {
			t.Errorf("%s: %v too early", tt.name, err)
		}
		if err := s.Segment(tt.then); !errors.Is(err, ErrOrder) {
			t.Errorf("%s: %v, want %v", tt.name, err, ErrOrder)
		}
	}
	s := newSink(io.Discard)
	if err := s.Begin(tables); err != nil {
		t.Fatal(err)
	}
	for _, k := range []stream.Kind{stream.Pauses, stream.Pages} {
		if err := s.Segment(series(1, 0, k)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Segment(series(1, 0, stream.Pauses)); !errors.Is(err, ErrOrder) {
		t.Errorf("pauses a second time: %v", err)
	}
}

// The sink counts what it loses in the ledger of the tables, where its caller reads it.
func TestLossIsTold(t *testing.T) {
	tables := &stream.Tables{Processes: []stream.Process{{Instance: 0xab, Name: "a"}}}
	track := tables.Tracks.Intern(stream.Track{Process: 1, Main: true})
	b := new(stream.Batch)
	b.Reset(stream.Series{Process: 1, Track: track, Kind: stream.Samples}, 0)
	streamtest.AppendRow(b, streamtest.Row{Series: b.Series, Time: 1, Weight: MaxRepeat + 5})
	s := newSink(io.Discard)
	for _, err := range []error{s.Begin(tables), s.Segment(b), s.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := []stream.Line{{Process: "00000000000000ab", Reason: stream.ReasonUnsupported, What: "samples", Count: 5}}
	if diff := cmp.Diff(want, tables.Ledger.Lines()); diff != "" {
		t.Error(diff)
	}
}
