package main

import "gprof/ingest"

// reading is the flags that say how inputs are read. All commands that read
// recordings have them.
type reading struct{}

// options are the flags as ingest takes them.
func (r *reading) options(s *streams) ingest.Options { return ingest.Options{Stdin: s.stdin} }
