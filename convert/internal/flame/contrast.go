package flame

import (
	"cmp"
	"fmt"
	"slices"
)

// Contrast is two runs as one picture: the flame graph of the base stands on the same line from which
// the icicle of the new run hangs, at the same scale. What is called is in the same order on both
// sides, and that which differs is on the right: so what did not change lies in the same places.
type Contrast struct {
	Title  string
	Lines  []Text // above the graphs; Style and Text alone
	Keys   []Key  // Color and Text.Text alone
	Sides  [2]string
	Nodes  []ContrastNode // the root first, callers before what they call
	Footer string
}

// ContrastNode is a box on each side where it has a width.
type ContrastNode struct {
	Caller int32
	Name   string
	Facts  string     // for both sides
	Badge  string     // before the name in a box
	Width  [2]float64 // in the base and now
	Color  string     // "#rrggbb"; "" is grey
	Moved  bool       // grey, but in another place than on the other side
}

// Grey is the colour of what did not change.
const Grey = "#ccd2d9"

// contrastPainter lays out one picture.
type contrastPainter struct {
	Picture
	*Contrast
	font     Font
	children [][]int32
	depth    []int
	left     [2][]float64 // in the unit of widths
	scale    float64      // pixels of a unit
	rows     [2]int
	lineY    float64 // where both graphs meet
}

// middle is the room for the headings of both graphs.
const middle = 44

// Picture lays out the picture. Texts are cut as font measures them.
func (c *Contrast) Picture(font Font) *Picture {
	p := &contrastPainter{Picture: Picture{Width: pictureWidth, Title: c.Title}, Contrast: c, font: font}
	p.scale = inner / max(c.Nodes[0].Width[0], c.Nodes[0].Width[1], 1e-300)
	p.order()
	p.place()
	y := p.addHead()
	p.lineY = y + float64(p.rows[0]*rowHeight)
	p.addText(FactStyle, p.lineY+14, c.Sides[0])
	p.addText(FactStyle, p.lineY+middle-8, c.Sides[1])
	for i := range c.Nodes {
		p.addBars(i)
	}
	p.Height = int(p.lineY) + middle + p.rows[1]*rowHeight + footer
	p.addText(FactStyle, float64(p.Height-16), c.Footer+p.cutText())
	return &p.Picture
}

// order lists what each node calls, from the left.
func (p *contrastPainter) order() {
	differs := make([]bool, len(p.Nodes))
	p.children, p.depth = make([][]int32, len(p.Nodes)), make([]int, len(p.Nodes))
	for i := len(p.Nodes) - 1; i > 0; i-- {
		n := &p.Nodes[i]
		differs[i] = differs[i] || n.Color != "" || n.Moved
		differs[n.Caller] = differs[n.Caller] || differs[i]
		p.children[n.Caller] = append(p.children[n.Caller], int32(i))
	}
	for i := 1; i < len(p.Nodes); i++ {
		p.depth[i] = p.depth[p.Nodes[i].Caller] + 1
	}
	last := func(i int32) int {
		if differs[i] {
			return 1
		}
		return 0
	}
	for _, list := range p.children {
		slices.SortFunc(list, func(x, y int32) int {
			a, b := &p.Nodes[x], &p.Nodes[y]
			return cmp.Or(cmp.Compare(last(x), last(y)), cmp.Compare(max(b.Width[0], b.Width[1]), max(a.Width[0], a.Width[1])), cmp.Compare(a.Name, b.Name))
		})
	}
}

// place finds where boxes begin, and how many rows there are.
func (p *contrastPainter) place() {
	for side := range p.left {
		p.left[side] = make([]float64, len(p.Nodes))
		for i := range p.Nodes {
			at := p.left[side][i]
			for _, child := range p.children[i] {
				p.left[side][child] = at
				at += p.Nodes[child].Width[side]
			}
			if p.shown(i, side) {
				p.rows[side] = max(p.rows[side], p.depth[i]+1)
			}
		}
	}
}

// shown reports whether a node has a box on a side: one half a pixel wide at least.
func (p *contrastPainter) shown(i, side int) bool {
	return p.depth[i] < maxRows && (i == 0 || p.Nodes[i].Width[side]*p.scale >= 0.5)
}

// addHead adds what stands above the graphs, and returns where it ends.
func (p *contrastPainter) addHead() (y float64) {
	p.addText(TitleStyle, 38, p.Contrast.Title)
	y = 38
	for _, line := range p.Contrast.Lines {
		y += 22
		p.addText(line.Style, y, line.Text)
	}
	y += 27
	x := float64(margin)
	for _, k := range p.Keys {
		x = p.Picture.addKey(p.font, x, y, k.Color, k.Text.Text)
	}
	return y + 18
}

func (p *contrastPainter) addText(s Style, y float64, text string) {
	p.Picture.Lines = append(p.Picture.Lines, Text{margin, y, s, Fit(p.font, s, text, inner)})
}

// addBars adds the boxes of a node.
func (p *contrastPainter) addBars(i int) {
	n := &p.Nodes[i]
	_, short := splitName(n.Name, "")
	if n.Badge != "" {
		short = n.Badge + " " + short
	}
	for side, tops := range [2]float64{p.lineY - float64((p.depth[i]+1)*rowHeight), p.lineY + middle + float64(p.depth[i]*rowHeight)} {
		if !p.shown(i, side) {
			continue
		}
		b := Bar{X: margin + p.left[side][i]*p.scale, Y: tops, Width: n.Width[side] * p.scale, Height: rowHeight - 1, Color: n.Color, Name: n.Name, Facts: n.Facts, Node: fmt.Sprint(i)}
		if b.Color == "" {
			b.Color, b.Tint = Grey, int(hash(n.Name)%4)
		}
		b.finish(p.font, short)
		p.Bars = append(p.Bars, b)
	}
}

// cutText says which rows are left out.
func (p *contrastPainter) cutText() string {
	if deepest := slices.Max(p.depth); deepest >= maxRows {
		return fmt.Sprintf(" Neither are rows beyond the %dth: the deepest stack has %d.", maxRows, deepest)
	}
	return ""
}
