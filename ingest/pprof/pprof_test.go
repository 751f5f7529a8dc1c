package pprof_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	runtimepprof "runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/pprof/profile"

	"gprof/convert"
	"gprof/ingest/internal/damage"
	"gprof/ingest/pprof"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// open opens a profile that is not compressed.
func open(data []byte) (stream.Source, error) {
	file, err := pprof.Open(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil })
	if file == nil {
		return nil, err
	}
	t := &stream.Tables{Processes: file.Processes()}
	return file.Source(t, []stream.ProcessID{1}, 0), err
}

// mustOpen is open for a profile that is whole.
func mustOpen(t testing.TB, p *profile.Profile) stream.Source {
	t.Helper()
	src, err := open(encode(t, p))
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func encode(t testing.TB, p *profile.Profile) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := p.WriteUncompressed(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// real are profiles that runtime/pprof writes here, unpacked.
var real = sync.OnceValue(func() map[string][]byte {
	runtime.SetBlockProfileRate(1)
	runtime.SetMutexProfileFraction(1)
	defer runtime.SetBlockProfileRate(0)
	defer runtime.SetMutexProfileFraction(0)
	all := map[string][]byte{"cpu": record(work)}
	for _, name := range []string{"heap", "allocs", "mutex", "block", "goroutine", "threadcreate"} {
		var out bytes.Buffer
		runtimepprof.Lookup(name).WriteTo(&out, 0)
		all[name] = out.Bytes()
	}
	for name, packed := range all {
		r, _ := gzip.NewReader(bytes.NewReader(packed))
		all[name], _ = io.ReadAll(r)
	}
	return all
})

// record is a CPU profile of work, done again while the profiler has seen none of it.
func record(work func()) []byte {
	for {
		var out bytes.Buffer
		if err := runtimepprof.StartCPUProfile(&out); err != nil {
			panic(err)
		}
		work()
		runtimepprof.StopCPUProfile()
		if p, err := profile.ParseData(out.Bytes()); err != nil || len(p.Sample) > 0 {
			return out.Bytes()
		}
	}
}

var (
	stored [][]byte
	spun   int
)

// work waits, locks, allocates and takes some CPU time, on goroutines with labels.
func work() {
	var lock sync.Mutex
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() {
			runtimepprof.Do(context.Background(), runtimepprof.Labels("route", fmt.Sprint("/", i)), func(context.Context) {
				for range 500 {
					lock.Lock()
					stored = append(stored[:len(stored)%100], make([]byte, 1<<14))
					spun += spin()
					lock.Unlock()
				}
			})
		})
	}
	all.Wait()
}

func spin() (n int) {
	for i := range 100_000 {
		n += i * i % 7
	}
	return n
}

func TestConformance(t *testing.T) {
	for _, name := range []string{"cpu", "heap", "mutex"} {
		t.Run(name, func(t *testing.T) { streamtest.TestFile(t, real()[name], open) })
		// Go's own order of the parts is another than that of the library.
		p, err := profile.ParseData(real()[name])
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name+" ordered", func(t *testing.T) { streamtest.TestFile(t, encode(t, p), open) })
	}
}

// back converts a source to a profile and reads it by the library.
func back(t testing.TB, src stream.Source) *profile.Profile {
	t.Helper()
	var out bytes.Buffer
	format, options, err := convert.ByFormat("pprof")
	if err != nil {
		t.Fatal(err)
	}
	sink, err := format.New(&out, options)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Copy(streamtest.Validate(sink), src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(&out)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// tops are self and total of each function, by sample type.
func tops(p *profile.Profile) []string {
	type key struct{ kind, function string }
	self, total := map[key]int64{}, map[key]int64{}
	for _, s := range p.Sample {
		for i, v := range s.Value {
			if v == 0 {
				continue
			}
			seen := map[string]bool{}
			for depth, l := range s.Location {
				for k, line := range l.Line {
					if line.Function.Name == "" { // runtime/pprof has one of those that it doesn't know
						continue
					}
					at := key{p.SampleType[i].Type + "/" + p.SampleType[i].Unit, line.Function.Name + " " + line.Function.Filename + fmt.Sprint(":", line.Function.StartLine)}
					if depth == 0 && k == 0 {
						self[at] += v
					}
					if !seen[at.function] {
						seen[at.function] = true
						total[at] += v
					}
				}
			}
		}
	}
	var lines []string
	for _, k := range slices.SortedFunc(maps.Keys(total), func(a, b key) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.function, b.function)) }) {
		lines = append(lines, fmt.Sprint(k, " self ", self[k], " total ", total[k]))
	}
	return lines
}

