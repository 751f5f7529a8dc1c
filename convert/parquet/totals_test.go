package parquet

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	pq "github.com/parquet-go/parquet-go"

	"gprof/fixtures/judges"
	"gprof/stream"
	"gprof/stream/streamtest"
)

const (
	begin  = stream.Time(1_795_000_000_000_000_123) // not exact as a float64
	second = stream.Time(1e9)
)

// busy is three processes of two services, begun on two days, with more rows
// than a row group holds.
func busy() *streamtest.Builder {
	b := streamtest.NewBuilder()
	request := b.Event(stream.Event{Name: "http/request", Fields: []stream.EventField{
		{Name: "bytes", Type: stream.Uint, Format: stream.FormatBytes}, {Name: "path", Type: stream.Text, Format: stream.FormatString},
		{Name: "load", Type: stream.Float}, {Name: "Service", Type: stream.Text}, {Name: "flow", Type: stream.Uint, Format: stream.FormatFlow},
	}})
	later := b.Event(stream.Event{Name: "http/request", Fields: []stream.EventField{
		{Name: "bytes", Type: stream.Text}, {Name: "path", Type: stream.Text, Format: stream.FormatString},
	}})
	for i, service := range []string{"front", "shop/eu", "shop/eu"} {
		start := begin + stream.Time(i/2)*24*3600*second
		p := b.Process(stream.Process{Instance: uint64(i + 1), Pid: 100 + i, Name: "prog", Service: service, Version: fmt.Sprint("1.", i), Start: start, End: start + 200*second,
			Attrs: []stream.Attr{{Key: "zone", Value: "b"}}, Args: []string{"prog", "-v"}})
		rows := 2000
		if i == 1 {
			rows = rowGroup + 3000
		}
		for k, track := range []*streamtest.Track{p.Main, p.Track("worker"), p.Track("idle")} {
			for n := range rows / (k + 1) {
				stack := b.Stack("main", fmt.Sprint("f", n%5), fmt.Sprint("g", n%11), "main")
				track.Add(streamtest.Row{Time: start + stream.Time(n)*1000, Stack: stack, Weight: int64(n%3 + 1), CPU: int64(n%4 - 1)})
			}
			track.Interval(start+stream.Time(k), int64(k+1)*1000, request, uint64(5), "/a", 0.5, "x", uint64(1)<<63)
			track.Mark(start, stream.Instant, later, "many", "/b")
			track.Mark(start, stream.Instant, request, "many", 7, nil, nil, nil)
		}
		p.Count(start+7, p.Counter(stream.Counter{Name: "rss", Unit: stream.FormatBytes}), 1<<40+int64(i), 0)
	}
	return b
}

// sums are totals by name.
type sums map[string]int64

func sumsOf(t *testing.T, rows []judges.Row, name ...string) sums {
	t.Helper()
	out := sums{}
	for _, row := range rows {
		key := ""
		for _, column := range name {
			key += fmt.Sprint(row[column], " ")
		}
		out[key] += number(t, row["n"])
	}
	return out
}

// The tables hold the same totals as went in: by process, track, function and
// marker.
func TestTotals(t *testing.T) {
	t.Parallel()
	b := busy()
	dir, count := convert(t, b.Shuffled(3))
	answers := ask(t, dir,
		`SELECT p.instance, sum(weight) AS n FROM 'samples/**/*.parquet' JOIN 'processes/**/*.parquet' p USING (session, process_id) GROUP BY ALL`,
		`SELECT p.instance, t.name, sum(weight) AS n FROM 'samples/**/*.parquet' JOIN 'processes/**/*.parquet' p USING (session, process_id)
			JOIN 'tracks/**/*.parquet' t USING (session, process_id, track_id) GROUP BY ALL`,
		`SELECT instance, name, count(*) AS n FROM (SELECT m.name, p.instance FROM 'markers/**/*.parquet' m
			JOIN 'processes/**/*.parquet' p USING (session, process_id)) GROUP BY ALL`,
		query(t, dir, "top-functions.sql"),
		query(t, dir, "flame-graph.sql"),
		query(t, dir, "functions-by-track.sql"),
	)
	byProcess, byTrack, byMarker := sums{}, sums{}, sums{}
	for _, s := range count.Series {
		process := instance(count.Tables.Process(s.Process).Instance) + " "
		switch s.Kind {
		case stream.Samples:
			byProcess[process] += s.Samples
			byTrack[process+count.Tables.Tracks.At(s.Track).Name+" "] += s.Samples
		case stream.Markers:
			byMarker[process+count.Tables.Event(s.Event).Name+" "] += s.Rows
		}
	}
	for i, want := range []sums{byProcess, byTrack, byMarker} {
		columns := []string{"instance", "name"}[:min(i+1, 2)]
		if diff := cmp.Diff(want, sumsOf(t, answers[i], columns...)); diff != "" {
			t.Errorf("answer %d (-counted +read):\n%s", i, diff)
		}
	}
	self, total := functionsOf(b)
	for i, answer := range answers[3:] {
		gotSelf, gotTotal := sums{}, sums{}
		for _, row := range answer {
			name := row["function"].(string)
			gotSelf[name] += number(t, row["self"])
			gotTotal[name] += number(t, row["total"])
		}
		if diff := cmp.Diff(self, gotSelf); diff != "" {
			t.Errorf("query %d, self (-recorded +read):\n%s", i, diff)
		}
		if diff := cmp.Diff(total, gotTotal); diff != "" && i != 1 { // a path has "main" twice
			t.Errorf("query %d, total (-recorded +read):\n%s", i, diff)
		}
	}
}

