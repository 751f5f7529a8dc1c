// Package decode turns the entries of one process into events: a
// [stream.Source] over what package chunks found in an instance directory.
//
// The way of an entry:
//
//	block --handlers[kind]--> row of a batch, ids resolved by the dictionary
//
// Each kind has one short handler, found in one table. Ids of the recording
// are resolved when an entry first uses them, so tables hold only what is used;
// see [Names] for what processes share.
//
// Tracks: an event that names a track goes there. A sample without one goes to
// a track that bears the name of its stack's root function, because goroutines
// come by the thousand and root functions by the dozen. Everything else belongs
// to the process' main track.
//
// Trouble is data: an unknown kind, an id without definition, a damaged page
// are lines in the ledger of the tables, and reading goes on.
package decode
