package flame

import (
	"fmt"
	"strings"

	"gprof/convert/internal/calls"
	"gprof/stream"
)

// The layout of a picture, in pixels.
const (
	pictureWidth = 1600
	margin       = 20
	inner        = pictureWidth - 2*margin
	header       = 114 // above the graph
	footer       = 44
	rowHeight    = 19
	maxRows      = 150
	boxPadding   = 4 // beside a name
)

// Style is how a text looks.
type Style uint8

const (
	TitleStyle  Style = iota
	FactStyle         // beside the title, and below the graph
	LossStyle         // losses
	LegendStyle       // names of colours
	NameStyle         // names in boxes
	NumStyles
)

// Font measures texts, which decides where they are cut.
type Font interface {
	// Width is that of a text in pixels.
	Width(s Style, text string) float64
}

// Picture is a drawing-independent still of a flame graph. Sizes are in pixels from the upper left
// corner.
type Picture struct {
	Width, Height int
	Title         string // what it is of, for readers that can't see it
	Lines         []Text // above and below the graph
	Legend        []Key
	Bars          []Bar // the root first, each before its callees
}

// Text is a line that begins at X with the baseline Y.
type Text struct {
	X, Y  float64
	Style Style
	Text  string
}

// Key is a colour of the legend: a square with a text beside it.
type Key struct {
	X, Y, Side float64
	Color      string // "#rrggbb"
	Text       Text
}

// Bar is a box of the graph.
type Bar struct {
	X, Y, Width, Height float64
	Gap                 bool   // the last pixel of Width stays free to separate neighbours
	Color               string // "#rrggbb"
	Tint                int    // 0 to 3: how much paler than Color
	Name                string // in full
	Facts               string // what is told of it
	Node                string // for a page that zooms: the same on both sides of a contrast; else ""
	Full                string // Label before it was cut
	Label               Text   // empty where there is no room for one
}

// painter lays out one picture.
type painter struct {
	Picture
	caption  *Caption
	tree     *Tree
	font     Font
	of       Width
	all      int64 // of the root
	depth    int   // of the deepest box
	packages bool  // colours tell packages apart: all are of one category
}

// newPicture lays out the graph of a tree whose nodes weigh totals. Texts are cut as font measures
// them.
func newPicture(tree *Tree, totals []int64, of Width, c *Caption, font Font) *Picture {
	p := painter{Picture: Picture{Width: pictureWidth, Title: "Flame graph of " + c.Title}, caption: c, tree: tree, font: font, of: of, all: totals[0], packages: tree.oneCategory()}
	boxes, depth := tree.boxes(totals, totals[0]/(2*inner), maxRows)
	p.depth = depth
	p.Height = header + min(p.depth+1, maxRows)*rowHeight + footer
	p.addHeader()
	p.addLegend(boxes)
	for _, b := range boxes {
		p.addBar(b)
	}
	p.addFooter()
	return &p.Picture
}

func (p *painter) addHeader() {
	p.addLine(TitleStyle, 38, p.caption.Title)
	p.addLine(FactStyle, 61, strings.Join([]string{p.caption.Range, p.caption.Processes, p.of.Describe(p.all)}, " · "))
	if p.caption.Losses != "" {
		p.addLine(LossStyle, 84, "Missing: "+p.caption.Losses)
	} else {
		p.addLine(FactStyle, 84, "No losses are known")
	}
}

func (p *painter) addFooter() {
	text := "Width is " + p.of.String() + ". Boxes narrower than half a pixel are not drawn."
	if p.depth >= maxRows {
		text += fmt.Sprintf(" Neither are rows below the %dth: the deepest stack has %d.", maxRows, p.depth)
	}
	p.addLine(FactStyle, float64(p.Height-16), text)
}

// addLine adds a line, cut at the picture's edge.
func (p *painter) addLine(s Style, y float64, text string) {
	p.Lines = append(p.Lines, Text{margin, y, s, Fit(p.font, s, text, inner)})
}

// Legend names are at most maxKey columns long, and end keyRoom before the right margin.
const (
	maxKey  = 280
	keyRoom = 200
)

// addLegend names the colors of the boxes, in order of appearance.
func (p *painter) addLegend(boxes []box) {
	x := float64(margin)
	seen := make(map[string]bool)
	for _, b := range boxes[1:] {
		f := &p.tree.Frames[p.tree.Frame[b.node]]
		name := Fit(p.font, LegendStyle, p.group(f), maxKey)
		if name == "" || seen[name] || x > inner-keyRoom {
			continue
		}
		seen[name] = true
		x = p.addKey(p.font, x, header-8, p.color(f), name)
	}
}

