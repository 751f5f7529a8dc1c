// Outside is a program of a module that is not gprof's: gprof-convert with a format of
// inputs and a format of outputs of its own.
package main

import (
	"gprof/cmd/gprof-convert/app"
	"gprof/convert"
	"gprof/ingest"
)

func main() {
	app.Main(app.Extensions{
		Sources: []ingest.Format{sketchFormat},
		Sinks:   []convert.Format{tallyFormat},
	})
}
