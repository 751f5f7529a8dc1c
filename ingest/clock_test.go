package ingest

import (
	"fmt"
	"testing"

	"gprof/chunks"
	"gprof/fixtures"
	"gprof/rawformat"
	"gprof/stream"
)

// Two processes of one boot, whose real times disagree a little: the monotonic
// clock decides. More than 50 ms, another boot, or none: each its own real time,
// and a line in the ledger where it is a guess.
func TestAlign(t *testing.T) {
	for _, c := range []struct {
		name  string
		boot  string // of the second process
		skew  int64  // of its real time, ns
		shift int64  // of its events against the monotonic clock, ns
		note  bool
	}{
		{"exact", "boot", 0, 0, false},
		{"same boot, small skew", "boot", 20_000_000, 0, false},
		{"same boot, negative skew", "boot", -20_000_000, 0, false},
		{"same boot, clock was set", "boot", 60_000_000, 60_000_000, true},
		{"other boot", "other", 5_000, 5_000, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			session := t.TempDir()
			const later = 1_000_000_000
			for i, start := range []uint64{1e9, 1e9 + later} {
				o := fixtures.Options{Instance: uint64(i + 1), Start: start, Realtime: fixtures.Realtime}
				if i == 1 {
					o.Realtime += later + c.skew
					o.Meta = []chunks.Meta{{Key: rawformat.MetaBootID, Value: c.boot}}
				}
				record(t, session, o)
			}
			found, err := Find([]string{session}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			var sink stream.Count
			if err := stream.Copy(&sink, found.Source(), stream.CopyOptions{}); err != nil {
				t.Fatal(err)
			}
			got := sink.Sum(func(s stream.Series) bool { return s.Process == 2 }).First
			if want := stream.Time(fixtures.Realtime + later + c.shift); got != want {
				t.Errorf("event at %d, want %d", got, want)
			}
			if noted := len(sink.Tables.Ledger.Lines()) > 0; noted != c.note {
				t.Errorf("ledger %+v", sink.Tables.Ledger.Lines())
			}
		})
	}
}

// record writes one marker at the start.
func record(t *testing.T, session string, o fixtures.Options) {
	t.Helper()
	r, err := fixtures.New(session, o)
	if err == nil {
		err = r.Define(`def-event id=1 category=0 name="e" display=1 chart="" tooltip="" table=""`)
	}
	if err == nil {
		err = r.Lines("instant event=1 stack=0 time=+0 args=()")
	}
	if err == nil {
		err = r.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A child names its parent by instance; of two copies of one process the longer
// one is read.
func TestParentsAndCopies(t *testing.T) {
	session, copied := t.TempDir(), t.TempDir()
	record(t, session, fixtures.Options{Instance: 10})
	record(t, session, fixtures.Options{Instance: 11, Start: 2e9, Realtime: fixtures.Realtime + 1e9,
		Meta: []chunks.Meta{{Key: rawformat.MetaParent, Value: fmt.Sprintf("%016x", 10)}}})
	record(t, copied, fixtures.Options{Instance: 11, Start: 2e9, Realtime: fixtures.Realtime + 1e9})
	found, err := Find([]string{copied, session}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var sink stream.Count
	if err := stream.Copy(&sink, found.Source(), stream.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	p := sink.Tables.Processes
	if len(p) != 2 || p[0].Instance != 10 || p[1].Instance != 11 {
		t.Fatalf("processes %+v", p)
	}
	lines := sink.Tables.Ledger.Lines()
	if len(lines) != 1 || lines[0].Reason != stream.ReasonDuplicate || lines[0].Process != "000000000000000b" {
		t.Errorf("ledger %+v", lines)
	}
}
