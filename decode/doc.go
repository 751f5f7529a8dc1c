// Package decode turns the entries of processes into events: a [stream.Source] over what package
// chunks found in instance directories.
//
// The way of an entry:
//
//	bytes --layouts[kind]--> integers, a tail --handlers[kind]--> row of a batch
//
// rawformat's table of kinds defines the fields of each kind. It is used by two readers: a fast one
// loads integers eight bytes at a time and checks the end of the entry once; rawformat's cursor
// reads what the fast one rejects, so that errors are exact and hostile bytes harmless. Each kind
// has a short handler, found in one table.
//
// # Jobs
//
// Any number of workers decode concurrently. A process is prepared, then each of its chunks is
// decoded independently, so one huge process keeps all of them busy, too. To prepare a process is
// to load its dictionaries, which takes no lock, and to link them to the tables of the run, in the
// order of the inputs. A worker has all ids it needs in arrays; it locks the tables only for what
// it meets for the first time. Processes that are not linked yet, or decoded already, are not in
// memory: a thousand processes take no more than a few.
//
// Processes share modules and the functions at their addresses. If one was killed before it wrote
// its symbols, those of another serve. The order of the inputs alone decides which definition
// counts.
//
// # Tracks
//
// An event that names a track goes there. A sample without one goes to a track named after its
// stack's root function, because goroutines come by the thousand and root functions by the dozen.
// Everything else belongs to the process's main track.
//
// Trouble is data: an unknown kind, an undefined id, a damaged page are ledger lines, and reading
// goes on.
package decode
