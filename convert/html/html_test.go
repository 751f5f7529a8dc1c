package html

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"gprof/convert/internal/course"
	"gprof/convert/internal/pipeline"
	"gprof/stream"
	"gprof/stream/streamtest"
)

var update = flag.Bool("update", false, "write the golden files")

func newSink(w io.Writer) stream.Sink {
	out, err := pipeline.New(w, pipeline.Options{})
	if err != nil {
		panic(err)
	}
	return New(out)
}

func write(t *testing.T, src stream.Source) (page []byte, s *Sink) {
	t.Helper()
	return writeWithin(t, src, course.Limits{Cells: course.MaxCells, Nodes: course.MaxNodes})
}

func writeWithin(t *testing.T, src stream.Source, most course.Limits) (page []byte, s *Sink) {
	t.Helper()
	var out bytes.Buffer
	s = newSink(&out).(*Sink)
	s.most = most
	if err := stream.Copy(streamtest.Validate(s), src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	check(t, out.Bytes())
	return out.Bytes(), s
}

// data is what a page knows, as far as tests look at it.
type data struct {
	Title, Losses    string
	Axis             struct{ Width, Group float64 }
	Frames           []any
	Parents, FrameOf []int
	Packages, Files  []string
	Categories       []string
	CategoryColors   []string
	PackageColors    []string
	Processes        []string
	Ledger           [][]any
	Tracks           []track
	Lanes            []struct {
		Name           string
		Rows           int64
		Count, Longest []int64
	}
	Curves []struct {
		Name   string
		Values []int64
	}
}

var island = regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`)

func dataOf(t *testing.T, page []byte) (d data) {
	t.Helper()
	found := island.FindSubmatch(page)
	if found == nil {
		t.Fatal("no data")
	}
	if err := json.Unmarshal(found[1], &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// check says whether a page has the elements of page.html alone, whether its
// policy allows its parts, and whether the numbers of its data lead somewhere.
func check(t *testing.T, page []byte) {
	t.Helper()
	found := island.FindSubmatchIndex(page)
	if found == nil {
		t.Fatal("no data")
	}
	if i := bytes.IndexByte(page[found[2]:found[3]], '<'); i >= 0 {
		t.Errorf("the data have markup: %s", page[found[2]+i:min(found[2]+i+40, len(page))])
	}
	if got, want := bytes.Count(page, []byte("<script")), strings.Count(frame, "<script"); got != want {
		t.Errorf("%d scripts, want %d", got, want)
	}
	for _, want := range []string{digest(Style), digest(model + view), "<style>" + Style + "</style>", "<script>" + model + view + "</script>"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page has no %.60s", want)
		}
	}
	if bytes.Contains(page[found[3]:], []byte("{{")) {
		t.Error("something was not filled in")
	}
	checkData(t, dataOf(t, page))
}

func checkData(t *testing.T, d data) {
	t.Helper()
	if len(d.Parents) != len(d.FrameOf) || len(d.Frames)%6 != 0 || len(d.CategoryColors) != len(d.Categories) || len(d.PackageColors) != len(d.Packages) {
		t.Fatalf("%d parents, %d frames of nodes, %d of frames, %d categories", len(d.Parents), len(d.FrameOf), len(d.Frames), len(d.Categories))
	}
	for i, parent := range d.Parents {
		if parent > i || d.FrameOf[i] >= len(d.Frames)/6 {
			t.Errorf("node %d is called by %d, frame %d", i+1, parent, d.FrameOf[i])
		}
	}
	for _, track := range d.Tracks {
		want := int64(0)
		for _, n := range track.Density {
			want += max(n, 0)
		}
		if got := track.sum(t, len(d.Parents)); got != want {
			t.Errorf("track %s has %d samples by time, %d by stack", track.Name, want, got)
		}
	}
}

type track struct {
	Name    string
	Process int
	Density []int64
	Cells   []int64
}

// sum adds up the cells of a track.
func (tr *track) sum(t *testing.T, nodes int) (sum int64) {
	t.Helper()
	group := int64(0)
	for at := 0; at < len(tr.Cells); {
		group += tr.Cells[at]
		n, node := int(tr.Cells[at+1]), int64(0)
		at += 2
		for range n {
			node += tr.Cells[at]
			sum += tr.Cells[at+1]
			at += 2
			if node < 0 || node > int64(nodes) || group < 0 || group >= course.Slots {
				t.Fatalf("node %d of %d in group %d", node, nodes, group)
			}
		}
	}
	return sum
}

func TestSink(t *testing.T) { streamtest.TestSink(t, newSink, check) }

const (
	milli               = 1_000_000
	start   stream.Time = 1_795_000_000_000_000_000
	hostile             = "</script><img src=x onerror=\"document.title='gone'\"><!--<script>{{script}}'&\x00\xff\u2028"
)

func shop(b *streamtest.Builder) *streamtest.Process {
	return b.Process(stream.Process{Instance: 1, Pid: 7, Service: "checkout", Version: "1.42.0", Host: "checkout-7f9c",
		Start: start, End: start + 512*milli})
}

// day is a small recording with all that a page shows.
func day(b *streamtest.Builder) {
	p := shop(b)
	function := func(name, category, color string) stream.Frame {
		return stream.Frame{Function: b.Tables.Strings.Intern(name), File: b.Tables.Strings.Intern("shop.go"), Category: b.Category(category, color)}
	}
	main, serve := function("main.main", "Program", "blue"), function("net/http.(*conn).serve", "Standard library", "green")
	work := function("github.com/klauspost/compress/zstd.(*Encoder).EncodeAll", "Program", "blue")
	request := b.Event(stream.Event{Name: "request", Category: b.Category("Network", "lightblue"), Fields: []stream.EventField{{Name: "n", Type: stream.Int}}})
	rss := p.Counter(stream.Counter{Name: "RSS", Unit: stream.FormatBytes})
	for i := range stream.Time(8) {
		at := start + i*60*milli
		p.Main.Sample(at, b.Stack("main.main"))
		p.Main.Add(streamtest.Row{Time: at, Stack: b.StackOf(main, work), Weight: 20, CPU: -1})
		p.Track("conn").Add(streamtest.Row{Time: at, Stack: b.StackOf(serve, main, work, main), Weight: 5 * int64(i), CPU: -1})
		p.Main.Interval(at, int64(i)*milli, request, 1)
		p.Count(at, rss, int64(i)<<20, 0)
	}
	p.Main.Add(streamtest.Row{Series: stream.Series{Kind: stream.Markers, Event: request}, Time: start, Stack: b.Stack("main.main"), Args: []any{1}})
	p.Main.Delay(start, 1)
	child := b.Process(stream.Process{Instance: 2, Pid: 8, Parent: p.ID, Name: "thumbs", Start: start, End: start + 100*milli})
	child.Main.Sample(start-1, 0)
	child.Main.Sample(start+stream.Time(1e15), b.StackOf(work))
	b.Tables.Ledger.Add(stream.Line{Process: "0000000000000001", Reason: stream.ReasonGap, What: "chunks", Count: 3})
}

// go test ./convert/html -run Golden -update
func TestGolden(t *testing.T) {
	b := streamtest.NewBuilder()
	day(b)
	page, sink := write(t, b.Source())
	got := append(bytes.ReplaceAll(island.FindSubmatch(page)[1], []byte(`,"`), []byte(",\n\"")), '\n')
	streamtest.Golden(t, "testdata/golden.json", got, *update)
	told := fmt.Sprint(sink.tables.Ledger.Lines())
	if !strings.Contains(told, "arguments") || !strings.Contains(told, "delays") || !strings.Contains(told, " stacks of markers  1") || regexp.MustCompile(`\d markers`).MatchString(told) {
		t.Errorf("the ledger: %v", told)
	}
}

