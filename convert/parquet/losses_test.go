package parquet

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/fixtures/judges"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// What a text can't hold is in the ledger, that of the tables and that of the
// run, beside what the source had lost.
func TestLosses(t *testing.T) {
	t.Parallel()
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 7, Service: "shop", Start: begin})
	e := b.Event(stream.Event{Name: "note", Fields: []stream.EventField{{Name: "s", Type: stream.Text}}})
	for i, text := range []string{"whole", "\xffbroken", "cut \xe2\x82"} {
		p.Main.Mark(begin+stream.Time(i), stream.Instant, e, text)
	}
	b.Tables.Ledger.Add(stream.Line{Process: instance(7), Reason: stream.ReasonTorn, What: "pages", Where: "chunk-00001", Count: 1, Bytes: 9})
	b.Tables.Ledger.Add(stream.Line{Reason: stream.ReasonUnreadable, What: "files", Count: 2})
	dir, count := convert(t, b.Source())
	answers := ask(t, dir, `SELECT instance, reason, what, place, count, bytes FROM 'losses/**/*.parquet' ORDER BY count, reason`,
		`SELECT s FROM 'markers/**/*.parquet' ORDER BY ts_ns`)
	want := []judges.Row{
		{"instance": "0000000000000007", "reason": "torn", "what": "pages", "place": "chunk-00001", "count": "1", "bytes": "9"},
		{"instance": nil, "reason": "unreadable", "what": "files", "place": nil, "count": "2", "bytes": "0"},
		{"instance": "0000000000000007", "reason": "unsupported", "what": "texts that are no UTF-8", "place": nil, "count": "2", "bytes": "0"},
	}
	if diff := cmp.Diff(want, answers[0]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]judges.Row{{"s": "whole"}, {"s": "\ufffdbroken"}, {"s": "cut \ufffd\ufffd"}}, answers[1]); diff != "" {
		t.Error(diff)
	}
	if lines := count.Tables.Ledger.Lines(); len(lines) != 3 {
		t.Errorf("ledger of the run: %v", lines)
	}
}

// Recordings of two versions of a program, one of which gave a field another
// type, are read together.
func TestVersionsUnite(t *testing.T) {
	t.Parallel()
	var dirs []string
	for i, arg := range []any{int64(5), "five"} {
		b := streamtest.NewBuilder()
		p := b.Process(stream.Process{Instance: uint64(i + 1), Service: "shop", Start: begin})
		field := stream.EventField{Name: "n", Type: []stream.Type{stream.Int, stream.Text}[i]}
		p.Main.Mark(begin+stream.Time(i), stream.Instant, b.Event(stream.Event{Name: "note", Fields: []stream.EventField{field}}), arg)
		dir, _ := convert(t, b.Source())
		dirs = append(dirs, dir)
	}
	answers := ask(t, dirs[0], `SELECT n FROM read_parquet(['markers/**/*.parquet', '`+dirs[1]+`/markers/**/*.parquet'], union_by_name = true) ORDER BY ts_ns`)
	if diff := cmp.Diff([]judges.Row{{"n": "5"}, {"n": "five"}}, answers[0]); diff != "" {
		t.Error(diff)
	}
}