// addKey adds a colour's name to the legend, on the baseline y, and returns where the next one begins.
func (p *Picture) addKey(font Font, x, y float64, color, name string) float64 {
	const side, gap, between = 11, 5, 18
	p.Legend = append(p.Legend, Key{x, y - 10, side, color, Text{x + side + gap, y, LegendStyle, name}})
	return x + side + gap + font.Width(LegendStyle, name) + between
}

// group is what determines a frame's color.
func (p *painter) group(f *Frame) string {
	if p.packages {
		return f.Package
	}
	return f.Category.Name
}

func (p *painter) color(f *Frame) string {
	if p.packages && f.Package != "" {
		return PackageHex(f.Package)
	}
	return CategoryHex(f.Category.Color)
}

func (p *painter) addBar(b box) {
	f := &Frame{Name: "all", Short: "all", Category: stream.Category{Color: "transparent"}}
	if b.node != 0 {
		f = &p.tree.Frames[p.tree.Frame[b.node]]
	}
	all := float64(max(p.all, 1))
	bar := Bar{X: margin + float64(b.left)/all*inner, Y: float64(header + int(b.depth)*rowHeight), Height: rowHeight - 1,
		Width: float64(b.width) / all * inner, Color: p.color(f), Tint: f.Tint, Name: f.Name,
		Facts: fmt.Sprintf("%s, %.2f %%", p.of.Amount(b.width), 100*float64(b.width)/all)}
	if b.node == 0 {
		bar.Width = inner // also of no samples at all
	}
	p.Bars = append(p.Bars, bar)
	p.Bars[len(p.Bars)-1].finish(p.font, f.Short)
}

// finish writes as much of a text into a bar as there is room for.
func (b *Bar) finish(font Font, text string) {
	b.Gap, b.Full = b.Width > 3, text
	if room := b.Width - 1 - 2*boxPadding; room >= font.Width(NameStyle, "mmm") {
		b.Label = Text{b.X + boxPadding, b.Y + 13, NameStyle, Fit(font, NameStyle, text, room)}
	}
}

// Fit cuts a text to a width in pixels, with an ellipsis.
func Fit(font Font, s Style, text string, width float64) string {
	const ellipsis = "…"
	if font.Width(s, text) <= width {
		return text
	}
	room := width - font.Width(s, ellipsis)
	for at, r := range text {
		if room -= font.Width(s, string(r)); room < 0 {
			return text[:at] + ellipsis
		}
	}
	return text
}

// Still is the common part of the sinks of pictures: it counts the samples of the whole run, or if there are none what
// there is in their place.
type Still struct {
	tables  *stream.Tables
	tree    *Tree
	caption Caption
	meter   calls.Meter
	self    []int64 // by node
	left    Omissions
}

// Begin makes the tree that samples are counted in.
func (s *Still) Begin(t *stream.Tables) error {
	var err error
	if s.tree, err = NewTree(t); err != nil {
		return err
	}
	s.tables = t
	s.caption = NewCaption(t, t.Ledger.Lines())
	s.self = make([]int64, len(s.tree.Parent))
	s.meter.Of = calls.Default(t)
	s.meter.Give = func(at calls.Place, a calls.Amount) {
		node := s.tree.Node(at.Stack)
		s.self[node] = stream.Plus(s.self[node], WidthOf(&s.meter).Value(a))
	}
	return s.meter.Begin(t)
}

// Segment counts the rows of b.
func (s *Still) Segment(b *stream.Batch) error {
	if !s.meter.Counts(b.Series) {
		s.left.Add(s.tables.Process(b.Series.Process), stream.ReasonNoPlace, b.Series.Kind.String(), int64(b.Len()))
		return nil
	}
	for _, stack := range b.Stack {
		if id := int(stack); id < 0 || id > s.tables.Stacks.Len() {
			return fmt.Errorf("%w: stack %d of %d", stream.ErrBatch, id, s.tables.Stacks.Len())
		}
	}
	s.meter.Add(b)
	return nil
}

// Picture is the picture of what was counted.
func (s *Still) Picture(font Font) *Picture {
	s.meter.End()
	s.meter.Tell(&s.tables.Ledger)
	return newPicture(s.tree, s.tree.Totals(s.self), WidthOf(&s.meter), &s.caption, font)
}

// Tell adds what has no place in a picture to the ledger.
func (s *Still) Tell() { s.left.Tell(s.tables) }

// Omissions counts rows without a place in a drawing.
type Omissions struct{ lines stream.Ledger }

// Add counts n of a process's rows; nil is the run.
func (l *Omissions) Add(p *stream.Process, reason stream.Reason, what string, n int64) {
	line := stream.Line{Reason: reason, What: what, Count: n}
	if p != nil {
		line.Process = p.InstanceName()
	}
	if n != 0 {
		l.lines.Add(line)
	}
}

// Tell adds the lines to the ledger of t.
func (l *Omissions) Tell(t *stream.Tables) {
	for _, line := range l.lines.Lines() {
		t.Ledger.Add(line)
	}
}
