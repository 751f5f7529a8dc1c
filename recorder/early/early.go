// Package early keeps the markers that a program makes before it starts its
// recorder: those of package initialisation, of reading flags and settings. A
// program imports it for that alone:
//
//	import _ "gprof/recorder/early"
//
// Markers then go into 256 KiB of memory, which Start writes into the recording,
// each at the time at which it was made. Markers that find no room are dropped and
// counted. CPU samples and counters begin with Start. A program that never starts a
// recorder loses that memory, and GPROF=off spares it.
package early

import "gprof/recorder"

// It must run before main does, and nobody calls it.
func init() { recorder.StartEarly() }
