// Package ingest makes one [stream.Source] of all recordings in its inputs.
//
// An input is a path: a session directory, a process directory, a chunk file, an archive of these,
// a pipe that gives one, or a directory above them; or a pattern of such paths, or "-". Files are
// recognized by their first bytes, never by name. Inputs may be given in any order, and twice:
// processes are sorted by start time and instance before anything is read.
//
// The steps, in [Find] and [Found.Source]:
//
//  1. identify each path, several at once (search.go), by the table of formats (formats.go);
//     archives become file systems (open.go);
//  2. list processes, and join copies, such as dumps of one process from different times
//     (copies.go);
//  3. drop what has expired by its exit record, before reading it (expire.go);
//  4. put all clocks on one time line (clock.go, timeline.go), and drop what has expired by time;
//  5. load all dictionaries, then decode (source.go), without what was over before the range start
//     (expiredrows.go).
//
// A file of another tool is one or more processes that no recorder of ours wrote (foreign.go). The
// steps are the same, except where chunks and exit records matter.
//
// An input that hangs is given up, one that is torn or hostile is read as far as it is intact; both
// are a warning and a ledger line (search.go).
//
// Paths appear in warnings only. Outputs identify processes by instance, so that the same
// recordings give the same bytes wherever they are.
package ingest
