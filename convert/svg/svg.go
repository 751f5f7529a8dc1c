// Package svg draws a still of the flame graph of a run: a picture 1,600 pixels
// wide that needs no program but one that shows SVG.
//
// The root is at the top, callees hang below their callers, and the widest is
// on the left. All tracks of all processes are one graph, weighed by samples.
// The colour is that of the category, or of the package if all functions are of
// one category. Every box has its full name, its samples
// and its share as a tooltip, where whoever shows the picture has such things.
//
// What is not drawn: boxes narrower than half a pixel and rows below the 150th,
// which the last line of the picture says; CPU time; everything but samples,
// which the ledger says.
package svg

import (
	"gprof/convert/internal/flame"
	"gprof/convert/internal/pipeline"
)

// Sink draws one picture.
type Sink struct {
	flame.Still
	out *pipeline.Writer
}

// New returns a Sink that writes to w, and closes it at the end.
func New(w *pipeline.Writer) *Sink { return &Sink{out: w} }

// Close draws the picture and adds what has no place in it to the ledger.
func (s *Sink) Close() error {
	s.out.Write(paint(s.Picture(font{})))
	s.Tell()
	return s.out.Close()
}
