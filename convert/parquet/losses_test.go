package parquet

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/fixtures/judges"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// Texts that are no UTF-8 are counted in the table of losses and in the ledger
// of the run, beside the source's own losses.
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
		`SELECT s_text FROM 'typed_markers/event=note/**/*.parquet' ORDER BY ts_ns`)
	want := []judges.Row{
		{"instance": "0000000000000007", "reason": "torn", "what": "pages", "place": "chunk-00001", "count": "1", "bytes": "9"},
		{"instance": nil, "reason": "unreadable", "what": "files", "place": nil, "count": "2", "bytes": "0"},
		{"instance": "0000000000000007", "reason": "unsupported", "what": "texts that are no UTF-8", "place": nil, "count": "2", "bytes": "0"},
	}
	if diff := cmp.Diff(want, answers[0]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]judges.Row{{"s_text": "whole"}, {"s_text": "\ufffdbroken"}, {"s_text": "cut \ufffd\ufffd"}}, answers[1]); diff != "" {
		t.Error(diff)
	}
	if lines := count.Tables.Ledger.Lines(); len(lines) != 3 {
		t.Errorf("ledger of the run: %v", lines)
	}
}

// Recordings of three versions of a program, which gave a field one type after the
// other and were converted apart, are read together: each column has one type.
func TestVersionsUnite(t *testing.T) {
	t.Parallel()
	fields := []stream.EventField{{Name: "n", Type: stream.Int}, {Name: "N", Type: stream.Text}, {Name: "n", Type: stream.Float}, {Name: "n_text", Type: stream.Uint}}
	var dirs []string
	for i, arg := range []any{int64(5), "five", 5.5, uint64(6)} {
		b := streamtest.NewBuilder()
		p := b.Process(stream.Process{Instance: uint64(i + 1), Service: "shop", Start: begin})
		p.Main.Mark(begin+stream.Time(i), stream.Instant, b.Event(stream.Event{Name: "note", Fields: fields[i : i+1]}), arg)
		dir, _ := convert(t, b.Source())
		dirs = append(dirs, "'"+dir+"/typed_markers/**/*.parquet'")
	}
	from := " FROM read_parquet([" + strings.Join(dirs, ", ") + "], union_by_name = true)"
	answers := ask(t, t.TempDir(), `SELECT n, n_text, n_float, n_text_int`+from+` ORDER BY ts_ns`, `DESCRIBE SELECT n, n_text, n_float, n_text_int`+from)
	none := judges.Row{"n": nil, "N_text": nil, "n_float": nil, "n_text_int": nil}
	want := []judges.Row{with(none, judges.Row{"n": "5"}), with(none, judges.Row{"N_text": "five"}), with(none, judges.Row{"n_float": 5.5}), with(none, judges.Row{"n_text_int": "6"})}
	if diff := cmp.Diff(want, answers[0]); diff != "" {
		t.Error(diff)
	}
	for i, kind := range []string{"BIGINT", "VARCHAR", "DOUBLE", "BIGINT"} {
		if got := answers[1][i]["column_type"]; got != kind {
			t.Errorf("column %v is %v, want %s", answers[1][i]["column_name"], got, kind)
		}
	}
}
