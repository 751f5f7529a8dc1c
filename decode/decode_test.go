package decode_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"gprof/chunks"
	"gprof/chunks/folder"
	"gprof/decode"
	"gprof/fixtures"
	"gprof/rawformat"
	"gprof/stream"
	"gprof/stream/streamtest"
)

var update = flag.Bool("update", false, "rewrite the expected sections of testdata")

// Each case is a recording as text, and the events that it must give.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			events, ledger := decodeLines(t, lines(ar, "dict"), lines(ar, "blocks"))
			if *update {
				section(ar, "events").Data, section(ar, "ledger").Data = events, ledger
				if err := os.WriteFile(name, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			same(t, "events", events, section(ar, "events").Data)
			same(t, "ledger", ledger, section(ar, "ledger").Data)
		})
	}
}

func section(ar *txtar.Archive, name string) *txtar.File {
	for i := range ar.Files {
		if ar.Files[i].Name == name {
			return &ar.Files[i]
		}
	}
	panic("no section " + name)
}

func lines(ar *txtar.Archive, name string) []string {
	return strings.FieldsFunc(string(section(ar, name).Data), func(r rune) bool { return r == '\n' })
}

func same(t *testing.T, what string, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant:\n%s", what, got, want)
	}
}

// decodeLines records the lines, with no room between them, and decodes what
// was recorded.
func decodeLines(t *testing.T, dict, blocks []string) (events, ledger []byte) {
	t.Helper()
	session := t.TempDir()
	r, err := fixtures.New(session, fixtures.Options{Meta: []chunks.Meta{
		{Key: rawformat.MetaService, Value: "shop"}, {Key: rawformat.MetaVersion, Value: "1.2"}, {Key: rawformat.MetaHost, Value: "h"},
		{Key: rawformat.MetaExe, Value: "/bin/prog"}, {Key: rawformat.MetaAttr + "zone", Value: "b"}, {Key: rawformat.MetaTimeBase, Value: "100"}}})
	for _, step := range []func() error{
		func() error { return err },
		func() error { return r.Define(dict...) },
		func() error { return r.Lines(blocks...) },
		func() error { return r.Close() },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	return copyText(t, r.Dir)
}

func copyText(t *testing.T, dir string) (events, ledger []byte) {
	t.Helper()
	p, err := chunks.OpenProcess(os.DirFS(dir), ".")
	if err != nil {
		t.Fatal(err)
	}
	tables := new(stream.Tables)
	clock, ok := decode.ClockOf(p)
	if !ok {
		t.Fatal("no clock")
	}
	tables.Processes = []stream.Process{decode.Describe(p, clock)}
	src := decode.New(tables, []decode.Input{{Found: p, ID: 1, Clock: clock}}, decode.Options{})
	var text bytes.Buffer
	if err := stream.Copy(streamtest.Validate(streamtest.NewText(&text)), src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	var sum bytes.Buffer
	for _, l := range tables.Ledger.Lines() {
		fmt.Fprintf(&sum, "%s %s %s count=%d bytes=%d\n", l.Reason.String(), l.What, l.Where, l.Count, l.Bytes)
	}
	return text.Bytes(), sum.Bytes()
}

// A marker that was made while a new dictionary began stands on the row that only the new one names.
func TestRootOfALaterDictionary(t *testing.T) {
	r, err := fixtures.New(t.TempDir(), fixtures.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(r.Define(`def-event id=1 category=0 name="mark" display=3 chart="" tooltip="" table=""`, `def-string id=1 text="main.other"`),
		r.Lines("context goroutine=7 track=0 root=0", "began start=99", "instant event=1 stack=0 time=+1 args=()"), r.Close())
	if err != nil {
		t.Fatal(err)
	}
	later, err := chunks.CreateDict(folder.Dir(r.Dir), 1, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(later.Append(append([]byte{byte(rawformat.KindDefString), 1}, rawformat.AppendText(nil, "main.serve")...), []byte{byte(rawformat.KindDefRoot), 99, 1}), later.Close())
	if err != nil {
		t.Fatal(err)
	}
	if events, _ := copyText(t, r.Dir); !bytes.Contains(events, []byte("Name:main.serve Main:false Root:true")) || bytes.Contains(events, []byte("unknown root")) {
		t.Errorf("want a marker on the row main.serve:\n%s", events)
	}
}
