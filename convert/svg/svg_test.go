package svg

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"

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

func draw(t *testing.T, src stream.Source) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := stream.Copy(streamtest.Validate(newSink(&out)), src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	check(t, out.Bytes())
	return out.Bytes()
}

// check says whether a picture is well-formed, and has no elements but ours.
func check(t *testing.T, picture []byte) {
	t.Helper()
	in := xml.NewDecoder(bytes.NewReader(picture))
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && !strings.Contains(" svg style rect text g title ", " "+e.Name.Local+" ") {
			t.Errorf("element %s", e.Name.Local)
		}
	}
}

func TestSink(t *testing.T) { streamtest.TestSink(t, newSink, check) }

const start stream.Time = 1_795_000_000_000_000_000

func shop(b *streamtest.Builder) *streamtest.Process {
	return b.Process(stream.Process{Instance: 1, Pid: 7, Service: "checkout", Version: "1.42.0", Host: "checkout-7f9c",
		Start: start, End: start + 2_000_000_000})
}

// go test ./convert/svg -run Golden -update
func TestGolden(t *testing.T) {
	b := streamtest.NewBuilder()
	p := shop(b)
	function := func(name, category, color string) stream.Frame {
		return stream.Frame{Function: b.Tables.Strings.Intern(name), Category: b.Category(category, color)}
	}
	main, serve := function("main.main", "Program", "blue"), function("net/http.(*conn).serve", "Standard library", "green")
	work := function("github.com/klauspost/compress/zstd.(*Encoder).EncodeAll", "Program", "blue")
	for i, stack := range []stream.StackID{b.StackOf(main), b.StackOf(main, work), b.StackOf(serve, work), 0} {
		p.Main.Add(streamtest.Row{Time: start + stream.Time(i), Stack: stack, Weight: int64(10 << (i % 3)), CPU: -1})
	}
	p.Main.Mark(start, stream.Instant, b.Event(stream.Event{Name: "request"}))
	b.Tables.Ledger.Add(stream.Line{Process: "0000000000000001", Reason: stream.ReasonGap, What: "chunks", Count: 3})
	var out bytes.Buffer
	var written stream.Count
	if err := stream.Copy(stream.Tee(newSink(&out), &written), b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	got := out.Bytes()
	streamtest.Golden(t, "testdata/golden.svg", got, *update)
	if n := strings.Count(fmt.Sprint(written.Tables.Ledger.Lines()), "markers"); n != 1 {
		t.Errorf("%d lines of the ledger tell of the marker: %v", n, written.Tables.Ledger.Lines())
	}
}

// Names are data. check finds an element that came from one.
func TestHostileNames(t *testing.T) {
	b := streamtest.NewBuilder()
	hostile := "</text><script>alert(1)</script><img onerror=x src=y>\"'&\x00\xff]]>"
	p := b.Process(stream.Process{Instance: 1, Service: hostile, Version: hostile, Host: hostile, Start: start, End: start + 1})
	p.Main.Sample(start, b.StackOf(stream.Frame{Function: b.Tables.Strings.Intern(hostile), Category: b.Category(hostile, `"><script>`)}))
	b.Tables.Ledger.Add(stream.Line{Process: hostile, Reason: stream.ReasonGap, What: hostile, Count: 3})
	if got := draw(t, b.Source()); !bytes.Contains(got, []byte("&lt;img onerror")) {
		t.Errorf("the name is not there:\n%s", got)
	}
}

// The picture stays small with many stacks, and with deep ones.
func TestSizeIsBounded(t *testing.T) {
	b := streamtest.NewBuilder()
	p := shop(b)
	deep := strings.Split(strings.Repeat("main.recurse ", 999)+"main.end", " ")
	p.Main.Add(streamtest.Row{Time: start, Stack: b.Stack(deep...), Weight: 20_000, CPU: -1})
	for i := range 3000 {
		p.Main.Sample(start+stream.Time(i), b.Stack("main.main", fmt.Sprint("main.f", i)))
	}
	got := draw(t, b.Source())
	if len(got) > 200_000 || !bytes.Contains(got, []byte("the deepest stack has 1000")) {
		t.Errorf("%d bytes, ends with %s", len(got), got[len(got)-200:])
	}
}
