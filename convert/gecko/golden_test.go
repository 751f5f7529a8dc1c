package gecko

import (
	"bytes"
	"encoding/json"
	"flag"
	"path/filepath"
	"testing"

	"gprof/stream"
	"gprof/stream/streamtest"
)

var update = flag.Bool("update", false, "write the golden files")

const (
	second = stream.Time(1_000_000_000)
	milli  = second / 1000
	// begin is not a whole millisecond, so that it is not 0 in the output.
	begin = 1_795_000_000*second + 250_000
)

// goldens are recordings whose output is kept as a whole, to be looked at.
var goldens = []struct {
	name  string // of the file
	build func(*streamtest.Builder)
}{
	{"empty", func(*streamtest.Builder) {}},
	{"family", family},
	{"everything", everything},
}

// family is a process and its child: samples alone.
func family(b *streamtest.Builder) {
	parent := b.Process(stream.Process{Instance: 0xa, Pid: 1, Service: "checkout", Version: "1.42.0", Host: "checkout-7f9c",
		Start: begin, End: begin + 2*second, Interval: int64(10 * milli)})
	child := b.Process(stream.Process{Instance: 0xb, Pid: 1, Parent: parent.ID, Name: "thumbs",
		Start: begin + second, End: begin + 2*second, Interval: int64(5 * milli), Exit: stream.Exit{Known: true, Reason: "exited"}})
	exe := b.Tables.Modules.Intern(stream.Module{Build: "c0ffee01", Name: "checkout", Path: "/app/checkout"})
	function := func(name string, offset uint64) stream.Frame {
		return stream.Frame{Module: exe, Offset: offset, Function: b.Tables.Strings.Intern(name)}
	}
	main := b.StackOf(function("main.main", 0x10))
	work := b.StackOf(function("main.main", 0x10), function("main.work", 0x200))
	workElsewhere := b.StackOf(function("main.main", 0x18), function("main.work", 0x234))
	parent.Main.Add(streamtest.Row{Time: begin + 10*milli, Stack: main, Weight: 1, CPU: -1})
	worker := parent.TrackOf(stream.Track{Name: "worker", Start: begin + 100*milli, End: begin + second})
	for i, stack := range []stream.StackID{work, workElsewhere, 0} {
		worker.Add(streamtest.Row{Time: begin + 100*milli + stream.Time(i)*10*milli, Stack: stack, Weight: 1, CPU: int64(i) * 1000})
	}
	child.Track("resize").Add(streamtest.Row{Time: begin + second + 1, Stack: work, Weight: 3, CPU: 15_000_000})
}

// everything has every kind of row, and what is hard about each.
func everything(b *streamtest.Builder) {
	p := b.Process(stream.Process{Instance: 0xfeedfacecafe0001, Pid: 4711, Name: "shop", Version: "2", Revision: "5a1bf7", Host: "h",
		Exe: "/usr/bin/shop", Args: []string{"shop", "-v"}, Attrs: []stream.Attr{{Key: "zone", Value: "b"}}, Go: "go1.26.8", OS: "linux",
		Arch: "amd64", CPUs: 8, Cores: 4, CPUName: "Fast 3000", Module: "github.com/x/shop", SlowedBy: []string{"race"},
		Settings: stream.Settings{Limit: 64 << 20, Features: []string{"markers", "samples"}, Tracks: []string{"worker *"}}, Start: begin, End: begin + second, Interval: int64(milli), CPU: "pprof", RangeStart: 1,
		Exit: stream.Exit{Known: true, Reason: "killed", Code: 9, Text: "signal: killed"}})
	samplesOf(b, p.Main)
	markersOf(b, p.Main)
	p.Main.Delay(begin+100*milli, int64(20*milli))
	p.Main.Delay(begin+150*milli, int64(70*milli))
	p.Main.Delay(begin+160*milli, 0)
	rss := p.Counter(stream.Counter{Name: "rss", Category: "memory", Description: "resident memory", Unit: stream.FormatBytes})
	for i, value := range []int64{4096, 4096, 4096, 8192, 1024, 1024} {
		p.Count(begin+stream.Time(i)*milli, rss, value, 0)
	}
	gc := p.Counter(stream.Counter{Name: "gc", Description: "collections", Total: true})
	p.Count(begin+milli, gc, 5, 2)
	p.Count(begin+2*milli, gc, 6, 5)
	p.Pause(begin+milli, stream.PhaseEnd, stream.PausedAll)
	p.Pause(begin+2*milli, stream.PhaseStart, stream.PausedCollecting)
	p.Pause(begin+3*milli, stream.PhaseEnd, stream.PausedCollecting)
	p.Pause(begin+4*milli, stream.PhaseStart, stream.PausedSampling)
	p.Overhead(begin+milli, 1000, 2500, 30_000, 4, 5)
	p.Overhead(begin+2*milli, 2000, 500, 10_000, 6, 7)
	p.Log(begin+milli, stream.LogWarn, "no signal sampler")
	p.Page(begin+milli, stream.PhaseStart, 1, 12, 0, 1, "https://example.org/")
	b.Tables.Ledger.Add(stream.Line{Process: "feedfacecafe0001", Reason: stream.ReasonGap, What: "chunks", Where: "chunk-00003", Count: 1, Bytes: 262144})
	b.Tables.Ledger.Add(stream.Line{Reason: stream.ReasonUnreadable, What: "files", Count: 2})
}

