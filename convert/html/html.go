// Package html writes one page with the flame graph of a run, to be opened in a
// browser, from a file as well as from a server. The page loads nothing: its
// style, its program and its data are in it, and a policy in its head forbids
// all else.
//
// On a wide screen the choices are one line, below it the strip of time over the
// whole width, the graph, and a table of functions; a dark screen has a dark
// page. On a telephone choices stand two by two, and the first tap on a box
// tells what a pointer would be told, the second zooms. A browser tests all
// three (browser_test.go).
//
// The page's data is bounded, however long the recording was:
//
//   - The time of the run is cut into [course.Slots]. Samples are counted by track,
//     slot and stack. When that makes too many numbers, slots are put together,
//     and ends of rare stacks are left out; their samples are then their
//     callers' own (package course).
//   - The tracks with least samples are one, if there are more than a thousand.
//   - Markers are counted by event and slot, with the longest of each; of a
//     counter each slot has one value (package course). Both are those of the events
//     and counters with most rows.
//
// A row before the run's start or after its end is put into the slot nearest to
// it. CPU time and addresses have no place here. Nor have arguments and stacks of
// markers, and rows of other kinds: these are in the ledger.
package html

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"strings"

	"gprof/convert/internal/calls"
	"gprof/convert/internal/course"
	"gprof/convert/internal/flame"
	"gprof/convert/internal/jsontext"
	"gprof/convert/internal/pipeline"
	"gprof/stream"
)

// Sink writes one page.
type Sink struct {
	out     *pipeline.Writer
	tables  *stream.Tables
	lines   []stream.Line // the ledger of the source
	caption flame.Caption
	tree    *flame.Tree
	axis    course.Axis
	most    course.Limits
	meter   calls.Meter
	cells   course.Cells
	density []course.Sums  // samples by TrackID and slot; 0 is all others
	lanes   []course.Lane  // by EventID
	curves  []course.Curve // by CounterID
	left    flame.Omissions
}

// New returns a Sink that writes to w, and closes it at the end.
func New(w *pipeline.Writer) *Sink {
	return &Sink{out: w, most: course.Limits{Cells: course.MaxCells, Nodes: course.MaxNodes}}
}

// Begin makes the tree that samples are counted in.
func (s *Sink) Begin(t *stream.Tables) error {
	s.tables = t
	s.lines = t.Ledger.Lines() // other sinks may add to it
	s.caption = flame.NewCaption(t, s.lines)
	var err error
	if s.tree, err = flame.NewTree(t); err != nil {
		return err
	}
	s.axis = course.NewAxis(s.caption.Start, s.caption.End)
	s.cells = course.NewCells(s.tree, s.most)
	s.density = make([]course.Sums, t.Tracks.Len()+1)
	s.lanes = make([]course.Lane, len(t.Events)+1)
	s.curves = make([]course.Curve, t.Counters.Len()+1)
	s.meter.Of, s.meter.Give = calls.Default(t), s.give
	return s.meter.Begin(t)
}

// Segment counts the rows of b.
func (s *Sink) Segment(b *stream.Batch) error {
	if s.meter.Counts(b.Series) {
		return s.samples(b)
	}
	switch b.Series.Kind {
	case stream.Markers:
		s.markers(b)
	case stream.Counts:
		s.curves[b.Series.Counter].Add(&s.axis, b)
	default:
		s.leave(b, b.Series.Kind.String(), int64(b.Len()))
	}
	return nil
}

func (s *Sink) markers(b *stream.Batch) {
	s.lanes[b.Series.Event].Add(&s.axis, b)
	s.leave(b, "arguments", int64(b.Len()*len(b.Args)))
	stacks := int64(0)
	for _, stack := range b.Stack {
		if stack != 0 {
			stacks++
		}
	}
	s.leave(b, "stacks of markers", stacks)
}

// leave counts n of a segment that have no place.
func (s *Sink) leave(b *stream.Batch, what string, n int64) {
	s.left.Add(s.tables.Process(b.Series.Process), stream.ReasonNoPlace, what, n)
}

