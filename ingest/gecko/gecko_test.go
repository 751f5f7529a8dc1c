package gecko

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
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"gprof/stream"
	"gprof/stream/streamtest"
)

// open is all processes of a file, as ingest opens it.
func open(data []byte) (stream.Source, error) { return openParts(data, len(data)) }

// parts gives some bytes at once.
type parts struct {
	io.ReaderAt
	n int
}

func (p parts) ReadAt(b []byte, off int64) (int, error) {
	return p.ReaderAt.ReadAt(b[:min(len(b), p.n)], off)
}

// openParts is open for a file of which reading gives n bytes at once.
func openParts(data []byte, n int) (stream.Source, error) {
	p, err := Open(parts{bytes.NewReader(data), n}, int64(len(data)))
	for errors.Is(err, ErrFolded) {
		shorter, err2 := io.ReadAll(p.Unfold())
		if err2 != nil || len(shorter) >= len(data) {
			return nil, fmt.Errorf("%d bytes unfolded of %d: %w", len(shorter), len(data), err2)
		}
		data = shorter
		p, err = Open(parts{bytes.NewReader(data), n}, int64(len(data)))
	}
	if p == nil {
		return nil, err
	}
	t := new(stream.Tables)
	ids := make([]stream.ProcessID, len(p.Processes()))
	for i, row := range p.Processes() {
		t.Processes = append(t.Processes, row)
		ids[i] = stream.ProcessID(i + 1)
	}
	return p.Source(t, ids, 0), err
}

// profiles are small profiles of several versions, each with what its events are:
// see testdata.
func profiles(t testing.TB) map[string]*txtar.Archive {
	t.Helper()
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal("no profiles", err)
	}
	all := map[string]*txtar.Archive{}
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil || len(a.Files) != 2 {
			t.Fatal(name, err)
		}
		all[name] = a
	}
	return all
}

// empty matches a member of a row that says nothing, none a column of one.
var (
	empty = regexp.MustCompile(`([{ ])[A-Z]\w*:(?:0|false|\[\]|\{\})?([ }])`)
	none  = regexp.MustCompile(` (?:weight|cpu|phase|duration|value|number|thread|goroutine|labels|stack|event|counter) 0\b`)
)

// said is a text without what says nothing, so that it does not change when
// there is more that could be said.
func said(text string) string {
	text = none.ReplaceAllString(text, "")
	for next := ""; next != text; {
		next, text = text, strings.NewReplacer("{ ", "{", " }", "}", "  #", "  #", "  ", " ").Replace(empty.ReplaceAllString(text, "$1$2"))
	}
	return text
}

var update = flag.Bool("update", false, "write what the profiles give")

// go test ./ingest/gecko -run Versions -update
func TestVersions(t *testing.T) {
	for name, a := range profiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			src, err := open(a.Files[0].Data)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := stream.Copy(streamtest.Validate(streamtest.NewText(&out)), src, stream.CopyOptions{}); err != nil {
				t.Fatal(err)
			}
			got := said(out.String())
			if *update {
				a.Files[1].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(a), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(a.Files[1].Data), got); diff != "" {
				t.Error("-want +got:", diff)
			}
		})
	}
}

// TestFile is what every source must bear, with a profile of each format.
func TestFile(t *testing.T) {
	for _, name := range []string{"gecko-31.txtar", "processed-75.txtar"} {
		data := profiles(t)["testdata/"+name].Files[0].Data
		t.Run(name, func(t *testing.T) { streamtest.TestFile(t, data, open) })
	}
}

func FuzzProfile(f *testing.F) {
	for _, a := range profiles(f) {
		f.Add(a.Files[0].Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if src, _ := open(data); src != nil {
			var invalid error
			if err := stream.Copy(streamtest.Validate(stream.Discard), src, stream.CopyOptions{}); errors.Is(err, streamtest.ErrInvalid) || errors.Is(err, stream.ErrBatch) || errors.Is(err, stream.ErrUndefined) {
				invalid = err
			}
			if invalid != nil {
				t.Fatal(invalid)
			}
		}
	})
}

// events is what the events of a file are, and its errors, if reading gives n bytes at once.
func events(data []byte, n int) (string, error) {
	src, err := openParts(data, n)
	if src == nil {
		return "", err
	}
	var out bytes.Buffer
	err = errors.Join(err, stream.Copy(streamtest.NewText(&out), src, stream.CopyOptions{}))
	return out.String(), err
}

// fewBytes is less than what sonic would be asked about: of it our own loop finds the ends of values.
const fewBytes = 100

// It does not matter what reading gives at once, nor whether sonic says where values end, also of a damaged file.
func TestWindows(t *testing.T) {
	for name, a := range profiles(t) {
		data := a.Files[0].Data
		for _, cut := range []int{len(data), len(data) * 2 / 3, len(data) / 3} {
			want, wantErr := events(data[:cut], len(data))
			for _, n := range []int{1, fewBytes, 600, 3000} {
				if got, err := events(data[:cut], n); got != want || fmt.Sprint(err) != fmt.Sprint(wantErr) {
					t.Errorf("%s, %d bytes of it, %d at once: %v, want %v; %s", name, cut, n, err, wantErr, cmp.Diff(want, got))
				}
			}
		}
	}
}

