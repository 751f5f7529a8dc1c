// Package perfevent has the records of Linux' perf_event_open(2) as the kernel lays them out, in
// the memory it shares with the opener, and after the header of a perf.data file.
//
// A record is 8 bytes of head (kind, misc and size), and a body. The contents of a sample, and the
// trailer of other records, depend on how the event was opened, see [Layout]. Records of big-endian
// machines are not read.
//
// Records are not trusted: each length is checked before it is used. Results of parse functions
// point into the record.
package perfevent
