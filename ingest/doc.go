// Package ingest makes one [stream.Source] of all recordings that its inputs
// hold.
//
// An input is a path: a session directory, the directory of one process, one
// chunk file, an archive of any of these, a pipe that gives one, or a directory
// above them; or it is a pattern of such paths, or "-". Files are told by what
// they begin with, never by their names. Inputs may be given in any order, and
// twice: what was found is put into one order, by start time and instance,
// before anything is read.
//
// The steps, in [Find] and [Found.Source]:
//
//  1. look at what each path is, several at once (search.go), by the table of
//     formats (formats.go); archives become file systems (open.go);
//  2. list processes; put together what was given twice, such as dumps of one
//     process from different times (copies.go);
//  3. leave out what has expired, by its exit record before anything of it is
//     read (expire.go);
//  4. put all clocks on one time line (clock.go, timeline.go, place.go), and
//     leave out what has expired by time;
//  5. load all dictionaries, then decode (source.go), without what was over
//     before the range start (gone.go).
//
// A file of another tool is one or more processes that no recorder of ours
// wrote (foreign.go). The steps are the same for them, but for what chunks and
// exit records tell.
//
// An input that hangs is given up, one that is torn or hostile is read as far
// as it is intact; either is a warning and a line of the ledger (warning.go).
//
// Paths appear in warnings only. Whatever goes into an output names a process
// by its instance, so that the same recordings give the same bytes wherever
// they lie.
package ingest
