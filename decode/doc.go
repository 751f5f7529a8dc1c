// Package decode turns the entries of processes into events: a [stream.Source]
// over what package chunks found in instance directories.
//
// The way of an entry:
//
//	bytes --layouts[kind]--> integers, a tail --handlers[kind]--> row of a batch
//
// How the fields of a kind lie is read from rawformat's table of kinds. There
// are two readers of it: one loads integers eight bytes at a time and looks at
// the end of the entry once, the other is rawformat's cursor. What the first
// does not like the second decides, so that errors are exact and hostile bytes
// harmless. Each kind has one short handler, found in one table.
//
// # Jobs
//
// Any number of workers decode at once. A process is prepared, then each of its
// chunks decodes alone: so one huge process keeps all of them busy, too. To
// prepare a process is to load its dictionaries, which takes no lock, and to link
// them to the tables of the run, which is done in the order of the inputs. A
// worker has all ids that it needs in arrays; it takes the lock of the tables for
// what it comes across for the first time. What is not linked yet, or decoded
// already, is not in memory: a thousand processes take no more than a few do.
//
// What processes share are modules and the functions at their addresses. If one
// of them was killed before it wrote its symbols, those of another serve. Which
// definition counts is decided by the order of the inputs, never by who was
// faster.
//
// # Tracks
//
// An event that names a track goes there. A sample without one goes to a track
// that bears the name of its stack's root function, because goroutines come by
// the thousand and root functions by the dozen. Everything else belongs to the
// process' main track.
//
// Trouble is data: an unknown kind, an id without definition, a damaged page
// are lines in the ledger of the tables, and reading goes on.
package decode