func FuzzWindows(f *testing.F) {
	for _, a := range profiles(f) {
		f.Add(a.Files[0].Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		want, wantErr := events(data, len(data))
		if got, err := events(data, fewBytes); got != want || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("%d bytes at once: %v, want %v; %s", fewBytes, err, wantErr, cmp.Diff(want, got))
		}
	})
}

func TestSniff(t *testing.T) {
	for head, want := range map[string]bool{
		`{"meta":{`: true, "\ufeff {\n \"libs\" : [": true, `{"threads":[`: true, `{"profile":{`: true,
		`{"traceEvents":[`: false, `[{"meta":1`: false, ``: false, `{`: false, `{"metal":1`: false, `{"nodes":[]}`: false,
	} {
		if Sniff([]byte(head)) != want {
			t.Errorf("%q: %v", head, !want)
		}
	}
	if !IsSlabs([]byte(slabs+"x")) || IsSlabs([]byte("{}")) {
		t.Error("slabs")
	}
}

// A file that is no profile is refused, and the error says why.
func TestForeign(t *testing.T) {
	for text, want := range map[string]string{
		`{"meta":{}}`:                 "no version",
		`{"meta":1,"threads":{}}`:     "no list",
		`{"libs":[]}`:                 "neither",
		`{"meta":{"product":"x"},"a"`: "offset",
	} {
		src, err := open([]byte(text))
		if src != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// manySamples is a profile of n samples and as many markers, of few stacks.
func manySamples(n int) []byte {
	var out bytes.Buffer
	out.WriteString(`{"meta":{"version":31,"startTime":1},"libs":[],"processes":[],"threads":[{"name":"GeckoMain","samples":{"schema":{"stack":0,"time":1,"eventDelay":2},"data":[[0,0]`)
	for i := range n {
		fmt.Fprintf(&out, ",[%d,%d.25,0]", i%3, i)
	}
	out.WriteString(`]},"markers":{"schema":{"name":0,"startTime":1,"endTime":2,"phase":3,"category":4,"data":5},"data":[[0,0,null,0,0]`)
	for i := range n {
		fmt.Fprintf(&out, `,[0,%d,%d.5,1,0,{"type":"a","n":%d,"text":"this is number %d"}]`, i, i, i, i)
	}
	out.WriteString(`]},"stackTable":{"schema":{"prefix":0,"frame":1},"data":[[null,0],[0,0],[1,0]]},"frameTable":{"schema":{"location":0},"data":[[0]]},"stringTable":["f"]}]}`)
	return out.Bytes()
}

// TestMemory reads profiles of which one is eight times as large: that takes no
// more memory.
func TestMemory(t *testing.T) {
	peak := func(n int) (most int64) {
		data := manySamples(n)
		heap := func() int64 {
			runtime.GC()
			runtime.GC() // a pool keeps what it holds through one
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return int64(m.HeapAlloc)
		}
		before := heap()
		src, err := open(data)
		if err != nil {
			t.Fatal(err)
		}
		var b stream.Batch
		rows := 0
		for i := 0; ; i++ {
			if err := src.Next(&b); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if rows += b.Len(); i%20 == 0 {
				most = max(most, heap()-before)
			}
		}
		if want := 2*(n+1) + n; rows != want {
			t.Fatalf("%d rows, want %d", rows, want)
		}
		runtime.KeepAlive(data)
		return most
	}
	small, large := peak(10_000), peak(80_000)
	if large > small+small/2+1<<20 {
		t.Errorf("%d bytes for a profile that is eight times as large as one that takes %d", large, small)
	}
}

// Unfolding gives the same JSON however little is read at a time. A file that is cut
// gives the JSON before the cut.
func TestUnfold(t *testing.T) {
	const file = `{"threads":["{\"a\":\"\\u00e9 \\\"\uD83D\uDE00\"}",{"threads":["{}"],"libs":"[]"}],"libs":"[]"}`
	const want = `{"threads":[{"a":"\u00e9 \"😀"},{"threads":[{}],"libs":[]}],"libs":[]}`
	for n := strings.Index(file, `"{`) + 1; n <= len(file); n++ {
		p, err := Open(strings.NewReader(file[:n]), int64(n))
		if !errors.Is(err, ErrFolded) {
			t.Fatalf("%s: %v", file[:n], err)
		}
		got, err := io.ReadAll(iotest.OneByteReader(p.Unfold()))
		torn := max(0, len(got)-longestEscape) // an escape that is cut short stands for itself
		if whole := n == len(file); err != nil || whole && string(got) != want || len(got) >= n || !strings.HasPrefix(want, string(got[:torn])) {
			t.Errorf("%s: %s, %v", file[:n], got, err)
		}
	}
}
