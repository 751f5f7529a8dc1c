// Package tables divides the events of a run into tables, for the formats that
// write columns: they differ in how a table becomes a file. This comment is the
// specification of the tables, version [Version].
//
// A session is the processes of a run whose tables refer to each other; its name
// depends on what is in it. A format may have one for each service and day.
//
// A data set, which [Prepare] begins, holds sessions of many runs. Each has files only
// of tables of which it has rows. Of each table there is one file without rows, so that
// readers of all its files find one.
//
// # Columns of many tables
//
//	session      name of the session. Ids are those of one session: join on both
//	process_id   INT32, from 1
//	track_id     INT32, from 1: in the order of processes, the main track first
//	ts_ns        INT64 nanoseconds since 1970, UTC; of an interval its start
//	event_index  INT64 position in the process' recording: unique in it, and the
//	             same in every dump of it
//	stack_id     INT32, NULL if there is no stack
//
// The thread is one of the system, the goroutine one of the process, INT64 each.
// labels are those that the program has set (runtime/pprof's labels), a JSON object of
// texts by key: labels->>'route'. It is NULL if there are none.
//
// Unknown values are NULL. Ids are from 1. All numbers are signed; the few that
// are 64 bits without a sign (addresses, hexadecimal and flow arguments) are
// stored by their bits. Times are INT64 because most engines round or refuse
// timestamps of nanoseconds.
//
// # Tables
//
//	samples     process_id, track_id, ts_ns, event_index, stack_id, weight, cpu_ns,
//	            thread_id, goroutine_id, labels
//	markers     process_id, track_id, ts_ns, event_index, name, category, phase (instant, interval, start, end), duration_ns (of an interval),
//	            stack_id, arguments, thread_id, goroutine_id, labels
//	typed_markers one for each type of markers with fields, which is the event's name if it has no type: the same rows, with a column for each
//	            field but a marker's name, and odd_arguments for arguments
//	waits       process_id, track_id, ts_ns, event_index, stack_id, wall_ns (of all together), goroutines
//	measurements process_id, track_id, ts_ns, event_index, stack_id, measure (such as delay), unit, value, thread_id, goroutine_id, labels:
//	            a row for each stack and measure of an imported profile
//	delays      process_id, track_id, ts_ns, event_index, delay_ns
//	allocations process_id, track_id, ts_ns, event_index, stack_id, bytes, objects (both below 0 where they were freed: sums are what is in use),
//	            before (the recording began, else since the row before of that stack), thread_id, goroutine_id, labels,
//	            address (where it lay: Go does not tell it)
//	counters    process_id, counter_id, ts_ns, event_index, counter, category, unit, total, value, operations
//	pauses      process_id, ts_ns, event_index, phase, what
//	overheads   process_id, ts_ns, event_index, lock_ns, clean_ns, counters_ns, threads_ns, samples
//	logs        process_id, ts_ns, event_index, level, text
//	pages       process_id, ts_ns, event_index, phase, tab, window, embedder, private, url: what was open for long is told again, with one ts_ns
//	stacks      stack_id, last_id (the stacks with ids from stack_id to last_id are this one and all below it, which it called),
//	            key, prefix (stack_id of the caller), frame_id (of the leaf), outermost (no caller has the name of that frame), depth,
//	            frames (frame_ids, leaf first, at most 1,024: prefix leads to more; NULL where no row refers to the stack itself)
//	frames      frame_id, key, name (the function, else module+0xaddress, else ?), function, file, line, module, build_id, address (offset in the module), inline_depth, category, subcategory, label,
//	            function_id, file_id (string_ids), script (is it a function of one), column (of scripts), function_line, function_column
//	            (where the function begins, which tells functions of scripts apart)
//	strings     string_id, text: functions and files
//	processes   process_id, instance, parent_id, parent_instance, pid, name, service_name, version, revision, host, exe, arguments, go_version, os,
//	            arch, cpus, memory_limit, start_ns, end_ns, exit_reason, exit_code, exit_text, interval_ns, cpu_sampling, range_start, module, modified (source), slowed_by (race, …), cpu_name, cores, limit_bytes,
//	            features, track_filter (what the recorder was started with)
//	attributes  process_id, key, value: what the program said about itself
//	tracks      process_id, track_id, name, main, start_ns, end_ns
//	events      name, category, subcategory, field, column_name, label, type (int, float, text, json), unit, privacy: a row for each field of a marker
//	losses      instance, reason, severity, text, what, place, count, bytes: the ledger
//	clocks      process_id, instance, placed_by (boot, host, or what told the start), boot_id, exact (monotonic time is kept), pieces, uncertainty_ns,
//	            anchors, first_anchor_ns, last_anchor_ns
//	coverage    process_id, instance, first_index, last_index, first_ns, last_ns, rows: a row for each range of positions
//
// All have a session. Rows are sorted by process, track (or counter) and time; those of
// markers by event before time.
//
// Texts are in the columns that they belong to, in a dictionary if they repeat. Frames
// have the numbers of their texts as well, to group by function without comparing texts.
//
// A key is 128 bits of a SHA-256 of the content of a frame, or of a stack's
// frames: it is the same in every session and on every host, so that data of
// many of them can be joined without any coordination.
//
// Coverage tells which positions of which recording were read: two sessions with
// one instance whose ranges overlap hold some events twice, which have the same
// event_index. Damaged parts are in no range. There may be fewer rows than were read, if
// only a part of them was asked for.
//
// A clock's uncertainty is how far times may be off from what the process itself
// read of the real time. Order within a boot is exact whatever it is.
//
// # Arguments of markers
//
// In markers, which all readers take as one table, arguments is a JSON object of all
// arguments by the names of their fields: numbers, texts, and JSON as it is; NaN and
// infinities are texts. It is NULL where there are none. Where two fields have one
// name the second has _2 behind it.
//
// In a typed table a field's column has its name, and behind it the type unless that is an integer:
// bytes, load_float, path_text. So a column has the same type in all sessions, and
// recordings of two versions of a program unite although one of them gave a field
// another type: it has two columns then. An integer has its type, too, where its
// name is that of a column that all markers have, or ends with a type: name_int.
// Where two fields of an event would have one column, without regard to case, the
// second has a number before its type. The table of events says which field is in
// which column. Integers are INT64, decimals DOUBLE, all else STRING. An argument
// of another type than its field, or an integer above the largest INT64, is a
// member of the JSON object in odd_arguments.
//
// In texts that are no UTF-8 invalid bytes are replaced by U+FFFD, and the ledger
// counts such texts. Nothing else is lost.
//
// # Queries
//
// Queries are in SQL that DuckDB, Spark, ClickHouse, DataFusion and polars have in
// common. Tables are called by their names; engines/*.sql makes them of files, for each
// engine in its own words, with stack_frames: session, stack_id and frame_id of each
// frame of a stack. What they have no words for in common lies in a directory for each
// engine. Modules of Python, in python/*.py, ask tables in Parquet files by libraries.
package tables
