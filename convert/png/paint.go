package png

import (
	"image"
	"image/color"
	"math"

	"gprof/convert/internal/flame"
)

var white = color.RGBA{255, 255, 255, 255}

// inks are the colours of texts, by style.
var inks = [flame.NumStyles]color.RGBA{
	flame.TitleStyle: rgb("#1f2733"), flame.FactStyle: rgb("#5a6675"), flame.LossStyle: rgb("#a3400b"), flame.LegendStyle: rgb("#1f2733"), flame.NameStyle: rgb("#1f2733"),
}

// opacities are those of tints, in hundredths.
var opacities = [4]int{100, 93, 86, 79}

// page is the paper of texts beside the graph.
func page(s flame.Style) paper { return paper{white, inks[s]} }

// paperOf is the paper of a box, or of a key of the legend.
func paperOf(hex string, tint int) paper {
	return paper{blend(white, rgb(hex), opacities[tint], 100), inks[flame.NameStyle]}
}

// papers lists what a picture is drawn on, each once.
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

// rounded is from which width on a box has round corners.
const rounded = 6

// pixels are those of a rectangle: whole ones, and at least one wide.
func pixels(x, y, width, height float64) image.Rectangle {
	pixel := func(f float64) int { return int(math.Round(f)) }
	return image.Rect(pixel(x), pixel(y), max(pixel(x+width), pixel(x)+1), pixel(y+height))
}

// box fills a rectangle.
func (c *canvas) box(r image.Rectangle, p paper) {
	c.fill(r, p)
	if r.Dx() < rounded {
		return
	}
	for _, corner := range []image.Point{r.Min, {r.Max.X - 1, r.Min.Y}, {r.Min.X, r.Max.Y - 1}, {r.Max.X - 1, r.Max.Y - 1}} {
		c.fill(image.Rectangle{corner, corner.Add(image.Pt(1, 1))}, page(flame.NameStyle))
	}
}