// A profile of runtime/pprof is the same after it was read and written: totals
// of every type of value and of every function, lines, and pprof's own
// difference.
func TestRealProfiles(t *testing.T) {
	for name, data := range real() {
		t.Run(name, func(t *testing.T) {
			want, err := profile.ParseData(data)
			if err != nil {
				t.Fatal(err)
			}
			src, err := open(data)
			if err != nil {
				t.Fatal(err)
			}
			got := back(t, src)
			same(t, "functions", tops(got), tops(want))
			same(t, "labels", labelSums(got), labelSums(want))
			if got.TimeNanos < want.TimeNanos || got.TimeNanos > want.TimeNanos+want.DurationNanos {
				t.Errorf("time %d, want within %d+%d", got.TimeNanos, want.TimeNanos, want.DurationNanos)
			}
			different(t, got, want)
		})
	}
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant:\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// labelSums are sums by the labels that the program gave.
func labelSums(p *profile.Profile) []string {
	sums := map[string]int64{}
	for _, s := range p.Sample {
		for i, v := range s.Value {
			for _, value := range s.Label["route"] {
				sums[p.SampleType[i].Type+" "+value] += v
			}
		}
	}
	var lines []string
	for _, k := range slices.Sorted(maps.Keys(sums)) {
		if sums[k] != 0 {
			lines = append(lines, fmt.Sprint(k, " ", sums[k]))
		}
	}
	return lines
}

// different merges one profile with the other one's negative, as -diff_base
// does: function by function nothing may be left. Addresses are made up in what we
// write, so pprof's sums are by function.
func different(t *testing.T, got, want *profile.Profile) {
	t.Helper()
	both := []*profile.Profile{got.Copy(), want.Copy()}
	both[1].Scale(-1)
	if err := profile.CompatibilizeSampleTypes(both); err != nil {
		t.Fatal(err)
	}
	for _, p := range both {
		p.Mapping = nil
		for _, l := range p.Location {
			l.Mapping, l.Address = nil, 0
			l.Line = slices.DeleteFunc(l.Line, func(line profile.Line) bool { return line.Function.Name == "" })
		}
		for _, s := range p.Sample {
			s.Label, s.NumLabel = nil, nil
		}
	}
	d, err := profile.Merge(both)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range d.Sample {
		if slices.ContainsFunc(s.Value, func(v int64) bool { return v != 0 }) {
			t.Errorf("difference: %v", s.Value)
		}
	}
}

// odd is a profile with whatever the format allows.
func odd() *profile.Profile {
	exe := &profile.Mapping{ID: 7, Start: 0x400000, Limit: 0x500000, Offset: 0x1000, File: `C:\bin\shop.exe`, BuildID: "c0ffee"}
	lib := &profile.Mapping{ID: 1 << 40, Start: 0x7f0000000000, Limit: 0x7f0000100000, File: "/lib/libc.so.6"}
	outer := &profile.Function{ID: 3, Name: "main.main", SystemName: "_main", Filename: "main.go", StartLine: 10}
	inner := &profile.Function{ID: 1 << 50, Name: "main.add", Filename: "main.go", StartLine: 40}
	inlined := &profile.Location{ID: 5, Mapping: exe, Address: 0x400010, Line: []profile.Line{{Function: inner, Line: 41}, {Function: outer, Line: 12}}}
	bare := &profile.Location{ID: 1 << 60, Mapping: lib, Address: 0x7f0000000042}
	return &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "wall", Unit: "microseconds"}, {Type: "io", Unit: "MB"}, {Type: "hits", Unit: "requests"}},
		Sample: []*profile.Sample{
			{Location: []*profile.Location{bare, inlined}, Value: []int64{2, 3000, 1, 4}, Label: map[string][]string{"route": {"/"}, "tags": {"b", "a", "b"}}, NumLabel: map[string][]int64{"size": {16}, "goroutine": {77}, "ports": {80, 443}}, NumUnit: map[string][]string{"size": {"kilobytes"}, "goroutine": {""}, "ports": {"", "tls"}}},
			{Location: []*profile.Location{inlined}, Value: []int64{-1, 0, 0, -4}},
			{Value: []int64{5, 0, 0, 0}},
		},
		Mapping: []*profile.Mapping{exe, lib}, Location: []*profile.Location{inlined, bare}, Function: []*profile.Function{outer, inner},
		TimeNanos: 1_795_000_000_000_000_000, DurationNanos: 6000, PeriodType: &profile.ValueType{Type: "wall", Unit: "milliseconds"}, Period: 10,
		Comments: []string{"one", "two"}, DropFrames: "^runtime", KeepFrames: "main", DefaultSampleType: "wall", DocURL: "https://example.org/",
	}
}

