package chrometrace

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/stream"
	"gprof/stream/streamtest"
)

var update = flag.Bool("update", false, "rewrite golden files")

func open(data []byte) (stream.Source, error) {
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if f == nil {
		return nil, err
	}
	t := &stream.Tables{Processes: f.Processes()}
	var ids []stream.ProcessID
	for i := range t.Processes {
		ids = append(ids, stream.ProcessID(i+1))
	}
	return f.Source(t, ids, 0), err
}

func files(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("testdata/*.json")
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

// list is the events of a file as a list.
func list(t testing.TB, data []byte) []byte {
	t.Helper()
	_, rest, _ := bytes.Cut(data, []byte(`"traceEvents":`))
	rest, _, ok := bytes.Cut(rest, []byte("\n],"))
	if !ok {
		t.Fatal("no list of events")
	}
	return append(bytes.Clone(rest), "\n]"...)
}

// A list alone is a file, too, and may lack its end.
func TestList(t *testing.T) {
	whole := list(t, files(t)["phases.json"])
	streamtest.TestFile(t, whole, open)
	digests := regexp.MustCompile("(?m)^(ledger|process) .*\n")
	all, ledger := rows(t, whole)
	endless, told := rows(t, bytes.TrimSuffix(whole, []byte("\n]")))
	const what = "unproven 1 files no ] at the end: it may be cut short"
	if diff := cmp.Diff(digests.ReplaceAllString(all, ""), digests.ReplaceAllString(endless, "")); diff != "" || !slices.Contains(told, what) || slices.Contains(ledger, what) {
		t.Errorf("without an end: %s, %v", diff, told)
	}
}

// rows are those of a file as text, and its ledger.
func rows(t testing.TB, data []byte) (all string, ledger []string) {
	t.Helper()
	src, err := open(data)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := stream.Copy(streamtest.Validate(streamtest.NewText(&text)), src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, l := range src.Tables().Ledger.Lines() {
		ledger = append(ledger, strings.TrimSpace(fmt.Sprint(l.Reason, " ", l.Count, " ", l.What, " ", l.Where)))
	}
	return text.String(), ledger
}

// Every phase, and what becomes of it, is a text that can be read.
func TestPhases(t *testing.T) {
	got, _ := rows(t, files(t)["phases.json"])
	streamtest.Golden(t, "testdata/phases.txt", []byte(got), *update)
}

// Memory depends on what is open and on names, not on how many events there are.
func TestMemory(t *testing.T) {
	const one = `{"ph":"X","pid":1,"tid":2,"ts":%d,"dur":3,"cat":"c","name":"n","args":{"i":%d,"s":"text"}},{"ph":"b","pid":1,"tid":2,"ts":%d,"cat":"c","name":"a","id":%d},{"ph":"e","pid":1,"tid":2,"ts":%d,"cat":"c","name":"a","id":%d},` + "\n"
	held := func(n int) int64 {
		var text bytes.Buffer
		text.WriteString("[")
		for i := range n {
			fmt.Fprintf(&text, one, 100+i, i, 100+i, i, 101+i, i)
		}
		text.WriteString(`{"ph":"i","pid":1,"tid":2,"ts":1,"name":"last"}]`)
		src, err := open(text.Bytes())
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
				return int64(m.HeapAlloc) - int64(text.Cap())
			default:
				t.Fatal(err)
			}
		}
	}
	held(1000)
	if small, large := held(10_000), held(60_000); large-small > 1_000_000 {
		t.Errorf("30,000 events hold %d bytes, 180,000 %d", small, large)
	}
}

// Events that all have other members are one event, with all of them in one field.
func TestShapes(t *testing.T) {
	var text strings.Builder
	text.WriteString("[")
	for i := range 3 * maxAlike {
		fmt.Fprintf(&text, `{"ph":"i","pid":1,"tid":2,"ts":%d,"cat":"c","name":"n","args":{"k%d":%d}},`, i, i, i)
	}
	src, err := open([]byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	var count stream.Count
	if err := stream.Copy(streamtest.Validate(&count), src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	if n := len(count.Tables.Events); n != maxAlike+1 {
		t.Errorf("%d events, want %d", n, maxAlike+1)
	}
}

func TestSniff(t *testing.T) {
	for name, data := range files(t) {
		if !Sniff(data[:min(len(data), 512)]) {
			t.Errorf("%s is not recognized", name)
		}
	}
	for _, text := range []string{"", "[", "[]", "{", `{"meta":{}}`, `[1,2]`, `[{"a":1}]`, `{"nodes":[]}`} {
		if Sniff([]byte(text)) {
			t.Errorf("%q is taken for a trace", text)
		}
	}
	for _, text := range []string{`{"otherData":{}}`, `[{"ts":1,"level":"info"},{"ts":2,"level":"warn"}]`} {
		if _, err := open([]byte(text)); !errors.Is(err, ErrForeign) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Times are real where the file tells when its clock began, or where they can be nothing else.
func TestRealTime(t *testing.T) {
	for _, tt := range []struct {
		text  string
		start stream.Time
		by    string
	}{
		{`{"traceEvents":[{"ph":"i","pid":1,"tid":1,"ts":5}]}`, 5000, ""},
		{`{"traceEvents":[{"ph":"i","pid":1,"tid":1,"ts":5}],"beginningOfTime":1795000000000000}`, 1795000000000005000, "the trace"},
		{`{"baseTimeNanoseconds":1795000000000000001,"traceEvents":[{"ph":"i","pid":1,"tid":1,"ts":5}]}`, 1795000000000005001, "the trace"},
		{`{"traceEvents":[{"ph":"i","pid":1,"tid":1,"ts":5}],"otherData":{"startTime":"2026-11-18T11:06:40.5Z"}}`, 1795000000500005000, "the trace"},
		{`[{"ph":"i","pid":1,"tid":1,"ts":1795000000000005.25}]`, 1795000000000005250, "the trace"},
	} {
		f, err := Open(strings.NewReader(tt.text), int64(len(tt.text)))
		if err != nil {
			t.Fatal(err)
		}
		if p := f.Processes()[0]; p.Start != tt.start || p.Clock.By != tt.by {
			t.Errorf("%s begins at %d by %q", tt.text, p.Start, p.Clock.By)
		}
	}
}

// go test ./ingest/chrometrace -fuzz Read
func FuzzRead(f *testing.F) {
	for _, data := range files(f) {
		f.Add(data)
	}
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