// functionsOf counts the samples in each function, and in or below it.
func functionsOf(b *streamtest.Builder) (self, total sums) {
	self, total = sums{}, sums{}
	for _, r := range b.Rows {
		if r.Kind != stream.Samples {
			continue
		}
		var names []string
		for id := r.Stack; id != 0; {
			prefix, frame := b.Tables.Stacks.At(id)
			names = append(names, b.Tables.Strings.At(b.Tables.Frames.At(frame).Function))
			id = prefix
		}
		self[names[0]] += r.Weight
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			total[name] += r.Weight
		}
	}
	for name := range total {
		self[name] += 0
	}
	return self, total
}

// Times are exact to the nanosecond, numbers to the bit, and what is unknown is
// NULL while 0 is not.
func TestValues(t *testing.T) {
	t.Parallel()
	b := busy()
	dir, _ := convert(t, b.Source())
	answers := ask(t, dir,
		`SELECT min(ts_ns) AS first, count(*) FILTER (cpu_ns IS NULL) AS unknown, count(*) FILTER (cpu_ns = 0) AS zero FROM 'samples/service=front/**/*.parquet'`,
		`SELECT ts_ns, duration_ns, bytes, bytes_text, path_text, load_float, service_text, flow, odd_arguments, phase, event, service, date::VARCHAR AS date
			FROM 'typed_markers/**/*.parquet' WHERE track_id = 1 ORDER BY event_index`,
		`SELECT value, operations, unit FROM 'counters/**/*.parquet' ORDER BY value`,
		`SELECT p.service, service_name, version, arguments, a.value FROM 'processes/**/*.parquet' p JOIN 'attributes/**/*.parquet' a USING (session, process_id) ORDER BY process_id`,
		`SELECT instance, first_ns, last_index, rows FROM 'coverage/**/*.parquet' ORDER BY process_id`,
		`SELECT row_group_num_rows AS n, encodings, compression FROM parquet_metadata('samples/**/*.parquet') WHERE path_in_schema = 'ts_ns' ORDER BY n DESC`,
		`SELECT name, arguments FROM 'markers/**/*.parquet' WHERE track_id = 1 ORDER BY event_index`,
	)
	at := strconv.FormatInt(int64(begin), 10)
	// Of 2,000, 1,000 and 666 rows of three tracks every fourth.
	if diff := cmp.Diff([]judges.Row{{"first": at, "unknown": "917", "zero": "917"}}, answers[0]); diff != "" {
		t.Error(diff)
	}
	common := judges.Row{"event": "http~2Frequest", "service": "front", "date": "2026-11-18", "ts_ns": at, "duration_ns": nil, "bytes": nil, "bytes_text": nil,
		"path_text": nil, "load_float": nil, "Service_text": nil, "flow": nil, "odd_arguments": nil, "phase": "instant"}
	want := []judges.Row{
		with(common, judges.Row{"phase": "interval", "duration_ns": "1000", "bytes": "5", "path_text": "/a", "load_float": 0.5, "Service_text": "x", "flow": "-9223372036854775808"}),
		with(common, judges.Row{"bytes_text": "many", "path_text": "/b"}),
		with(common, judges.Row{"odd_arguments": `{"bytes":"many","path":7}`}),
	}
	if diff := cmp.Diff(want, answers[1]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(judges.Row{"value": "1099511627776", "operations": nil, "unit": "bytes"}, answers[2][0]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(judges.Row{"service": "shop~2Feu", "service_name": "shop/eu", "version": "1.1", "arguments": []any{"prog", "-v"}, "value": "b"}, answers[3][1]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(judges.Row{"instance": instance(1), "first_ns": at, "last_index": "3676", "rows": "3676"}, answers[4][0]); diff != "" {
		t.Error(diff)
	}
	if group := answers[5][0]; group["n"] != strconv.Itoa(rowGroup) || group["compression"] != "UNCOMPRESSED" || group["encodings"] != "DELTA_BINARY_PACKED" {
		t.Errorf("row group %v", group)
	}
	row := func(arguments string) judges.Row { return judges.Row{"name": "http/request", "arguments": arguments} }
	all := []judges.Row{row(`{"bytes":5,"path":"/a","load":0.5,"Service":"x","flow":9223372036854775808}`), row(`{"bytes":"many","path":"/b"}`), row(`{"bytes":"many","path":7}`)}
	if diff := cmp.Diff(all, answers[6]); diff != "" {
		t.Error(diff)
	}
}

func with(row, changes judges.Row) judges.Row {
	out := judges.Row{}
	for _, r := range []judges.Row{row, changes} {
		for k, v := range r {
			out[k] = v
		}
	}
	return out
}

// Content keys of two runs meet, whatever their ids are.
func TestKeys(t *testing.T) {
	t.Parallel()
	one, two := streamtest.NewBuilder(), streamtest.NewBuilder()
	a := one.Process(stream.Process{Instance: 1, Name: "a", Start: begin})
	a.Main.Sample(begin, one.Stack("main", "serve", "work"))
	c := two.Process(stream.Process{Instance: 2, Name: "c", Start: begin})
	c.Main.Sample(begin, two.Stack("aaa", "bbb"))
	c.Main.Sample(begin, two.Stack("main", "serve", "other"))
	c.Main.Sample(begin, two.Stack("main", "serve", "work"))
	dir, _ := convert(t, one.Source())
	other, _ := convert(t, two.Source())
	answers := ask(t, dir, fmt.Sprintf(`SELECT depth, count(*) AS n FROM 'stacks/**/*.parquet' a JOIN '%s/stacks/**/*.parquet' b USING (key, depth) GROUP BY depth ORDER BY depth`, other),
		fmt.Sprintf(`SELECT function FROM 'frames/**/*.parquet' a JOIN '%s/frames/**/*.parquet' b USING (key, function) ORDER BY function`, other))
	if diff := cmp.Diff([]judges.Row{{"depth": 1.0, "n": "1"}, {"depth": 2.0, "n": "1"}, {"depth": 3.0, "n": "1"}}, answers[0]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]judges.Row{{"function": "main"}, {"function": "serve"}, {"function": "work"}}, answers[1]); diff != "" {
		t.Error(diff)
	}
}

// The files say by what their rows are sorted, and they are.
func TestOrder(t *testing.T) {
	t.Parallel()
	b := busy()
	for id := range stream.ProcessID(3) {
		p := b.Tables.Process(id + 1)
		for _, name := range []string{"zzz", "aaa", "mmm"} {
			c := b.Tables.Counters.Intern(stream.Counter{Process: id + 1, Name: name})
			for k := range stream.Time(3) {
				b.Add(streamtest.Row{Series: stream.Series{Process: id + 1, Kind: stream.Counts, Counter: c}, Time: p.Start + 9 - k, Value: 1})
			}
		}
	}
	dir, _ := convert(t, b.Shuffled(7))
	var queries []string
	for _, table := range []string{"samples", "markers", "counters", "stacks", "frames", "strings", "tracks"} {
		for _, file := range filesOf(t, filepath.Join(dir, table)) {
			queries = append(queries, orderQuery(t, file))
		}
	}
	for i, answer := range ask(t, dir, queries...) {
		if n := number(t, answer[0]["n"]); n != 0 {
			t.Errorf("%d rows are not in order: %s", n, queries[i])
		}
	}
}

// The texts of frames are those of their numbers, and there is each once.
func TestStrings(t *testing.T) {
	t.Parallel()
	dir, _ := convert(t, busy().Source())
	answers := ask(t, dir, `SELECT count(*) AS n, count(f.function_id) AS named FROM 'frames/**/*.parquet' f
			LEFT JOIN 'strings/**/*.parquet' a ON (a.session, a.string_id) = (f.session, f.function_id)
			LEFT JOIN 'strings/**/*.parquet' b ON (b.session, b.string_id) = (f.session, f.file_id)
		WHERE (f.function, f.file) IS NOT DISTINCT FROM (a.text, b.text)`,
		`SELECT count(*) AS n, count(function) AS named FROM 'frames/**/*.parquet'`,
		`SELECT count(*) - count(DISTINCT (session, text)) AS n FROM 'strings/**/*.parquet'`)
	got, want := answers[0][0], answers[1][0]
	if number(t, got["n"]) != number(t, want["n"]) || number(t, got["named"]) != number(t, want["named"]) || number(t, got["named"]) == 0 {
		t.Errorf("%v of %v frames have their texts", got, want)
	}
	if n := number(t, answers[2][0]["n"]); n != 0 {
		t.Errorf("%d texts are there twice", n)
	}
}

// A query for a track and a time reads few row groups: statistics rule out the
// others.
func TestStatistics(t *testing.T) {
	t.Parallel()
	b := busy()
	dir, _ := convert(t, b.Source())
	answers := ask(t, dir, `SELECT row_group_id AS g, path_in_schema AS c, stats_min_value::BIGINT AS low, stats_max_value::BIGINT AS high
		FROM parquet_metadata('samples/service=shop~2Feu/date=2026-11-18/*.parquet') WHERE path_in_schema IN ('process_id', 'track_id', 'ts_ns')`,
		`SELECT track_id AS track, min(ts_ns) AS low, max(ts_ns) AS high, count(*) AS n FROM 'samples/service=shop~2Feu/date=2026-11-18/*.parquet' GROUP BY ALL`)
	type span struct{ low, high int64 }
	groups := map[any]map[string]span{}
	for _, row := range answers[0] {
		if groups[row["g"]] == nil {
			groups[row["g"]] = map[string]span{}
		}
		groups[row["g"]][row["c"].(string)] = span{number(t, row["low"]), number(t, row["high"])}
	}
	if len(groups) < 3 || len(answers[1]) != 3 {
		t.Fatalf("%d row groups, %d tracks", len(groups), len(answers[1]))
	}
	for _, row := range answers[1] {
		track, low, high := number(t, row["track"]), number(t, row["low"]), number(t, row["high"])
		for i := range int64(10) { // a tenth of its time
			from, to, touched := low+(high-low)*i/10, low+(high-low)*(i+1)/10, 0
			for _, g := range groups {
				if g["track_id"].low <= track && track <= g["track_id"].high && g["ts_ns"].low <= to && from <= g["ts_ns"].high {
					touched++
				}
			}
			if touched < 1 || touched > 2 {
				t.Errorf("track %d, part %d of 10: %d of %d row groups", track, i, touched, len(groups))
			}
		}
	}
}

// orderQuery counts the rows of a file that come before one that they should
// follow.
func orderQuery(t *testing.T, file string) string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	opened, err := pq.OpenFile(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	var columns []string
	for _, group := range opened.RowGroups() {
		columns = nil
		for _, c := range group.SortingColumns() {
			columns = append(columns, c.Path()[0])
		}
	}
	if len(columns) == 0 {
		t.Fatalf("%s is not sorted", file)
	}
	key := "(" + strings.Join(columns, ", ") + ", 0)"
	return fmt.Sprintf(`SELECT count(*) FILTER (k < before) AS n FROM (SELECT %s AS k, lag(%s) OVER (ORDER BY file_row_number) AS before
		FROM read_parquet('%s', file_row_number = true))`, key, key, file)
}

// NaNs in a column do not hide its other values from readers that use
// statistics.
func TestNaN(t *testing.T) {
	t.Parallel()
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Service: "shop", Start: begin})
	e := b.Event(stream.Event{Name: "load", Fields: []stream.EventField{{Name: "f", Type: stream.Float}}})
	for i, v := range []any{math.NaN(), 1.5, math.Inf(1), math.NaN(), -2.5, math.Inf(-1), math.NaN()} {
		p.Main.Mark(begin+stream.Time(i), stream.Instant, e, v)
	}
	dir, _ := convert(t, b.Source())
	answers := ask(t, dir, `SELECT count(*) FILTER (isnan(f_float)) AS nan FROM 'typed_markers/**/*.parquet'`,
		`SELECT count(*) AS n FROM 'typed_markers/**/*.parquet' WHERE f_float = 1.5`, `SELECT count(*) AS n FROM 'typed_markers/**/*.parquet' WHERE f_float < -2`,
		`SELECT count(*) AS n FROM 'typed_markers/**/*.parquet' WHERE f_float > 1e300`)
	for i, want := range []judges.Row{{"nan": "3"}, {"n": "1"}, {"n": "2"}, {"n": "4"}} { // DuckDB has NaN above all
		if diff := cmp.Diff(want, answers[i][0]); diff != "" {
			t.Errorf("answer %d: %s", i, diff)
		}
	}
}