func TestOdd(t *testing.T) {
	var text bytes.Buffer
	if err := stream.Copy(streamtest.Validate(streamtest.NewText(&text)), mustOpen(t, odd()), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Name:shop.exe", `Exe:C:\bin\shop.exe`, "Start:1795000000000000000 End:1795000000000006000", "Interval:10000000",
		"{Key:default_sample_type Value:wall} {Key:drop_frames Value:^runtime} {Key:keep_frames Value:main} {Key:doc_url Value:https://example.org/} {Key:comment Value:one\ntwo}",
		"Offset:4112 Depth:1", "Offset:66", "Start:40", "Line:41", "ports=80, 443 tls route=/ size=16 kilobytes tags=b, a, b",
		"goroutine 77",
		"1795000000000001000 #1 stack", "1795000000000005000 #", // a third each: in the middle
		"weight 2 cpu -1", "weight 5 cpu -1",
		"value 3000000 number 0", "value 1048576 number 0", "value -4 number 0", "value -1 number 0",
		"Name:hits Category: Description:requests",
		"Where:no moment of their own, spread over 6µs",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
	got := back(t, mustOpen(t, odd()))
	same(t, "functions", tops(got), tops(scaled(odd())))
}

// A time of day in the place of the duration is told, and none of it used.
func TestTimeOfDayAsDuration(t *testing.T) {
	p := odd()
	p.DurationNanos = p.TimeNanos
	var text bytes.Buffer
	if err := stream.Copy(streamtest.Validate(streamtest.NewText(&text)), mustOpen(t, p), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Start:1795000000000000000 End:1795000000000000000", "1795000000000000000 #1 stack", "What:durations Where:a time of day instead"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
}

// scaled is a profile in our units.
func scaled(p *profile.Profile) *profile.Profile {
	for _, s := range p.Sample {
		s.Value[1], s.Value[2] = s.Value[1]*1000, s.Value[2]<<20
	}
	p.SampleType[1].Unit, p.SampleType[2].Unit = "nanoseconds", "bytes"
	return p
}

// CPU time without a count: the period says how many samples that were.
func TestTimeAlone(t *testing.T) {
	p := odd()
	p.SampleType = []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}
	p.PeriodType, p.Period = p.SampleType[0], 10
	for i, v := range []int64{100, 1, 0} {
		p.Sample[i].Value = []int64{v}
	}
	for _, c := range []struct{ period, weight int64 }{{10, 11}, {0, 0}} {
		p.Period = c.period
		var count stream.Count
		if err := stream.Copy(&count, mustOpen(t, p), stream.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
		sum := count.Sum(func(s stream.Series) bool { return s.Kind == stream.Samples })
		if sum.Samples != c.weight {
			t.Errorf("period %d: %d samples, want %d", c.period, sum.Samples, c.weight)
		}
		if cpu := back(t, mustOpen(t, p)); !slices.Equal(tops(cpu)[:1], tops(p)[:1]) {
			t.Errorf("period %d: %v, want %v", c.period, tops(cpu), tops(p))
		}
	}
}

// Profiles that no library would write are errors that say where, or ledger lines.
func TestBroken(t *testing.T) {
	whole := encode(t, odd())
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"empty":             {nil, pprof.ErrProfile},
		"no types":          {[]byte{0x32, 0}, pprof.ErrProfile},
		"no names":          {[]byte{0x0a, 4, 8, 1, 16, 2}, pprof.ErrProfile},
		"cut":               {whole[:len(whole)-1], damage.ErrTorn},
		"group":             {append(bytes.Clone(whole), 0x0b), damage.ErrDamaged},
		"field 0":           {append(bytes.Clone(whole), 0), damage.ErrDamaged},
		"too long":          {append(bytes.Clone(whole), 0x12, 0xff, 0xff, 0xff, 0x7f), damage.ErrTooBig},
		"number of 11 byte": {append(bytes.Clone(whole), append(bytes.Repeat([]byte{0xff}, 10), 1)...), damage.ErrDamaged},
	} {
		_, err := open(c.data)
		var at *damage.Error
		if !errors.Is(err, c.want) || !errors.As(err, &at) {
			t.Errorf("%s: %v, want %v and where", name, err, c.want)
		}
	}
	odd := map[string]struct {
		extra []byte
		want  string
	}{
		"undefined location": {[]byte{0x12, 8, 0x0a, 1, 99, 0x12, 3, 1, 1, 1}, "malformed"}, // of 4 values, too
		"location 99":        {[]byte{0x12, 9, 0x0a, 1, 99, 0x12, 4, 1, 1, 1, 1}, "undefined"},
		"second of a number": {[]byte{0x2a, 2, 8, 3}, "malformed"},
	}
	for name, c := range odd {
		src, err := open(append(bytes.Clone(whole), c.extra...))
		if err != nil {
			t.Fatal(name, err)
		}
		var count stream.Count
		if err := stream.Copy(streamtest.Validate(&count), src, stream.CopyOptions{}); err != nil {
			t.Fatal(name, err)
		}
		if !slices.ContainsFunc(count.Tables.Ledger.Lines(), func(l stream.Line) bool { return l.Reason.String() == c.want }) {
			t.Errorf("%s: ledger %+v, want %s", name, count.Tables.Ledger.Lines(), c.want)
		}
	}
}

func TestSniff(t *testing.T) {
	for name, data := range real() {
		if !pprof.Sniff(data[:min(512, len(data))]) {
			t.Errorf("%s is not sniffed", name)
		}
	}
	for _, data := range []string{"", "\n", "hello world\n", "\n\nNews of today", "HTTP/1.1 200 OK\r\n", "PAR1\x15\x04", "\x7fELF\x02\x01\x01", "{\"meta\":{}}", "go 1.22 trace\x00\x00\x00", "PERFILE2", "SQLite format 3\x00"} {
		if pprof.Sniff([]byte(data)) {
			t.Errorf("%q is taken for a profile", data)
		}
	}
	for _, text := range []string{"heap profile: 1: 2 [3: 4] @ heap/1048576", "--- threadz 1 ---\n", "--- Thread 7f794ab90940 (name: main/14748) stack: ---"} {
		if !pprof.SniffText([]byte(text)) {
			t.Errorf("%q is not known for the old form", text)
		}
	}
}

func TestSniffCPU(t *testing.T) {
	for _, c := range []struct {
		words [5]uint32
		want  bool
	}{
		{[5]uint32{0, 3, 0, 10000, 0}, true},
		{[5]uint32{0, 3, 1, 10000, 0}, true}, // of Java
		{[5]uint32{0, 3, 2, 10000, 0}, false},
		{[5]uint32{0, 3, 0, 0, 0}, false},
		{[5]uint32{1, 3, 0, 10000, 0}, false},
		{[5]uint32{0, 3, 0, 10000, 1}, false},
	} {
		for _, o := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			var short, long []byte
			for _, w := range c.words {
				short, long = o.AppendUint32(short, w), o.AppendUint64(long, uint64(w))
			}
			if pprof.SniffCPU(short) != c.want || pprof.SniffCPU(long) != c.want {
				t.Errorf("words %d, %v: of 4 bytes %t, of 8 %t, want %t", c.words, o, pprof.SniffCPU(short), pprof.SniffCPU(long), c.want)
			}
			if pprof.SniffCPU(short[:19]) || pprof.SniffCPU(long[:39]) {
				t.Errorf("words %d, %v: known before the last is there", c.words, o)
			}
		}
	}
}

