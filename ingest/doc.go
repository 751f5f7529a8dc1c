// Package ingest makes one [stream.Source] of all recordings that its inputs
// hold.
//
// An input is a path: a session directory, the directory of one process, one
// chunk file, or a directory above any of these. Inputs may be given in any
// order, and twice: what was found is put into one order, by start time and
// instance, before anything is read.
//
// The steps, in [Find] and [Found.Source]:
//
//  1. look at what each path is (formats.go);
//  2. list processes, drop what was given twice (find.go);
//  3. put all clocks on one time line (clock.go);
//  4. load all dictionaries, then decode process by process (source.go).
//
// Paths appear in warnings only. Whatever goes into an output names a process
// by its instance, so that the same recordings give the same bytes wherever
// they lie.
package ingest
