package gecko

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// These tests state rules of Gecko's profiler, and which of its defects are not
// repeated.

// compact is a value as JSON.
func compact(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Overhead is in microseconds, times too, for that is what the viewer divides by.
// There are statistics from two rows on; the percentage is a ratio.
func TestOverheadStatistics(t *testing.T) {
	overheads := func(rows int) object {
		profile := build(t, func(b *streamtest.Builder, p *streamtest.Process) {
			for i, o := range [][4]int64{{1000, 2000, 3000, 4000}, {3000, 0, 1000, 26_000}, {2000, 1000, 2000, 0}}[:rows] {
				p.Overhead(begin+stream.Time(i*i)*milli, o[0], o[1], o[2], o[3], 9)
			}
		})
		return profile.object("profilerOverhead")
	}
	if got := overheads(1); got.has("statistics") || rowsOf(t, got.object("samples")) != `[[250,1,2,3,4]]` {
		t.Errorf("of one row: %v", got)
	}
	got := overheads(3)
	if want := `[[250,1,2,3,4],[1250,3,0,1,26],[4250,2,1,2,0]]`; rowsOf(t, got.object("samples")) != want {
		t.Errorf("rows %s, want %s", rowsOf(t, got.object("samples")), want)
	}
	want := map[string]float64{
		"profiledDuration": 4000, "samplingCount": 3, "overheadDurations": 45, "overheadPercentage": 45.0 / 4000,
		"meanInterval": 2000, "minInterval": 1000, "maxInterval": 3000,
		"meanOverhead": 15, "minOverhead": 5, "maxOverhead": 30,
		"meanLockings": 2, "minLockings": 1, "maxLockings": 3,
		"meanCleaning": 1, "minCleaning": 0, "maxCleaning": 2,
		"meanCounter": 2, "minCounter": 1, "maxCounter": 3,
		"meanThread": 10, "minThread": 0, "maxThread": 26,
	}
	statistics := map[string]float64{}
	for key := range got.object("statistics") {
		statistics[key] = got.object("statistics").number(key)
	}
	if diff := cmp.Diff(want, statistics); diff != "" {
		t.Error(diff)
	}
}

// The earliest time is the start until the ring has discarded chunks. Then it is when
// the oldest remaining chunk was begun, or null if that is unknown.
func TestEarliest(t *testing.T) {
	for _, tt := range []struct {
		rangeStart uint64
		earliest   stream.Time
		want       any
	}{{0, 0, 0.25}, {1, 0, 0.25}, {8193, 0, nil}, {8193, begin + 5*milli, 5.25}, {0, begin + 3*milli, 3.25}} {
		b := streamtest.NewBuilder()
		b.Process(stream.Process{Name: "shop", Start: begin, End: begin + second, RangeStart: tt.rangeStart, Earliest: tt.earliest, Revision: "3f2a"})
		var top object
		if err := json.Unmarshal(convert(t, b.Source()), &top); err != nil {
			t.Fatal(err)
		}
		meta := top.object("meta")
		if got, ok := meta["contentEarliestTime"]; !ok || got != tt.want || meta["appBuildID"] != "3f2a" {
			t.Errorf("range from %d on: %v, want %v; build %v", tt.rangeStart, got, tt.want, meta["appBuildID"])
		}
	}
}

// A process's log, what became of its chunks, and its lines of the ledger stand under its pid.
func TestLogs(t *testing.T) {
	profile := build(t, func(b *streamtest.Builder, p *streamtest.Process) {
		p.Log(begin+milli, stream.LogInfo, "started")
		p.Log(begin+2*milli, stream.LogError, "disk full")
		b.Tables.Ledger.Add(stream.Line{Process: "0000000000000001", Reason: stream.ReasonTorn, What: "blocks", Where: "chunk-00001", Count: 2, Bytes: 30})
		b.Tables.Process(1).Chunks = []stream.ChunkChange{{Time: begin + 3*milli, Chunks: 1, Bytes: 4096}, {Time: begin + 4*milli, Chunks: -2, Bytes: -8192}}
		b.Tables.Process(1).Exit.Known = true
		b.Process(stream.Process{Instance: 2, Pid: 2, Start: begin, End: begin + second}).Log(begin, stream.LogWarn, "late")
		b.Tables.Ledger.Add(stream.Line{Process: "0000000000000002", Reason: stream.ReasonTorn, What: "blocks", Where: "chunk-00002", Count: 1})
	})
	want := `{"1":{"bufferGlobalController":{"controllerCreationTime_TSms":0.25,"logBegin_TSms":3.25,` +
		`"updates":[[1,3.25,1,4096],[1,4.25,-2,-8192],[1,1000.25,0,0]],"updatesSchema":["0: pid","1: chunkRelease_TSms","2: chunkDiff","3: bytes"]},` +
		`"log":[{"level":"info","text":"started","time":1.25},{"level":"error","text":"disk full","time":2.25}],` +
		`"profilingLogBegin_TSms":0.25,"profilingLogEnd_TSms":1000.25}}`
	if got := compact(t, profile["profilingLog"]); got != want {
		t.Errorf("log %s, want %s", got, want)
	}
	want = `{"2":{"log":[{"level":"warning","text":"late","time":0.25}],"profilingLogBegin_TSms":0.25,"profilingLogEnd_TSms":1000.25}}`
	if got := compact(t, members(profile.list("processes"))[0]["profilingLog"]); got != want {
		t.Errorf("log of the second process %s, want %s", got, want)
	}
	if lines := members(profile.object("profileGatheringLog").object("2").list("ledger")); len(lines) != 1 || lines[0]["where"] != "chunk-00002" {
		t.Errorf("ledger of the second process %v", lines)
	}
	lines := members(profile.object("profileGatheringLog").object("1").list("ledger"))
	if len(lines) != 1 || lines[0]["where"] != "chunk-00001" || lines[0]["count"] != 2.0 || lines[0]["bytes"] != 30.0 {
		t.Errorf("ledger %v", lines)
	}
}

// There may be any number of types. Only types with a marker have a schema.
func TestManyMarkerTypes(t *testing.T) {
	const types = 1000
	profile := build(t, func(b *streamtest.Builder, p *streamtest.Process) {
		for i := range 2 * types {
			e := b.Event(stream.Event{Name: fmt.Sprintf("e%04d", i)})
			if i%2 == 0 {
				p.Main.Mark(begin, stream.Instant, e)
			}
		}
	})
	schemas := members(profile.object("meta").list("markerSchema"))
	if len(schemas) != types || schemas[1].text("name") != "e0002" {
		t.Errorf("%d schemas, the second %v", len(schemas), schemas[1])
	}
	if rows := members(profile.list("threads"))[0].table("markers").rows; len(rows) != types {
		t.Errorf("%d markers", len(rows))
	}
}

// A field's schema says all that was defined, and a display every place.
func TestSchema(t *testing.T) {
	profile := build(t, func(b *streamtest.Builder, p *streamtest.Process) {
		e := b.Event(stream.Event{Name: "e", Display: 1<<7 - 1, Chart: "c", Tooltip: "{marker.data.a}", Table: "t", Fields: []stream.EventField{
			{Name: "a", Label: "A", Format: stream.FormatBytes, Searchable: true}, {Name: "b", Format: stream.FormatFlow, Hidden: true}}})
		p.Main.Mark(begin, stream.Instant, e, uint64(1), uint64(0xabc))
		p.Main.Mark(begin, stream.Instant, e, uint64(1), uint64(0xabc))
	})
	want := `[{"chartLabel":"c","data":[{"format":"bytes","key":"a","label":"A","searchable":true},{"format":"flow-id","hidden":true,"key":"b"}],` +
		`"display":["marker-chart","marker-table","timeline-overview","timeline-memory","timeline-ipc","timeline-fileio","stack-chart"],` +
		`"name":"e","tableLabel":"t","tooltipLabel":"{marker.data.a}"}]`
	if got := compact(t, profile.object("meta")["markerSchema"]); got != want {
		t.Errorf("schema %s\nwant   %s", got, want)
	}
	// A flow is 16 digits, not 17, and once among the strings.
	if got := compact(t, members(profile.list("threads"))[0]["stringTable"]); got != `["e","0000000000000abc"]` {
		t.Errorf("strings %s", got)
	}
}

// A time that a phase does not have is null: 0 is a time.
func TestNoTimeIsNull(t *testing.T) {
	profile := build(t, func(b *streamtest.Builder, p *streamtest.Process) {
		e := b.Event(stream.Event{Name: "e"})
		for i, phase := range []stream.Phase{stream.Instant, stream.PhaseStart, stream.PhaseEnd} {
			p.Main.Mark(begin+stream.Time(i)*milli, phase, e)
		}
		p.Main.Interval(begin+3*milli, int64(milli), e)
	})
	want := `[[0,0.25,null,0,0,{"type":"e"}],[0,1.25,null,2,0,{"type":"e"}],[0,null,2.25,3,0,{"type":"e"}],[0,3.25,4.25,1,0,{"type":"e"}]]`
	if got := mainRows(t, profile, "markers"); got != want {
		t.Errorf("markers %s\nwant    %s", got, want)
	}
}

// A marker's stack is a thread of one sample, whose stack is among those of the
// thread around it.
func TestMarkerStack(t *testing.T) {
	profile := build(t, func(b *streamtest.Builder, p *streamtest.Process) {
		stack := b.Stack("main", "work")
		p.Main.Sample(begin, stack)
		p.Main.Add(streamtest.Row{Series: stream.Series{Kind: stream.Markers, Event: b.Event(stream.Event{Name: "e"})}, Time: begin, Stack: stack})
	})
	thread := members(profile.list("threads"))[0]
	data := object(thread.table("markers").cell(0, "data").(map[string]any))
	if got, want := compact(t, data.object("stack")["samples"]), `{"data":[[1,0.25]],"schema":{"stack":0,"time":1}}`; got != want {
		t.Errorf("samples %s, want %s", got, want)
	}
	if got := mainRows(t, profile, "samples"); got != `[[1,0.25]]` || data.object("stack")["tid"] != thread["tid"] {
		t.Errorf("samples of the thread %s, marker of %v", got, data.object("stack")["tid"])
	}
}

// A conversion uses nothing up: a second one gives the same bytes, exited
// children included.
func TestNothingIsConsumed(t *testing.T) {
	b := streamtest.NewBuilder()
	family(b)
	first := convert(t, b.Source())
	if again := convert(t, b.Source()); !bytes.Equal(first, again) || !strings.Contains(string(first), `"thumbs · pid 1"`) {
		t.Errorf("first %s\nagain %s", first, again)
	}
}

// A part of a category is a subcategory, of which 0 is the category itself. A marker
// has the category alone.
func TestSubcategories(t *testing.T) {
	profile := build(t, func(b *streamtest.Builder, p *streamtest.Process) {
		frame := func(name, sub string) stream.Frame {
			return stream.Frame{Label: true, Function: b.Tables.Strings.Intern(name), Category: b.Tables.Categories.Intern(stream.Category{Name: "Net", Color: "blue", Sub: sub})}
		}
		p.Main.Sample(begin, b.StackOf(frame("a", ""), frame("b", "TLS"), frame("c", "DNS")))
		p.Main.Mark(begin, stream.Instant, b.Event(stream.Event{Name: "e", Category: b.Tables.Categories.Intern(stream.Category{Name: "Net", Color: "blue", Sub: "TLS"})}))
	})
	if got, want := mainRows(t, profile, "markers"), `[[0,0.25,null,0,1,{"type":"e"}]]`; got != want {
		t.Errorf("markers %s, want %s", got, want)
	}
	if got, want := compact(t, profile.object("meta").list("categories")[1]), `{"color":"blue","name":"Net","subcategories":["Other","DNS","TLS"]}`; got != want {
		t.Errorf("category %s, want %s", got, want)
	}
	frames := members(profile.list("threads"))[0].table("frameTable")
	var got [][2]any
	for i := range frames.rows {
		got = append(got, [2]any{frames.cell(i, "category"), frames.cell(i, "subcategory")})
	}
	if diff := cmp.Diff([][2]any{{1.0, 0.0}, {1.0, 2.0}, {1.0, 1.0}}, got); diff != "" {
		t.Error(diff)
	}
}

// Waits are samples of a thread that uses no CPU time; the ledger has those on a track that has
// samples of the CPU.
func TestWaitsAreSamples(t *testing.T) {
	profile := build(t, func(b *streamtest.Builder, p *streamtest.Process) {
		stack, e := b.Stack("main", "lock"), b.Event(stream.Event{Name: "note"})
		for _, name := range []string{"a (waiting)", "b", "c (waiting)", "d (waiting)"} {
			track := p.Track(name)
			track.Wait(begin, stack, 2e6, 2)
			switch name {
			case "b":
				track.Sample(begin, stack)
			case "c (waiting)":
				track.Mark(begin, stream.Instant, e)
			}
		}
		p.Main.Wait(begin, stack, 1e6, 1)
	})
	var names []string
	for _, thread := range members(profile.list("threads")) {
		rows := thread.object("samples").list("data")
		names = append(names, fmt.Sprint(thread.text("name"), rows))
	}
	if want := []string{"GeckoMain[[1 0.25 0]]", "a (waiting)[[1 0.25 0]]", "b[[1 0.25]]", "c (waiting)[[1 0.25 0]]", "d (waiting)[[1 0.25 0]]"}; fmt.Sprint(names) != fmt.Sprint(want) {
		t.Errorf("threads %q, want %q", names, want)
	}
	log := compact(t, profile.object("profileGatheringLog"))
	if !strings.Contains(log, `"count":1`) || !strings.Contains(log, `"what":"waits"`) || !strings.Contains(log, `"what":"lengths of waits"`) {
		t.Errorf("the ledger: %s", log)
	}
}
