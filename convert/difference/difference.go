// Package difference draws what changed between two sets of recordings: the flame
// graph of the base, and below it, at the same scale, the icicle of the new set. A
// box has a colour only if its difference is more than noise; all else is grey.
//
// # What is coloured
//
// A function has its colour where a difference arises, not everywhere it can be
// seen: all callers of a function that became slower take longer, too, up to the
// root, and a picture that says so says nothing. So a box is coloured if what it
// takes by itself changed; or if it changed with all that it calls, but nothing
// below explains at least half of that: then many things changed a little. What a
// box takes with all that it calls is its width, and is told when one points at it.
//
// Widths are work that was done for as much of the functions that did not change,
// for which package compare looks, so that one function that became slower does
// not make all others narrower. Both sides have one scale.
//
// Orange grew and blue fell, which all people can tell apart; a sign stands before
// the name as well. Nothing is coloured if there are too few processes.
package difference

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"gprof/convert/compare"
	"gprof/convert/internal/flame"
	"gprof/convert/png"
	"gprof/convert/svg"
)

// ErrFormat is the error of a file whose name does not tell a format of pictures.
var ErrFormat = errors.New("a picture of a difference is .html, .svg or .png")

// painters draw, by the ends of files' names.
var painters = map[string]func(*compare.Report, *flame.Contrast) ([]byte, error){
	".html": paintPage,
	".svg": func(_ *compare.Report, c *flame.Contrast) ([]byte, error) {
		return svg.Paint(c.Picture(svg.Font{})), nil
	},
	".png": func(_ *compare.Report, c *flame.Contrast) ([]byte, error) { return png.Paint(c.Picture) },
}

// Check says whether there is a format for a file of that name. The error is [ErrFormat].
func Check(name string) error {
	if painters[filepath.Ext(name)] == nil {
		return fmt.Errorf("%s: %w", name, ErrFormat)
	}
	return nil
}

// Binary reports whether a file of that name is not fit for a terminal.
func Binary(name string) bool { return filepath.Ext(name) == ".png" }

