// Package early keeps the markers that a program makes before it starts its
// recorder, and takes CPU samples meanwhile: of package initialisation, of reading flags and
// settings. A program imports it for that alone:
//
//	import _ "gprof/recorder/early"
//
// Markers and samples go into 256 KiB of memory each, which Start writes into the
// recording, each at the time at which it was made or taken. The marker "end of early
// recording" says where that ends. What finds no room is dropped and counted. Counters
// begin with Start.
//
// Samples are taken as Start does by default, at the rate that GPROF_SAMPLE_HZ says, of
// up to 8 threads, until there is no room left, and for a minute at most. They are
// dropped if the options of Start ask for none. Where there is no sampler by signals
// there are markers only; gprof-convert info says which.
//
// The import makes the start of a program a few milliseconds longer, and there is a
// goroutine until Start, for a minute at most. A program that never starts a recorder
// loses that memory; GPROF=off spares all of it.
package early

import "gprof/recorder"

// It must run before main does, and nobody calls it.
func init() { recorder.StartEarly() }
