// Package sections frames the files of recordings in a packed session archive,
// .gprof: the header of each section, and a writer that stores files as they are. The
// specification is the comment of package ingest/pack, which compresses and reads archives.
// A program that hands out its own session needs neither.
package sections