// villain has hostile names everywhere.
func villain(b *streamtest.Builder) {
	p := b.Process(stream.Process{Instance: 1, Service: hostile, Version: hostile, Host: hostile, Start: start, End: start + 512*milli})
	frame := stream.Frame{Function: b.Tables.Strings.Intern(hostile), File: b.Tables.Strings.Intern(hostile), Category: b.Category(hostile, hostile),
		Module: b.Tables.Modules.Intern(stream.Module{Name: hostile, Build: hostile})}
	p.Track(hostile).Sample(start, b.StackOf(frame))
	p.Main.Mark(start, stream.Instant, b.Event(stream.Event{Name: hostile, Category: b.Category(hostile, hostile)}))
	p.Count(start, p.Counter(stream.Counter{Name: hostile}), -1, 0)
	b.Tables.Ledger.Add(stream.Line{Process: hostile, Reason: stream.ReasonGap, What: hostile, Where: hostile, Count: 3})
}

// check finds names that became markup.
func TestHostileNames(t *testing.T) {
	b := streamtest.NewBuilder()
	villain(b)
	page, _ := write(t, b.Source())
	if d := dataOf(t, page); !strings.HasPrefix(d.Frames[0].(string), "</script><img") {
		t.Errorf("the name is %q", d.Frames[0])
	}
	if bytes.Contains(page, []byte("<img")) {
		t.Error("the page has an image")
	}
}

