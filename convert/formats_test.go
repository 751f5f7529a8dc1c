package convert

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"gprof/stream"
	"gprof/stream/streamtest"
)

func TestByName(t *testing.T) {
	tests := []struct {
		file, format string
		gzip         bool
	}{
		{"a.json", "firefox", false},
		{"dir.gz/a.json.gz", "firefox", true},
		{"a.firefox.json", "firefox", false},
		{"a.gecko.json", "gecko", false},
		{"a.gecko.json.gz", "gecko", true},
		{"a.pb.gz", "pprof", true},
		{"a.pb", "pprof", true},
		{"a.pprof", "pprof", true},
		{"a.folded", "folded", false},
		{"a.collapsed.gz", "folded", true},
		{"a.gecko", "", false},
		{"a.gz", "", false},
		{"json", "", false},
		{"a.json.zst", "", false},
		{"-", "", false},
		{"tables/", "parquet", false},
		{"a.parquet", "parquet", false},
		{"a.parquet.gz", "", false},
		{"a.speedscope.json", "speedscope", false},
		{"a.speedscope.json.gz", "speedscope", true},
		{"a.cpuprofile.json.gz", "", false},
		{"a.Firefox.json", "", false},
		{"dir.speedscope/a.v2.json", "firefox", false},
		{"web.2026-11-22.json.gz", "firefox", true},
		{"a..json", "firefox", false},
		{"host.example.com.json.gz", "firefox", true},
		{"a.profile.json", "firefox", false},
		{"a.parquet.json", "", false},
		{"a.{process}.json", "firefox", false},
	}
	for _, tt := range tests {
		f, o, err := ByName(tt.file)
		if f.Name != tt.format || o.Gzip != tt.gzip || errors.Is(err, ErrFormat) != (tt.format == "") {
			t.Errorf("ByName(%q) = %q, %v, %v", tt.file, f.Name, o, err)
		}
	}
}

func TestByFormat(t *testing.T) {
	for _, f := range Formats() {
		plain, o, err := ByFormat(f.Name)
		if plain.Name != f.Name || o.Gzip != f.Packed || err != nil || plain.Readable(o) == f.Binary {
			t.Errorf("ByFormat(%q) = %q, %v, %v", f.Name, plain.Name, o, err)
		}
		packed, o, err := ByFormat(f.Name + ".gz")
		if f.Directory() {
			if !errors.Is(err, ErrFormat) {
				t.Errorf("ByFormat(%q) = %q, %v, %v", f.Name+".gz", packed.Name, o, err)
			}
			continue
		}
		if packed.Name != f.Name || !o.Gzip || err != nil || packed.Readable(o) {
			t.Errorf("ByFormat(%q) = %q, %v, %v", f.Name+".gz", packed.Name, o, err)
		}
	}
	if _, _, err := ByFormat("gif"); !errors.Is(err, ErrFormat) {
		t.Errorf("ByFormat of something else: %v", err)
	}
}

// The table says what names mean: each extension once, the exact one first.
func TestTable(t *testing.T) {
	seen := map[string]string{}
	for _, f := range Formats() {
		if f.Name == "" || f.Text == "" || len(f.Extensions) == 0 {
			t.Errorf("format %q: %q, %v", f.Name, f.Text, f.Extensions)
		}
		for _, extension := range f.Extensions {
			if seen[extension] != "" || !strings.HasPrefix(extension, ".") {
				t.Errorf("%s is of %s and of %s", extension, seen[extension], f.Name)
			}
			seen[extension] = f.Name
			if got, _, _ := ByName("file" + extension); got.Name != f.Name {
				t.Errorf("file%s is %s, want %s", extension, got.Name, f.Name)
			}
		}
	}
}

// Rows of a kind change the output of a format, unless it says that it has no place
// for them.
func TestKinds(t *testing.T) {
	output := func(f Format, kind stream.Kind) []byte {
		b := streamtest.NewBuilder()
		p := b.Process(stream.Process{Name: "shop", Pid: 1, Start: 1, End: 3})
		p.Main.Sample(2, b.Stack("main"))
		switch kind {
		case stream.Markers:
			p.Main.Interval(2, 1, b.Event(stream.Event{Name: "request"}))
		case stream.Waits:
			p.Main.Wait(2, b.Stack("main"), 7, 1)
		case stream.Allocations:
			p.Main.Allocate(2, stream.Instant, b.Stack("main"), 7, 1)
		case stream.Measurements:
			measure := p.Counter(stream.Counter{Name: "delay", Measure: true})
			p.Main.Measure(2, measure, b.Stack("main"), 7)
		}
		var out bytes.Buffer
		sink, err := f.New(&out, Options{})
		if err == nil {
			err = stream.Copy(sink, b.Source(), stream.CopyOptions{})
		}
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		return out.Bytes()
	}
	for _, f := range slices.DeleteFunc(Formats(), Format.Directory) {
		for _, kind := range []stream.Kind{stream.Markers, stream.Waits, stream.Allocations, stream.Measurements} {
			same, takes := bytes.Equal(output(f, stream.Samples), output(f, kind)), f.Kinds == nil || slices.Contains(f.Kinds, kind)
			if unasked := f.Kinds == nil && kind != stream.Markers; takes == same && !unasked {
				t.Errorf("%s: it takes %v: %v, but they change the output: %v", f.Name, kind, takes, !same)
			}
		}
	}
}

func write(t *testing.T, o Options) []byte {
	t.Helper()
	f, _, err := ByName("x.json")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	sink, err := f.New(&out, o)
	if err != nil {
		t.Fatal(err)
	}
	b := streamtest.NewBuilder()
	b.Process(stream.Process{Name: "shop", Pid: 1}).Main.Sample(1, b.Stack("main"))
	if err := stream.Copy(sink, b.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestNew(t *testing.T) {
	plain := write(t, Options{})
	if !json.Valid(plain) {
		t.Error("the output is no JSON")
	}
	z, err := gzip.NewReader(bytes.NewReader(write(t, Options{Gzip: true})))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(z); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("unpacked %d bytes, want %d (%v)", len(got), len(plain), err)
	}
	f := Formats()[0]
	if _, err := f.New(io.Discard, Options{Gzip: true, Level: 10}); err == nil {
		t.Error("level 10 is taken")
	}
}

// A writer that fails only when the compressor is closed must be noticed.
func TestCompressedConformance(t *testing.T) {
	streamtest.TestSink(t, func(w io.Writer) stream.Sink {
		sink, err := Formats()[0].New(w, Options{Gzip: true})
		if err != nil {
			t.Fatal(err)
		}
		return sink
	}, nil)
}

// A format from outside has a name and extensions of its own.
func TestTableWith(t *testing.T) {
	open := func(w io.Writer, _ Options) stream.Sink { return streamtest.NewText(w) }
	table, err := Formats().With(Format{Name: "text", Extensions: []string{".txt"}, Open: open})
	if err != nil {
		t.Fatal(err)
	}
	if f, o, err := table.ByName("a.txt.gz"); f.Name != "text" || !o.Gzip || err != nil {
		t.Errorf("a.txt.gz is %q, %+v, %v", f.Name, o, err)
	}
	for _, f := range []Format{
		{Name: "text", Extensions: []string{".text"}, Open: open},
		{Name: "other", Extensions: []string{".x", ".txt"}, Open: open},
		{Name: "other", Extensions: []string{".x"}},
		{Name: "other", Open: open},
	} {
		if _, err := table.With(f); err == nil {
			t.Errorf("%s %v joined", f.Name, f.Extensions)
		}
	}
}
