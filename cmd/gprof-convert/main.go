// Gprof-convert turns recordings into what people's tools open: Firefox
// Profiler, go tool pprof, DuckDB, flame graphs. It opens them there (view), says
// what took most (top) and what changed (diff), what a recording holds (info),
// prints its bytes as text (inspect), proves it whole (verify), and packs, slices
// and merges recordings.
//
// Run gprof-convert --help, or gprof-convert COMMAND --help for examples.
package main

import "gprof/cmd/gprof-convert/app"

func main() { app.Main(app.Extensions{}) }
