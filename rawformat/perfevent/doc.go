// Package perfevent is the records of Linux' perf_event_open(2), as the kernel lays
// them out: in the memory that it shares with who asked for them, and behind the
// header of a perf.data file.
//
// A record is 8 bytes of head, kind, misc and size, and a body. What the body of a
// sample holds, and what other records end with, was chosen when the event was
// opened: see [Layout]. Records of big-endian machines are not read.
//
// Records are not trusted: each length is checked before it is used. What a parse
// function returns points into the record.
package perfevent
