package ingest

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"gprof/fixtures"
	"gprof/stream"
	"gprof/stream/streamtest"
)

var update = flag.Bool("update", false, "rewrite the expected sections of testdata")

// eachCase builds the session of each case in testdata/folder, and compares what
// read says of it with what the case expects.
func eachCase(t *testing.T, folder string, read func(t *testing.T, session string) []txtar.File) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			session := t.TempDir()
			if err := fixtures.Build(session, ar); err != nil {
				t.Fatal(err)
			}
			compare(t, name, ar, read(t, session))
		})
	}
}

// Each case is a recording whose events say what time it was, while its clocks
// showed something else. Expected are the moments that events are placed at,
// how far that is from the truth, what the ledger says of it, and what the
// processes say of their clocks.
func TestClocks(t *testing.T) {
	eachCase(t, "clocks", func(t *testing.T, session string) []txtar.File {
		got := truths(t, session)
		if again := truths(t, backwards(t, session)...); !slices.EqualFunc(got, again, sameFile) {
			t.Errorf("inputs in another order give\n%s\n%s", again[0].Data, again[1].Data)
		}
		return got
	})
}

// backwards are the processes of a session, the last one first.
func backwards(t *testing.T, session string) (inputs []string) {
	t.Helper()
	entries, err := os.ReadDir(session)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range slices.Backward(entries) {
		inputs = append(inputs, filepath.Join(session, e.Name()))
	}
	return inputs
}

func sameFile(a, b txtar.File) bool { return bytes.Equal(a.Data, b.Data) }

// compare compares what came out with the archive's expect/ sections, or with
// -update rewrites those.
func compare(t *testing.T, name string, ar *txtar.Archive, got []txtar.File) {
	t.Helper()
	for _, f := range got {
		i := section(ar, f.Name)
		if *update {
			ar.Files[i].Data = f.Data
		}
		if want := ar.Files[i].Data; !bytes.Equal(f.Data, want) {
			t.Errorf("%s:\n%s\nwant:\n%s", f.Name, f.Data, want)
		}
	}
	if *update {
		if err := os.WriteFile(name, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func section(ar *txtar.Archive, name string) int {
	for i := range ar.Files {
		if ar.Files[i].Name == name {
			return i
		}
	}
	ar.Files = append(ar.Files, txtar.File{Name: name})
	return len(ar.Files) - 1
}

// truths converts inputs to one line an event, and the ledger's lines.
func truths(t *testing.T, inputs ...string) []txtar.File {
	t.Helper()
	src, found, err := Open(inputs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	var sink truthSink
	if err := stream.Copy(streamtest.Validate(&sink), src, stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return []txtar.File{{Name: "expect/events", Data: sink.events.Bytes()}, {Name: "expect/ledger", Data: ledgerText(sink.tables, stream.ReasonClock)},
		{Name: "expect/clocks", Data: clocksText(sink.tables)}}
}

// clocksText is what the table of processes says of their clocks.
func clocksText(tables *stream.Tables) []byte {
	var b bytes.Buffer
	for i := range tables.Processes {
		p := &tables.Processes[i]
		fmt.Fprintf(&b, "%x by %s, boot %q, %d pieces, ± %v, %d anchors over %v\n", p.Instance, p.Clock.By, p.Clock.Boot, p.Clock.Pieces,
			time.Duration(p.Clock.Uncertainty), p.Clock.Anchors, time.Duration(p.Clock.Last-p.Clock.First))
	}
	return b.Bytes()
}

func ledgerText(tables *stream.Tables, of stream.Reason) []byte {
	var b bytes.Buffer
	for _, l := range tables.Ledger.Lines() {
		if l.Reason == of {
			fmt.Fprintf(&b, "%s %d %s: %s\n", strings.TrimLeft(l.Process, "0"), l.Count, l.What, l.Where)
		}
	}
	return b.Bytes()
}

type truthSink struct {
	tables *stream.Tables
	events bytes.Buffer
}

func (s *truthSink) Begin(t *stream.Tables) error { s.tables = t; return nil }
func (s *truthSink) Close() error                 { return nil }

func (s *truthSink) Segment(b *stream.Batch) error {
	for i, at := range b.Time {
		truth := stream.Time(b.Args[0].BitsAt(i))
		fmt.Fprintf(&s.events, "%x %s", s.tables.Process(b.Series.Process).Instance, time.Unix(0, int64(at)).UTC().Format("2006-01-02 15:04:05.000000"))
		if off := time.Duration(at - truth); off != 0 {
			fmt.Fprintf(&s.events, " off by %v", off)
		}
		s.events.WriteByte('\n')
	}
	return nil
}