// Write draws a report that has a tree, in the format that the name of a file tells. The error is
// [ErrFormat], or that of w.
func Write(w io.Writer, name string, r *compare.Report) error {
	if err := Check(name); err != nil {
		return err
	}
	data, err := painters[filepath.Ext(name)](r, contrast(r))
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// The colours of marks: light enough for dark text.
const (
	grewHex = "#f2994a"
	fellHex = "#7fb8f0"
)

var hexes = map[compare.Mark]string{compare.Grew: grewHex, compare.Fell: fellHex}

// contrast is the picture of a report.
func contrast(r *compare.Report) *flame.Contrast {
	root := &r.Tree.Nodes[0].Total
	c := &flame.Contrast{Title: title(r), Lines: lines(r), Footer: footer,
		Sides: [2]string{"▲ base, " + percent(root.Base.Value), "▼ new, " + percent(root.New.Value) + " of what the base took"}}
	for i := range r.Tree.Nodes {
		c.Nodes = append(c.Nodes, node(r, i))
	}
	for _, k := range []struct{ color, text string }{{grewHex, "grew, beyond the noise"}, {fellHex, "fell, beyond the noise"}, {flame.Grey, "no difference beyond the noise, or one that a coloured box explains"}} {
		c.Keys = append(c.Keys, flame.Key{Color: k.color, Text: flame.Text{Text: k.text}})
	}
	return c
}

// node is a box.
func node(r *compare.Report, i int) flame.ContrastNode {
	n := &r.Tree.Nodes[i]
	out := flame.ContrastNode{Caller: n.Caller, Name: flame.Cut(n.Name), Width: [2]float64{n.Total.Base.Value, n.Total.New.Value}, Color: hexes[n.Mark], Moved: n.Mark == compare.Moved}
	if i == 0 {
		out.Name = "all"
	}
	if n.Was != "" {
		out.Facts = "was " + flame.Cut(n.Was) + "; "
	}
	out.Facts += changeText(&n.Total)
	if n.Self.Base.Value != n.Total.Base.Value || n.Self.New.Value != n.Total.New.Value {
		out.Facts += "; by itself " + changeText(&n.Self)
	}
	if n.Mark == compare.Moved {
		out.Facts += "; its cost moved to or from its neighbours"
	}
	if out.Color != "" {
		out.Badge = badge(n)
	}
	return out
}

// badge is what stands before a coloured box's name: the change for which it is coloured.
func badge(n *compare.Node) string {
	c := &n.Self
	if !c.Found {
		c = &n.Total
	}
	switch {
	case c.OnlyIn == "new":
		return "new"
	case c.OnlyIn == "base":
		return "gone"
	case c.Relative == nil:
		return "+"
	}
	return signed(*c.Relative)
}

// changeText is a change with its interval.
func changeText(c *compare.Change) string {
	text := percent(c.Base.Value) + " → " + percent(c.New.Value)
	switch {
	case c.Base.Value == 0 && c.New.Value == 0:
		return "nothing"
	case c.OnlyIn == "new":
		text += ", new"
	case c.OnlyIn == "base":
		text += ", gone"
	case c.Relative == nil:
		by, off := c.Difference()
		if text += fmt.Sprintf(", %+.1f points", 100*by); off > 0 {
			text += fmt.Sprintf(" (95 %%: %+.1f to %+.1f)", 100*(by-off), 100*(by+off))
		}
	case c.Low == nil || c.High == nil:
		text += ", " + signed(*c.Relative)
	default:
		text += fmt.Sprintf(", %s (95 %%: %s to %s)", signed(*c.Relative), signed(*c.Low), signed(*c.High))
	}
	switch {
	case !c.Judged:
		return text + ", not judged"
	case c.Found:
		return text + ", more than noise"
	}
	return text + ", may be noise"
}

func percent(part float64) string { return fmt.Sprintf("%.1f %%", 100*part) }

func signed(part float64) string {
	if p := 100 * part; math.Abs(p) >= 100 {
		return fmt.Sprintf("%+.0f %%", p)
	}
	return fmt.Sprintf("%+.1f %%", 100*part)
}

func title(r *compare.Report) string {
	what := map[compare.Basis]string{compare.CPU: "CPU time", compare.Samples: "time on the wall", compare.Heap: "the heap in use", compare.Allocations: "allocations", compare.Waits: "waits"}[r.Basis]
	base, new := flame.Names(r.Base.Programs, "nothing"), flame.Names(r.New.Programs, "nothing")
	if base == new {
		return "What changed in " + what + " of " + base
	}
	return "What changed in " + what + " from " + base + " to " + new
}

// maxMatched bounds the lines of what was matched.
const maxMatched = 8

// lines are those below the title.
func lines(r *compare.Report) (all []flame.Text) {
	add := func(s flame.Style, format string, args ...any) {
		all = append(all, flame.Text{Style: s, Text: fmt.Sprintf(format, args...)})
	}
	add(flame.FactStyle, "base: %s · new: %s", summary(&r.Base), summary(&r.New))
	if m := r.Tree.Measure; m.Functions > 0 {
		add(flame.FactStyle, "Measured by what did not change: %s with %s of the base", flame.Count(int64(m.Functions), "function", "functions"), percent(m.Share))
	} else {
		add(flame.FactStyle, "Measured by shares of all: no majority of functions stayed the same, so what grew makes the rest look smaller")
	}
	for _, note := range r.Notes {
		style := flame.LossStyle
		if note == r.PairsNote() { // which is no reason to doubt
			style = flame.FactStyle
		}
		add(style, "Note: %s", flame.Cut(note))
	}
	if !r.Tree.Judged {
		add(flame.LossStyle, "Nothing is coloured: no difference could be told from noise")
	}
	for i, m := range r.Matched {
		if i == maxMatched {
			add(flame.FactStyle, "and %d more that were matched", len(r.Matched)-maxMatched)
			break
		}
		add(flame.FactStyle, "Matched: %s", matched(m))
	}
	return all
}

// summary says how much a set holds.
func summary(s *compare.Summary) string {
	text := flame.Count(int64(s.Processes), "process", "processes") + ", "
	switch {
	case s.Bytes > 0:
		return fmt.Sprintf("%s%.4g MiB", text, s.Bytes/(1<<20))
	case s.Waits > 0:
		return fmt.Sprintf("%s%.4g s", text, s.Waits)
	}
	return text + flame.Count(s.Samples, "sample", "samples")
}

// matched says in words what was taken for the same.
func matched(m compare.Match) string {
	from, to := flame.Cut(strings.Join(m.From, " and ")), flame.Cut(strings.Join(m.To, " and "))
	if m.Renamed {
		return from + " is now " + to
	}
	text := "cost moved from " + from + " to " + to
	if m.Within != "" {
		text += ", as called from " + flame.Cut(m.Within)
	}
	return text
}

const footer = "Width is what a function takes with all that it calls. Boxes of less than 0.5 % are not judged, those narrower than half a pixel not drawn."
