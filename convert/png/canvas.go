package png

import (
	"image"
	"image/color"
	"math"
	"strconv"

	"gprof/convert/internal/flame"
)

// paper is a background and the ink on it.
type paper struct{ ground, ink color.RGBA }

// A palette has at most maxColors. maxShades is how many steps there are at
// most from paper to ink: more can't be seen.
const (
	maxColors = 256
	maxShades = 16
)

// canvas is a picture of at most 256 colors, a third of the bytes of full color. Each paper has its
// shades in the palette, enough for the edges of letters.
type canvas struct {
	*image.Paletted
	shades map[paper][]uint8 // in the palette, from paper to ink
}

// newCanvas returns a canvas filled with the first paper.
func newCanvas(width, height int, papers []paper) *canvas {
	c := &canvas{image.NewPaletted(image.Rect(0, 0, width, height), nil), make(map[paper][]uint8)}
	inks := make(map[color.RGBA]bool)
	for _, p := range papers {
		inks[p.ink] = true
	}
	// The last shade of all papers with one ink is the same.
	n := min(maxShades, (maxColors-len(inks))/len(papers)+1)
	known := make(map[color.RGBA]uint8)
	for _, p := range papers {
		for i := range n {
			shade := blend(p.ground, p.ink, i, n-1)
			at, ok := known[shade]
			if !ok {
				at = uint8(len(c.Palette))
				known[shade] = at
				c.Palette = append(c.Palette, shade)
			}
			c.shades[p] = append(c.shades[p], at)
		}
	}
	return c
}

// fill fills a rectangle with a paper's background.
func (c *canvas) fill(r image.Rectangle, p paper) {
	index := c.shades[p][0]
	r = r.Intersect(c.Rect)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := c.Pix[c.PixOffset(r.Min.X, y):][:r.Dx()]
		for x := range row {
			row[x] = index
		}
	}
}

// write draws a text on a paper.
func (c *canvas) write(fonts *typefaces, t flame.Text, p paper) {
	shades := c.shades[p]
	fonts[t.Style].draw(t.X, t.Y, t.Text, func(at image.Rectangle, mask *image.Alpha, from image.Point) {
		in := at.Intersect(c.Rect)
		for y := in.Min.Y; y < in.Max.Y; y++ {
			for x := in.Min.X; x < in.Max.X; x++ {
				a := int(mask.AlphaAt(x-at.Min.X+from.X, y-at.Min.Y+from.Y).A)
				if s := (a*(len(shades)-1) + 127) / 255; s > 0 {
					c.Pix[c.PixOffset(x, y)] = shades[s]
				}
			}
		}
	})
}

// blend is color i of n steps from a to b.
func blend(a, b color.RGBA, i, n int) color.RGBA {
	mix := func(x, y uint8) uint8 { return uint8((int(x)*(n-i) + int(y)*i + n/2) / n) }
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}

// rgb reads "#rrggbb".
func rgb(hex string) color.RGBA {
	n, err := strconv.ParseUint(hex[1:], 16, 24)
	if err != nil {
		panic("internal error: colour " + hex)
	}
	return color.RGBA{uint8(n >> 16), uint8(n >> 8), uint8(n), 255}
}

var white = color.RGBA{255, 255, 255, 255}

// inks are the colours of texts, by style.
var inks = [flame.NumStyles]color.RGBA{
	flame.TitleStyle: rgb("#1f2733"), flame.FactStyle: rgb("#5a6675"), flame.LossStyle: rgb("#a3400b"), flame.LegendStyle: rgb("#1f2733"), flame.NameStyle: rgb("#1f2733"),
}

// opacities are those of tints in percent.
var opacities = [4]int{100, 93, 86, 79}

// page is the paper of texts outside the graph.
func page(s flame.Style) paper { return paper{white, inks[s]} }

// paperOf is the paper of a box, or legend key.
func paperOf(hex string, tint int) paper {
	return paper{blend(white, rgb(hex), opacities[tint], 100), inks[flame.NameStyle]}
}

// papers lists a picture's papers, each once.
func papers(p *flame.Picture) (all []paper) {
	seen := make(map[paper]bool)
	add := func(x paper) {
		if !seen[x] {
			seen[x] = true
			all = append(all, x)
		}
	}
	for s := range flame.NumStyles {
		add(page(s))
	}
	for _, k := range p.Legend {
		add(paperOf(k.Color, 0))
	}
	for i := range p.Bars {
		add(paperOf(p.Bars[i].Color, p.Bars[i].Tint))
	}
	return all
}

// paint draws a picture.
func paint(p *flame.Picture, fonts *typefaces) image.Image {
	c := newCanvas(p.Width, p.Height, papers(p))
	for _, line := range p.Lines {
		c.write(fonts, line, page(line.Style))
	}
	for _, k := range p.Legend {
		c.box(pixels(k.X, k.Y, k.Side, k.Side), paperOf(k.Color, 0))
		c.write(fonts, k.Text, page(k.Text.Style))
	}
	for i := range p.Bars {
		b := &p.Bars[i]
		on := paperOf(b.Color, b.Tint)
		r := pixels(b.X, b.Y, b.Width, b.Height)
		if b.Gap {
			r.Max.X--
		}
		c.box(r, on)
		c.write(fonts, b.Label, on)
	}
	return c.Paletted
}

// cornerWidth is the width from which boxes have round corners.
const cornerWidth = 6

// pixels rounds a rectangle to pixels, at least one wide.
func pixels(x, y, width, height float64) image.Rectangle {
	pixel := func(f float64) int { return int(math.Round(f)) }
	return image.Rect(pixel(x), pixel(y), max(pixel(x+width), pixel(x)+1), pixel(y+height))
}

// box fills a rectangle.
func (c *canvas) box(r image.Rectangle, p paper) {
	c.fill(r, p)
	if r.Dx() < cornerWidth {
		return
	}
	for _, corner := range []image.Point{r.Min, {r.Max.X - 1, r.Min.Y}, {r.Min.X, r.Max.Y - 1}, {r.Max.X - 1, r.Max.Y - 1}} {
		c.fill(image.Rectangle{corner, corner.Add(image.Pt(1, 1))}, page(flame.NameStyle))
	}
}
