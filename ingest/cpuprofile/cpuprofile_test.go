package cpuprofile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/stream"
	"gprof/stream/streamtest"
)

func open(data []byte) (stream.Source, error) {
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if f == nil {
		return nil, err
	}
	t := &stream.Tables{Processes: f.Processes()}
	return f.Source(t, []stream.ProcessID{1}, 0), err
}

func files(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("testdata/*.cpuprofile")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	all := map[string][]byte{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(name)] = data
	}
	return all
}

func TestFile(t *testing.T) {
	for name, data := range files(t) {
		t.Run(name, func(t *testing.T) { streamtest.TestFile(t, data, open) })
	}
}

// rows are those of a file as text, and its ledger.
func rows(t testing.TB, text string) (all, ledger []string) {
	t.Helper()
	src, err := open([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var b stream.Batch
	for {
		if err := src.Next(&b); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for i := range b.Len() {
			row := fmt.Sprintf("%d %v", b.Time[i], b.Series.Kind)
			if b.Series.Kind == stream.Samples {
				row += fmt.Sprintf(" %d of %d ns", b.Weight[i], b.CPU[i])
			} else {
				row += fmt.Sprintf(" %d ns", b.Value[i])
			}
			all = append(all, row+stackOf(src.Tables(), b.Stack[i]))
		}
	}
	for _, l := range src.Tables().Ledger.Lines() {
		ledger = append(ledger, fmt.Sprint(l.Reason, " ", l.Count, " ", l.What, " ", l.Where))
	}
	slices.Sort(all)
	return all, ledger
}

func stackOf(t *stream.Tables, id stream.StackID) (names string) {
	for id != 0 {
		var frame stream.FrameID
		id, frame = t.Stacks.At(id)
		f := t.Frames.At(frame)
		names += fmt.Sprintf(" <- %s %s:%d:%d+%d", t.Strings.At(f.Function), t.Strings.At(f.File), f.Start, f.StartColumn, f.Line)
	}
	return names
}

func profile(samples, deltas string) string {
	frame := func(name, url string, line int) string {
		return fmt.Sprintf(`"callFrame":{"functionName":%q,"scriptId":"1","url":%q,"lineNumber":%d,"columnNumber":4}`, name, url, line)
	}
	return fmt.Sprintf(`{"samples":[%s],"nodes":[{"id":1,%s,"children":[2,3,4,5]},{"id":2,%s},{"id":3,%s},{"id":4,%s},{"id":5,%s,"children":[6],"positionTicks":[{"line":12,"ticks":2}]},{"id":6,%s}],
		"startTime":1000,"endTime":9000,"timeDeltas":[%s]}`, samples, frame("(root)", "", -1), frame("(idle)", "", -1), frame("(program)", "", -1), frame("(garbage collector)", "", -1),
		frame("", "a.js", 9), frame("inner", "a.js", 19), deltas)
}

// Each sample lasts until the next one; what V8 calls (idle) is a wait, and a collection lies upon what it
// interrupts.
func TestRows(t *testing.T) {
	got, ledger := rows(t, profile("6,4,4,2,4,3,5,1", "1000,100,100,100,100,100,100,100"))
	const outer = " <- (anonymous) a.js:10:5+12"
	want := []string{
		"2000000 samples 1 of 100000 ns <- inner a.js:20:5+0" + outer,
		"2100000 samples 1 of 100000 ns <- (garbage collector) :0:0+0 <- inner a.js:20:5+0" + outer,
		"2200000 samples 1 of 100000 ns <- (garbage collector) :0:0+0 <- inner a.js:20:5+0" + outer,
		"2300000 waits 100000 ns <- (idle) :0:0+0",
		"2400000 samples 1 of 100000 ns <- (garbage collector) :0:0+0",
		"2500000 samples 1 of 100000 ns <- (program) :0:0+0",
		"2600000 samples 1 of 100000 ns" + outer,
		"2700000 samples 1 of 6300000 ns",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(ledger) > 0 {
		t.Error(ledger)
	}
}

// What does not fit is told, and the rest is read.
func TestOdd(t *testing.T) {
	for _, tt := range []struct {
		text   string
		rows   int
		ledger []string
	}{
		{profile("6,77,5", "1000,100,100"), 3, []string{"undefined 1 nodes samples of them have no stack"}},
		{profile("6,5,6", "1000,-100,200"), 3, []string{"clock 1 samples before the one before them: they stand at its time"}},
		{profile("6,5,6", "1000,100"), 2, []string{"malformed 1 samples without a node or a time"}},
		{profile("6,null,6", "1000,100,100"), 2, []string{"malformed 1 samples without a node or a time"}},
		{strings.Replace(profile("6", "1000"), `"id":6`, `"id":5`, 1), 1, []string{"undefined 1 nodes samples of them have no stack", "malformed 1 nodes "}},
		{strings.Replace(profile("6", "1000"), `"children":[6]`, `"children":[6,1]`, 1), 1, []string{"impossible 1 nodes called by themselves"}},
		{strings.Replace(profile("6", "1000"), `{"line":12,"ticks":2}`, `{"line":12,"ticks":2},{"line":13,"ticks":5}`, 1), 1, []string{"unsupported 7 lines of samples of functions that were sampled in several"}},
	} {
		got, ledger := rows(t, tt.text)
		slices.Sort(ledger)
		slices.Sort(tt.ledger)
		if diff := cmp.Diff(tt.ledger, ledger); diff != "" || len(got) != tt.rows {
			t.Errorf("%s: %d rows, want %d\n%s", tt.text, len(got), tt.rows, diff)
		}
	}
}

// The form of before 2017, with nodes in nodes.
func TestOldForm(t *testing.T) {
	got, ledger := rows(t, string(files(t)["old.cpuprofile"]))
	const outer = " <- (anonymous) http://shop.example/cart.js:1:1+3"
	want := []string{
		"112501000000 samples 1 of 1000000 ns" + outer,
		"112502000000 samples 1 of 1000000 ns <- add http://shop.example/cart.js:7:13+0" + outer,
		"112503000000 samples 1 of 1000000 ns <- add http://shop.example/cart.js:7:13+0" + outer,
		"112504000000 samples 1 of 1000000 ns <- (program) :0:0+0",
		"112505000000 samples 1 of 1000000 ns <- add http://shop.example/cart.js:7:13+0" + outer,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"unsupported 3 lines of samples of functions that were sampled in several", "unsupported 1 reasons for which a function lost its optimized code"}, ledger); diff != "" {
		t.Error(diff)
	}
}

// A profile without samples has the hits of its nodes.
func TestHits(t *testing.T) {
	text := strings.Replace(profile("", ""), `"samples":[],`, "", 1)
	text = strings.Replace(text, `"id":6,`, `"id":6,"hitCount":42,`, 1)
	got, ledger := rows(t, text)
	if diff := cmp.Diff([]string{"1000000 samples 42 of -1 ns <- inner a.js:20:5+0 <- (anonymous) a.js:10:5+12"}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"clock 1 samples no moment of their own: they stand at the start"}, ledger); diff != "" {
		t.Error(diff)
	}
}

func TestSniff(t *testing.T) {
	for name, data := range files(t) {
		if !Sniff(data[:min(len(data), 512)]) {
			t.Errorf("%s is not recognized", name)
		}
	}
	for _, text := range []string{"", "{", `{"meta":{}}`, `[{"callFrame":1}]`, `{"traceEvents":[{"callFrame":1}]}`} {
		if Sniff([]byte(text)) {
			t.Errorf("%q is taken for a profile", text)
		}
	}
	if _, err := open([]byte(`{"timeDeltas":[]}`)); !errors.Is(err, ErrForeign) {
		t.Errorf("no nodes: %v", err)
	}
}

// Memory depends on the tree, not on how many samples there are.
func TestMemory(t *testing.T) {
	held := func(n int) int64 {
		text := []byte(profile(strings.Repeat("6,5,", n)+"6", strings.Repeat("1,1,", n)+"1"))
		src, err := open(text)
		if err != nil {
			t.Fatal(err)
		}
		var b stream.Batch
		for {
			var m runtime.MemStats
			switch err := src.Next(&b); err {
			case nil:
				continue
			case io.EOF:
				runtime.GC()
				runtime.GC()
				runtime.ReadMemStats(&m)
				runtime.KeepAlive(src)
				return int64(m.HeapAlloc) - int64(cap(text))
			default:
				t.Fatal(err)
			}
		}
	}
	held(1000)
	if small, large := held(20_000), held(200_000); large-small > 400_000 {
		t.Errorf("40,000 samples hold %d bytes, 400,000 %d", small, large)
	}
}

// go test ./ingest/cpuprofile -fuzz Read
func FuzzRead(f *testing.F) {
	for _, data := range files(f) {
		f.Add(data)
	}
	f.Add([]byte(profile("6,4,4,2,4,3,5,1", "1000,100,100,100,100,100,100,100")))
	f.Fuzz(func(t *testing.T, data []byte) {
		src, err := open(data)
		if src == nil {
			if err == nil {
				t.Fatal("neither a source nor an error")
			}
			return
		}
		if err := stream.Copy(streamtest.Validate(stream.Discard), src, stream.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
	})
}