func samplesOf(b *streamtest.Builder, t *streamtest.Track) {
	exe := b.Tables.Modules.Intern(stream.Module{Build: "c0ffee01", Name: "shop (dev)", Path: "/app/shop"})
	libc := b.Tables.Modules.Intern(stream.Module{Name: "libc.so.6", Path: "/lib/libc.so.6"})
	function := func(name string, offset uint64) stream.Frame {
		return stream.Frame{Module: exe, Offset: offset, Function: b.Tables.Strings.Intern(name), Category: b.Category("Go", "blue")}
	}
	label := stream.Frame{Function: b.Tables.Strings.Intern("GET host:8080"), Label: true}
	label.Category = b.Tables.Categories.Intern(stream.Category{Name: "Network", Color: "lightblue", Sub: "HTTP"})
	unknown := stream.Frame{Module: libc, Offset: 0x1234}
	t.Add(streamtest.Row{Time: begin, Stack: b.StackOf(function("main.main", 1)), Weight: 2, CPU: 100})
	t.Add(streamtest.Row{Time: begin + milli, Stack: b.StackOf(label, function("main.serve", 2), unknown), Weight: 1, CPU: 200})
	t.Add(streamtest.Row{Time: begin + 2*milli, Stack: b.StackOf(function("main.main", 1)), Weight: 0, CPU: 300})
}

func markersOf(b *streamtest.Builder, t *streamtest.Track) {
	request := b.Event(stream.Event{Name: "request", Category: b.Category("Network", "lightblue"), Display: stream.ShowChart | stream.ShowTable | stream.ShowTimeline,
		Chart: "{marker.data.url}", Table: "{marker.data.type}: {marker.data.status ? 'ok' : 'no'}", Fields: []stream.EventField{
			{Name: "url", Label: "URL", Type: stream.Text, Format: stream.FormatText, Privacy: stream.PrivacyURL, Searchable: true},
			{Name: "type", Type: stream.Text, Format: stream.FormatString},
			{Name: "status", Type: stream.Uint, Format: stream.FormatInteger, Hidden: true},
			{Name: "waited", Label: "Waited", Type: stream.Int, Format: stream.FormatNanoseconds},
			{Name: "due", Type: stream.Int, Format: stream.FormatTime},
			{Name: "flow", Type: stream.Uint, Format: stream.FormatFlow},
			{Name: "page", Type: stream.Uint, Format: stream.FormatWindow},
		}})
	text := b.Event(stream.Event{Name: "Text", Display: stream.ShowMemory | stream.ShowIPC | stream.ShowFileIO | stream.ShowStack})
	t.Interval(begin+5*milli, int64(1_500_001), request, "https://example.org/?q=\"ä\"", "GET", uint64(200), int64(1500), int64(begin+10*milli), uint64(0xabc), uint64(12))
	t.Mark(begin+6*milli, stream.PhaseStart, request, nil, "GET", nil, nil, nil, nil, nil)
	t.Mark(begin+7*milli, stream.PhaseEnd, request, "x", nil, nil, 2.5e6, nil, nil, nil)
	t.Add(streamtest.Row{Series: stream.Series{Kind: stream.Markers, Event: text}, Time: begin + 8*milli, Stack: b.Stack("main.main")})
}

// go test ./convert/gecko -run Golden -update
func TestGolden(t *testing.T) {
	for _, g := range goldens {
		t.Run(g.name, func(t *testing.T) {
			b := streamtest.NewBuilder()
			g.build(b)
			output := convert(t, b.Source())
			check(t, output)
			var got bytes.Buffer
			layout(t, &got, output, "\n")
			got.WriteByte('\n')
			streamtest.Golden(t, filepath.Join("testdata", g.name+".gecko.json"), got.Bytes(), *update)
		})
	}
}

func convert(t testing.TB, src stream.Source) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := stream.Copy(streamtest.Validate(newSink(&out)), src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// layout breaks JSON into lines without changing it otherwise: a value that is
// short enough stays on one.
func layout(t *testing.T, out *bytes.Buffer, value json.RawMessage, newline string) {
	const short = 160
	if len(value) <= short {
		out.Write(value)
		return
	}
	in := json.NewDecoder(bytes.NewReader(value))
	if first, err := in.Token(); err != nil || first != json.Delim('[') && first != json.Delim('{') {
		out.Write(value)
		return
	}
	out.WriteByte(value[0])
	for n := 0; in.More(); n++ {
		if n > 0 {
			out.WriteByte(',')
		}
		out.WriteString(newline + "  ")
		if value[0] == '{' {
			key, err := in.Token()
			if err != nil {
				t.Fatal(err)
			}
			out.WriteString(`"` + key.(string) + `": `)
		}
		var element json.RawMessage
		if err := in.Decode(&element); err != nil {
			t.Fatal(err)
		}
		layout(t, out, element, newline+"  ")
	}
	out.WriteString(newline)
	out.WriteByte(value[len(value)-1])
}
