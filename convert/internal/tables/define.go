package tables

import "gprof/stream"

var (
	session   = Column{Name: "session", Kind: Word}
	processID = Column{Name: "process_id", Kind: Short, Near: true}
	trackID   = Column{Name: "track_id", Kind: Short, Near: true}
	ts        = Column{Name: "ts_ns", Kind: Long, Near: true, Dense: true}
	index     = Column{Name: "event_index", Kind: Long, Near: true, Dense: true}
	stackID   = Column{Name: "stack_id", Kind: Short, Null: true, Near: true}
	thread    = Column{Name: "thread_id", Kind: Long, Null: true}
	goroutine = Column{Name: "goroutine_id", Kind: Long, Null: true}
	labels    = Column{Name: "labels", Kind: Word, Null: true}
	traceID   = Column{Name: "trace_id", Kind: Hash, Null: true}
	spanID    = Column{Name: "span_id", Kind: SpanID, Null: true}
)

// rowsOf defines a table of events of a process.
func rowsOf(name string, columns ...Column) Definition {
	return Definition{name, append([]Column{session, processID, ts, index}, columns...), []string{"process_id", "ts_ns"}}
}

// trackRowsOf defines a table of events of a track.
func trackRowsOf(name string, columns ...Column) Definition {
	return Definition{name, append([]Column{session, processID, trackID, ts, index}, columns...), []string{"process_id", "track_id", "ts_ns"}}
}

// kindTables are the tables of events, by stream.Kind. Markers have one more for
// each event with fields.
var kindTables = [...]Definition{
	stream.Markers: markerTable("markers", "arguments"),
	stream.Samples: trackRowsOf("samples", stackID, Column{Name: "weight", Kind: Long, Near: true}, Column{Name: "cpu_ns", Kind: Long, Null: true, Near: true},
		thread, goroutine, labels, traceID, spanID),
	stream.Delays: trackRowsOf("delays", Column{Name: "delay_ns", Kind: Long, Near: true}),
	stream.Waits:  trackRowsOf("waits", stackID, Column{Name: "wall_ns", Kind: Long, Near: true}, Column{Name: "goroutines", Kind: Long, Near: true}),
	stream.Measurements: trackRowsOf("measurements", stackID, Column{Name: "measure", Kind: Word}, Column{Name: "unit", Kind: Word}, Column{Name: "value", Kind: Long, Near: true},
		thread, goroutine, labels, traceID, spanID),
	// bytes are below 0 where they were freed, objects too
	stream.Allocations: trackRowsOf("allocations", stackID, Column{Name: "bytes", Kind: Long, Near: true}, Column{Name: "objects", Kind: Long, Near: true}, Column{Name: "before", Kind: Flag},
		thread, goroutine, labels, Column{Name: "address", Kind: Long, Null: true}, traceID, spanID),
	stream.Counts: {"counters", []Column{
		session, processID, {Name: "counter_id", Kind: Short, Near: true}, ts, index,
		{Name: "counter", Kind: Word}, {Name: "category", Kind: Word}, {Name: "unit", Kind: Word}, {Name: "total", Kind: Flag},
		{Name: "value", Kind: Long, Near: true}, {Name: "operations", Kind: Long, Null: true, Near: true},
	}, []string{"process_id", "counter_id", "ts_ns"}},
	stream.Pauses:    rowsOf("pauses", Column{Name: "phase", Kind: Word}, Column{Name: "what", Kind: Word}),
	stream.Overheads: rowsOf("overheads", nulls("lock_ns", "clean_ns", "counters_ns", "threads_ns", "samples")...),
	stream.Logs:      rowsOf("logs", Column{Name: "level", Kind: Word}, Column{Name: "text", Kind: Text}),
	stream.Pages: rowsOf("pages", append([]Column{{Name: "phase", Kind: Word}},
		append(nulls("tab", "window", "embedder", "private"), Column{Name: "url", Kind: Text, Null: true})...)...),
}

// nulls are number columns that may be unknown.
func nulls(names ...string) (columns []Column) {
	for _, name := range names {
		columns = append(columns, Column{Name: name, Kind: Long, Null: true})
	}
	return columns
}

// markerTable defines a table of markers, sorted by event first.
func markerTable(name, arguments string, fields ...Column) Definition {
	d := trackRowsOf(name, append([]Column{
		{Name: "name", Kind: Word}, {Name: "category", Kind: Word}, {Name: "phase", Kind: Word},
		{Name: "duration_ns", Kind: Long, Null: true, Near: true}, stackID, {Name: arguments, Kind: Text, Null: true},
		thread, goroutine, labels, traceID, spanID,
	}, fields...)...)
	d.Sorted = d.Sorted[:2]
	return d
}

