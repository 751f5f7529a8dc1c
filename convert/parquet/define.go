package parquet

import "gprof/stream"

// definition is what a table is: its columns, and those its rows are sorted by.
type definition struct {
	name    string
	columns []column
	sorted  []string
}

var (
	session   = column{name: "session", kind: word}
	processID = column{name: "process_id", kind: short, delta: true}
	trackID   = column{name: "track_id", kind: short, delta: true}
	ts        = column{name: "ts_ns", kind: long, delta: true}
	index     = column{name: "event_index", kind: long, delta: true}
	stackID   = column{name: "stack_id", kind: short, null: true}
)

// rowsOf defines a table of events of a process.
func rowsOf(name string, columns ...column) definition {
	return definition{name, append([]column{session, processID, ts, index}, columns...), []string{"process_id", "ts_ns"}}
}

// trackRowsOf defines a table of events of a track.
func trackRowsOf(name string, columns ...column) definition {
	return definition{name, append([]column{session, processID, trackID, ts, index}, columns...), []string{"process_id", "track_id", "ts_ns"}}
}

// kindTables are the tables of events, by stream.Kind; markers have one for
// each event.
var kindTables = [...]definition{
	stream.Samples: trackRowsOf("samples", stackID, column{name: "weight", kind: long, delta: true}, column{name: "cpu_ns", kind: long, null: true, delta: true}),
	stream.Delays:  trackRowsOf("delays", column{name: "delay_ns", kind: long, delta: true}),
	stream.Counts: {"counters", []column{
		session, processID, {name: "counter_id", kind: short, delta: true}, ts, index,
		{name: "counter", kind: word}, {name: "category", kind: word}, {name: "unit", kind: word}, {name: "total", kind: flag},
		{name: "value", kind: long, delta: true}, {name: "operations", kind: long, null: true, delta: true},
	}, []string{"process_id", "counter_id", "ts_ns"}},
	stream.Pauses:    rowsOf("pauses", column{name: "phase", kind: word}, column{name: "what", kind: word}),
	stream.Overheads: rowsOf("overheads", nulls("lock_ns", "clean_ns", "counters_ns", "threads_ns", "samples")...),
	stream.Logs:      rowsOf("logs", column{name: "level", kind: word}, column{name: "text", kind: text}),
	stream.Pages: rowsOf("pages", append([]column{{name: "phase", kind: word}},
		append(nulls("tab", "window", "embedder", "private"), column{name: "url", kind: text, null: true})...)...),
}

// nulls are columns of numbers that may be unknown.
func nulls(names ...string) (columns []column) {
	for _, name := range names {
		columns = append(columns, column{name: name, kind: long, null: true})
	}
	return columns
}

// markerTable defines a table of markers with some columns of their own.
func markerTable(fields ...column) definition {
	d := trackRowsOf("markers", append([]column{
		{name: "name", kind: word}, {name: "category", kind: word}, {name: "phase", kind: word},
		{name: "duration_ns", kind: long, null: true}, stackID, {name: "odd_arguments", kind: text, null: true},
	}, fields...)...)
	return d
}

// The other tables.
var (
	processTable = definition{"processes", []column{
		session, processID, {name: "instance", kind: text}, {name: "parent_id", kind: short, null: true}, {name: "parent_instance", kind: text, null: true},
		{name: "pid", kind: long}, {name: "name", kind: word}, {name: "service_name", kind: word}, {name: "version", kind: word},
		{name: "revision", kind: word}, {name: "host", kind: word}, {name: "exe", kind: word}, {name: "arguments", kind: texts},
		{name: "go_version", kind: word}, {name: "os", kind: word}, {name: "arch", kind: word}, {name: "cpus", kind: long, null: true},
		{name: "memory_limit", kind: long, null: true}, {name: "start_ns", kind: long, null: true}, {name: "end_ns", kind: long, null: true},
		{name: "exit_reason", kind: word, null: true}, {name: "exit_code", kind: long, null: true}, {name: "exit_text", kind: text, null: true},
		{name: "interval_ns", kind: long, null: true}, {name: "cpu_sampling", kind: word}, {name: "range_start", kind: long, null: true},
	}, []string{"process_id"}}

	attributeTable = definition{"attributes", []column{session, processID, {name: "key", kind: word}, {name: "value", kind: word}}, []string{"process_id"}}

	trackTable = definition{"tracks", []column{
		session, processID, trackID, {name: "name", kind: word}, {name: "main", kind: flag},
		{name: "start_ns", kind: long, null: true}, {name: "end_ns", kind: long, null: true},
	}, []string{"process_id", "track_id"}}

	eventTableDefinition = definition{"events", []column{
		session, {name: "name", kind: word}, {name: "category", kind: word}, {name: "field", kind: text, null: true}, {name: "column_name", kind: text, null: true},
		{name: "label", kind: text, null: true}, {name: "type", kind: word, null: true}, {name: "unit", kind: word, null: true}, {name: "privacy", kind: word, null: true},
	}, nil}

	frameTable = definition{"frames", []column{
		session, {name: "frame_id", kind: short, delta: true}, {name: "key", kind: hash},
		{name: "function", kind: word, null: true}, {name: "file", kind: word, null: true}, {name: "line", kind: short, null: true},
		{name: "module", kind: word, null: true}, {name: "build_id", kind: word, null: true}, {name: "address", kind: long, null: true},
		{name: "inline_depth", kind: short}, {name: "category", kind: word}, {name: "label", kind: flag},
	}, []string{"frame_id"}}

	stackTable = definition{"stacks", []column{
		session, {name: "stack_id", kind: short, delta: true}, {name: "key", kind: hash}, {name: "prefix", kind: short, null: true},
		{name: "frame_id", kind: short}, {name: "depth", kind: short}, {name: "frames", kind: ids, null: true},
	}, []string{"stack_id"}}

	lossTable = definition{"losses", []column{
		session, {name: "instance", kind: word, null: true}, {name: "reason", kind: word}, {name: "severity", kind: word}, {name: "text", kind: word},
		{name: "what", kind: word}, {name: "place", kind: text, null: true}, {name: "count", kind: long}, {name: "bytes", kind: long},
	}, nil}

	coverageTable = definition{"coverage", []column{
		session, processID, {name: "instance", kind: text}, {name: "first_index", kind: long, null: true}, {name: "last_index", kind: long, null: true},
		{name: "first_ns", kind: long, null: true}, {name: "last_ns", kind: long, null: true}, {name: "rows", kind: long},
	}, []string{"process_id"}}
)
