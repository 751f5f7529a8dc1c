package png

import (
	"image"
	"image/color"
	"strconv"

	"gprof/convert/internal/flame"
)

// paper is what a text is drawn on, and with which ink.
type paper struct{ ground, ink color.RGBA }

// A palette has at most maxColors. maxShades is how many steps there are at
// most from paper to ink: more can't be seen.
const (
	maxColors = 256
	maxShades = 16
)

// canvas is a picture of at most 256 colours: a third of the bytes of one of all
// colours. Each paper has its shades in the palette, so the edges of letters
// need no other colours.
type canvas struct {
	*image.Paletted
	shades map[paper][]uint8 // places in the palette, from the paper to the ink
}

// newCanvas returns one all of the ground of the first paper.
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

// fill makes a rectangle the ground of a paper.
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

// blend is the colour i of n steps from a to b.
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
