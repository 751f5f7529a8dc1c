package parquet

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"gprof/fixtures/judges"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// Integers that repeat have a dictionary, others are differences. The first rows decide, and what comes later
// is as exact; so is a column of which nothing is known for long.
func TestEncodings(t *testing.T) {
	t.Parallel()
	b := streamtest.NewBuilder()
	e := b.Event(stream.Event{Name: "flush", Fields: []stream.EventField{{Name: "pages", Type: stream.Int}, {Name: "size", Type: stream.Int}, {Name: "late", Type: stream.Int}}})
	p := b.Process(stream.Process{Instance: 1, Name: "p", Start: begin, End: begin + second})
	const rows = 3 * rowGroup / 2
	for i := range int64(rows) {
		row := streamtest.Row{Series: stream.Series{Kind: stream.Markers, Event: e}, Time: begin + stream.Time(i), Owner: stream.Owner{Goroutine: i%7 + 1}, Args: []any{i % 3, i * i, nil}}
		if i > rows/2 { // when all was decided
			row.Goroutine, row.Args = i, []any{-i, i << 32, i}
		}
		p.Main.Add(row)
	}
	dir, _ := convert(t, b.Source())
	answers := ask(t, dir,
		`SELECT path_in_schema AS name, bool_or(encodings LIKE '%RLE_DICTIONARY%') AS dictionary, bool_or(encodings LIKE '%DELTA_BINARY_PACKED%') AS differences
			FROM parquet_metadata('typed_markers/**/*.parquet') WHERE name IN ('goroutine_id', 'pages', 'size', 'late', 'ts_ns') GROUP BY name ORDER BY name`,
		`SELECT count(*) AS n, count(late) AS late, sum(goroutine_id)::VARCHAR AS goroutines, sum(pages)::VARCHAR AS pages, sum(late)::VARCHAR AS lates, sum(size % 1000)::VARCHAR AS sizes FROM 'typed_markers/**/*.parquet'`,
	)
	dictionary := func(name string) judges.Row {
		return judges.Row{"name": name, "dictionary": true, "differences": false}
	}
	differences := func(name string) judges.Row {
		return judges.Row{"name": name, "dictionary": false, "differences": true}
	}
	if diff := cmp.Diff([]judges.Row{dictionary("goroutine_id"), differences("late"), dictionary("pages"), differences("size"), differences("ts_ns")}, answers[0]); diff != "" {
		t.Error(diff)
	}
	var late, goroutines, pages, lates, sizes int64
	for i := range int64(rows) {
		if i > rows/2 {
			late, goroutines, pages, lates, sizes = late+1, goroutines+i, pages-i, lates+i, sizes+i<<32%1000
			continue
		}
		goroutines, pages, sizes = goroutines+i%7+1, pages+i%3, sizes+i*i%1000
	}
	if got := answers[1][0]; number(t, got["n"]) != rows || number(t, got["late"]) != late || number(t, got["goroutines"]) != goroutines ||
		number(t, got["pages"]) != pages || number(t, got["lates"]) != lates || number(t, got["sizes"]) != sizes {
		t.Errorf("%v, want %d rows, %d late, sums %d %d %d %d", got, int64(rows), late, goroutines, pages, lates, sizes)
	}
}