// A file too large to be held is read as a stream, with the same rows.
func TestLarge(t *testing.T) {
	p := odd()
	p.Comments = []string{strings.Repeat("x", 9<<20)}
	large, small := mustOpen(t, p), mustOpen(t, odd())
	var texts [2]bytes.Buffer
	for i, src := range []stream.Source{large, small} {
		src.Tables().Processes[0] = stream.Process{Instance: 1}
		if err := stream.Copy(streamtest.NewText(&texts[i]), src, stream.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	got, want := rowsOf(texts[0].String()), rowsOf(texts[1].String())
	same(t, "rows", got, want)
}

func rowsOf(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return !strings.HasPrefix(line, "  ") })
}

// FuzzOpen: whatever is in a file, it gives an error or a valid stream.
func FuzzOpen(f *testing.F) {
	f.Add(encode(f, odd()))
	for _, name := range slices.Sorted(maps.Keys(real())) {
		f.Add(real()[name])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		pprof.Sniff(data)
		src, _ := open(data)
		if src == nil {
			return
		}
		if err := stream.Copy(streamtest.Validate(stream.Discard), src, stream.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
	})
}

// Functions of Go programs have their categories, and no others.
func TestCategories(t *testing.T) {
	for file, want := range map[string]bool{"/go/src/runtime/malloc.go": true, "malloc.c": false} {
		f := &profile.Function{ID: 1, Name: "runtime.mallocgc", Filename: file}
		l := &profile.Location{ID: 1, Line: []profile.Line{{Function: f, Line: 3}}}
		p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}}, TimeNanos: 1,
			Sample: []*profile.Sample{{Location: []*profile.Location{l}, Value: []int64{1}}}, Location: []*profile.Location{l}, Function: []*profile.Function{f}}
		var text strings.Builder
		if err := stream.Copy(streamtest.Validate(streamtest.NewText(&text)), mustOpen(t, p), stream.CopyOptions{}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(text.String(), "Name:Go runtime"); got != want {
			t.Errorf("%s: a category of Go is %v, want %v:\n%s", file, got, want, text.String())
		}
	}
}