// samples counts samples, or what there is in their place.
func (s *Sink) samples(b *stream.Batch) error {
	for _, stack := range b.Stack {
		if id := int(stack); id < 0 || id > s.tables.Stacks.Len() {
			return fmt.Errorf("%w: stack %d of %d", stream.ErrBatch, id, s.tables.Stacks.Len())
		}
	}
	s.meter.Add(b)
	return nil
}

func (s *Sink) give(at calls.Place, a calls.Amount) {
	weight := flame.WidthOf(&s.meter).Value(a)
	if weight <= 0 {
		return
	}
	slot, track := s.axis.Slot(at.Time), at.Series.Track
	sum := s.density[track].At(slot)
	*sum = stream.Plus(*sum, weight)
	s.cells.Add(int32(track), slot, s.tree.Node(at.Stack), weight)
}

// Close writes the page and adds what has no place in it to the ledger.
func (s *Sink) Close() error {
	s.meter.End()
	s.meter.Tell(&s.tables.Ledger)
	s.foldTracks()
	s.cells.Finish()
	s.left.Add(nil, stream.ReasonUnsupported, "ends of rare stacks", s.cells.CutNodes())
	if err := s.writePage(); err != nil {
		return err
	}
	s.left.Tell(s.tables)
	return s.out.Close()
}

// maxTracks bounds the selectable tracks.
const maxTracks = 1000

// foldTracks merges the tracks with least samples, if there are too many.
func (s *Sink) foldTracks() {
	weights := make([]int64, len(s.density))
	for id := range s.density {
		for _, n := range s.density[id].BySlot() {
			weights[id] += n
		}
	}
	keep := course.Heaviest(weights, maxTracks)
	for id := range s.density {
		if keep[id] || id == 0 {
			continue
		}
		for slot, n := range s.density[id].BySlot() {
			if n != 0 {
				*s.density[0].At(slot) += n
			}
		}
		s.density[id] = course.Sums{}
	}
	s.cells.MoveTracks(keep)
}

// The parts of the page. The script is both files: model.js computes without a page, page.js shows
// the results.
var (
	//go:embed page.html
	frame string
	// Style is the page's, for other pages that are to look like it.
	//
	//go:embed page.css
	Style string
	//go:embed model.js
	model string
	//go:embed page.js
	view string
)

// writePage fills in page.html.
func (s *Sink) writePage() error {
	script := model + view
	rest := frame
	// upTo writes the page up to where something belongs, which it leaves out.
	upTo := func(name string) {
		var before string
		before, rest, _ = strings.Cut(rest, "{{"+name+"}}")
		io.WriteString(s.out, before)
	}
	upTo("policy")
	io.WriteString(s.out, Policy(script, Style))
	upTo("title")
	io.WriteString(s.out, html.EscapeString(strings.ToValidUTF8(s.caption.Title, "\uFFFD")))
	upTo("style")
	io.WriteString(s.out, Style)
	upTo("data")
	out := jsontext.NewWriter(notMarkup{s.out})
	s.writeData(out)
	if err := out.Flush(); err != nil {
		return err
	}
	upTo("script")
	io.WriteString(s.out, script)
	_, err := io.WriteString(s.out, rest) // an error that came before is returned as well
	return err
}

// Policy forbids a page everything but one script and some styles.
func Policy(script string, styles ...string) string {
	text := "default-src 'none'; base-uri 'none'; form-action 'none'; style-src"
	for _, style := range styles {
		text += " " + digest(style)
	}
	return text + "; script-src " + digest(script)
}

// digest is the hash of a style or script for a policy.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// notMarkup writes JSON that can't end its element: < is only in strings, and can be escaped there.
type notMarkup struct{ w io.Writer }

func (n notMarkup) Write(p []byte) (int, error) {
	if _, err := n.w.Write(bytes.ReplaceAll(p, []byte("<"), []byte(`\u003c`))); err != nil {
		return 0, err
	}
	return len(p), nil
}
