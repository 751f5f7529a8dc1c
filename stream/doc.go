// Package stream is to events what io is to bytes: a [Source] gives them, a
// [Sink] takes them, [Copy] moves them.
//
//	Source --Next(*Batch)--> Copy --Begin, Segment, Close--> Sink
//
// Left of this package code makes Sources out of bytes; right of it code makes
// Sinks that write other formats. Neither side knows the other.
//
// # Glossary
//
//	Chunk    framed bytes of one writer                    (package chunks)
//	Entry    one raw record of a chunk                     (package rawformat)
//	Event    what an entry means: a sample, a marker, ...  (a row of a Batch)
//	Series   all rows of one kind, process, track and event
//	Batch    some rows of one series, as columns
//	Segment  a batch on its way to a sink: sorted, final ids
//	Sum      what the rows of a series or a stack add up to, for a [Summer]
//	Row      one interned thing: a string, a frame, a stack
//	Filter   a Source that leaves out rows of another
//	Table    the rows of one kind; Tables holds all of them
//	Part     rows that one output of a split run is about (package split)
//	Track    one line of a timeline: a named goroutine's work, a thread, a group
//
// # Ids
//
// A Source interns into its [Tables] in any order: ids are provisional. Copy keeps only
// the rows that events refer to and renumbers them by content, so that the ids that a
// Sink sees do not depend on the order of inputs.
//
// # Ownership
//
// A Batch belongs to the caller that passed it in; its slices may be reused as soon as
// the call returns. A Source may swap the slices of the batch for its own. Tables belong
// to the Source until Copy returns, but Copy may free what only interning needs. A Sink
// may read the tables that it gets from Begin until Close returns.
//
// # Memory
//
// Copy holds rows in a small part of its ceiling, encoded to a third of their size, and
// spills the rest; what it allocates does not depend on their number. Tables of unique
// things can't be spilled: past their part of the ceiling, Copy ends with an [ErrMemory]
// that says how much they need. Memory beside them counts, too: a Source has a [Claim] on
// it, and a Sink [Tables.Reserve]s it.
//
// # Goroutines
//
// Tables are for one goroutine at a time. A Source that decodes on several goroutines
// locks them while it interns. That is rare: each definition of a recording is interned
// once, and its id is kept in an array that needs no lock. Code that reads the tables of
// a Source before Next has returned io.EOF must lock them as well.
package stream