// The other tables.
var (
	processTable = Definition{"processes", []Column{
		session, processID, {Name: "instance", Kind: Text}, {Name: "parent_id", Kind: Short, Null: true}, {Name: "parent_instance", Kind: Text, Null: true},
		{Name: "pid", Kind: Long}, {Name: "name", Kind: Word}, {Name: "service_name", Kind: Word}, {Name: "version", Kind: Word},
		{Name: "revision", Kind: Word}, {Name: "host", Kind: Word}, {Name: "exe", Kind: Word}, {Name: "arguments", Kind: Texts},
		{Name: "go_version", Kind: Word}, {Name: "os", Kind: Word}, {Name: "arch", Kind: Word}, {Name: "cpus", Kind: Long, Null: true},
		{Name: "memory_limit", Kind: Long, Null: true}, {Name: "start_ns", Kind: Long, Null: true}, {Name: "end_ns", Kind: Long, Null: true},
		{Name: "exit_reason", Kind: Word, Null: true}, {Name: "exit_code", Kind: Long, Null: true}, {Name: "exit_text", Kind: Text, Null: true},
		{Name: "interval_ns", Kind: Long, Null: true}, {Name: "cpu_sampling", Kind: Word}, {Name: "range_start", Kind: Long, Null: true},
		{Name: "module", Kind: Word, Null: true}, {Name: "modified", Kind: Flag}, {Name: "slowed_by", Kind: Texts}, {Name: "cpu_name", Kind: Word, Null: true},
		{Name: "cores", Kind: Long, Null: true}, {Name: "limit_bytes", Kind: Long, Null: true}, {Name: "features", Kind: Texts}, {Name: "track_filter", Kind: Texts},
	}, []string{"process_id"}}

	attributeTable = Definition{"attributes", []Column{session, processID, {Name: "key", Kind: Word}, {Name: "value", Kind: Word}}, []string{"process_id"}}

	clockTable = Definition{"clocks", []Column{
		session, processID, {Name: "instance", Kind: Text}, {Name: "placed_by", Kind: Word, Null: true}, {Name: "boot_id", Kind: Word, Null: true},
		{Name: "exact", Kind: Flag, Null: true}, {Name: "pieces", Kind: Long, Null: true}, {Name: "uncertainty_ns", Kind: Long, Null: true},
		{Name: "anchors", Kind: Long}, {Name: "first_anchor_ns", Kind: Long, Null: true}, {Name: "last_anchor_ns", Kind: Long, Null: true},
	}, []string{"process_id"}}

	trackTable = Definition{"tracks", []Column{
		session, processID, trackID, {Name: "name", Kind: Word}, {Name: "main", Kind: Flag},
		{Name: "start_ns", Kind: Long, Null: true}, {Name: "end_ns", Kind: Long, Null: true},
	}, []string{"process_id", "track_id"}}

	eventTableDefinition = Definition{"events", []Column{
		session, {Name: "name", Kind: Word}, {Name: "category", Kind: Word}, {Name: "subcategory", Kind: Word, Null: true}, {Name: "field", Kind: Text, Null: true}, {Name: "column_name", Kind: Text, Null: true},
		{Name: "label", Kind: Text, Null: true}, {Name: "type", Kind: Word, Null: true}, {Name: "unit", Kind: Word, Null: true}, {Name: "privacy", Kind: Word, Null: true},
	}, nil}

	frameTable = Definition{"frames", []Column{
		session, {Name: "frame_id", Kind: Short, Near: true}, {Name: "key", Kind: Hash}, {Name: "name", Kind: Word},
		{Name: "function", Kind: Word, Null: true}, {Name: "file", Kind: Word, Null: true}, {Name: "line", Kind: Short, Null: true},
		{Name: "module", Kind: Word, Null: true}, {Name: "build_id", Kind: Word, Null: true}, {Name: "address", Kind: Long, Null: true},
		{Name: "inline_depth", Kind: Short}, {Name: "category", Kind: Word}, {Name: "subcategory", Kind: Word, Null: true}, {Name: "label", Kind: Flag},
		{Name: "function_id", Kind: Short, Null: true}, {Name: "file_id", Kind: Short, Null: true},
		{Name: "script", Kind: Flag}, {Name: "column", Kind: Short, Null: true}, {Name: "function_line", Kind: Short, Null: true}, {Name: "function_column", Kind: Short, Null: true},
	}, []string{"frame_id"}}

	stringTable = Definition{"strings", []Column{
		session, {Name: "string_id", Kind: Short, Near: true}, {Name: "text", Kind: Text},
	}, []string{"string_id"}}

	stackTable = Definition{"stacks", []Column{
		session, {Name: "stack_id", Kind: Short, Near: true}, {Name: "last_id", Kind: Short, Near: true}, {Name: "key", Kind: Hash}, {Name: "prefix", Kind: Short, Null: true, Near: true},
		{Name: "frame_id", Kind: Short}, {Name: "outermost", Kind: Flag}, {Name: "depth", Kind: Short, Near: true}, {Name: "frames", Kind: IDs, Null: true},
	}, []string{"stack_id"}}

	lossTable = Definition{"losses", []Column{
		session, {Name: "instance", Kind: Word, Null: true}, {Name: "reason", Kind: Word}, {Name: "severity", Kind: Word}, {Name: "text", Kind: Word},
		{Name: "what", Kind: Word}, {Name: "place", Kind: Text, Null: true}, {Name: "count", Kind: Long}, {Name: "bytes", Kind: Long},
	}, nil}

	coverageTable = Definition{"coverage", []Column{
		session, processID, {Name: "instance", Kind: Text}, {Name: "first_index", Kind: Long, Null: true}, {Name: "last_index", Kind: Long, Null: true},
		{Name: "first_ns", Kind: Long, Null: true}, {Name: "last_ns", Kind: Long, Null: true}, {Name: "rows", Kind: Long},
	}, []string{"process_id"}}
)