// The page of many samples in many stacks, tracks and moments stays small, and
// no sample is missing from it: check adds them up.
func TestSizeIsBounded(t *testing.T) {
	b := streamtest.NewBuilder()
	p := shop(b)
	tracks := make([]*streamtest.Track, 16)
	for i := range tracks {
		tracks[i] = p.Track(fmt.Sprint("worker ", i))
	}
	const rows = 40_000
	for i := range rows {
		at := start + 512*milli/rows*stream.Time(i)
		tracks[i%16].Sample(at, b.Stack("main.main", fmt.Sprint("main.f", i%401), fmt.Sprint("main.g", i%1009)))
	}
	most := course.Limits{Cells: 10_000, Nodes: 1000}
	page, sink := writeWithin(t, b.Source(), most)
	d := dataOf(t, page)
	if len(page) > 300_000 || len(d.Parents) > most.Nodes || len(sink.cells.List) > most.Cells {
		t.Errorf("%d bytes, %d nodes, %d cells", len(page), len(d.Parents), len(sink.cells.List))
	}
	if told := fmt.Sprint(sink.tables.Ledger.Lines()); !strings.Contains(told, "ends of rare stacks") {
		t.Errorf("the ledger does not tell what is left out: %s", told)
	}
}

// Tracks beyond the limit become one track of others; markers and counts beyond
// it are in the ledger.
func TestManyOfAll(t *testing.T) {
	b := streamtest.NewBuilder()
	p := shop(b)
	for i := range maxTracks + 30 {
		p.Track(fmt.Sprint("worker ", i)).Add(streamtest.Row{Time: start + stream.Time(i)*milli/4, Stack: b.Stack("main.main"), Weight: int64(i + 1), CPU: -1})
	}
	for i := range maxLanes + 2 {
		p.Count(start, p.Counter(stream.Counter{Name: fmt.Sprint("count ", i)}), 1, 0)
		for range i + 1 {
			p.Main.Mark(start, stream.Instant, b.Event(stream.Event{Name: fmt.Sprint("event ", i)}))
		}
	}
	page, sink := write(t, b.Source())
	d := dataOf(t, page)
	if len(d.Tracks) != maxTracks+1 || d.Tracks[0].Name != "other tracks" || d.Tracks[0].sum(t, 1) != 30*31/2 {
		t.Errorf("%d tracks, the first %+v", len(d.Tracks), d.Tracks[0])
	}
	if len(d.Lanes) != maxLanes || len(d.Curves) != maxCurves {
		t.Errorf("%d events, %d counters", len(d.Lanes), len(d.Curves))
	}
	for _, want := range []string{"3 markers", "2 counts"} {
		found := false
		for _, line := range sink.tables.Ledger.Lines() {
			found = found || fmt.Sprint(line.Count, " ", line.What) == want
		}
		if !found {
			t.Errorf("the ledger has no line of %s: %v", want, sink.tables.Ledger.Lines())
		}
	}
}
