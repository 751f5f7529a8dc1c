// Package sections frames the files of recordings in a packed session archive,
// .gprof: the header of each section, and a writer that stores files as they are. The
// specification is the comment of gprof/ingest/pack, which compresses and reads
// archives; a recorded program hands its session out with neither.
package sections
