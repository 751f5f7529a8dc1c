// Package svg draws a still of the flame graph of a run: a picture 1,600 pixels
// wide that needs no program but one that shows SVG.
//
// The root is at the top, callees hang below their callers, and the widest is
// on the left. All tracks of all processes are one graph, weighed by samples, or
// if a profile has none by its default value.
// The colour is that of the category, or of the package if all functions are of
// one category. Every box has its full name, its samples
// and its share as a tooltip, in programs that show tooltips.
//
// The picture leaves out boxes narrower than half a pixel and rows below the
// 150th, which its last line says; CPU time; and everything but samples, which
// the ledger says.
package svg

import (
	"bytes"
	"encoding/xml"
	"fmt"

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
	s.out.Write(Paint(s.Picture(Font{})))
	s.Tell()
	return s.out.Close()
}

// letter is the width of a letter in names, whose font is monospaced. The reader's fonts are
// unknown, so other styles are assumed to be as wide for their size.
const letter = 6.9

// letters are the letter widths by style.
var letters = [flame.NumStyles]float64{flame.TitleStyle: 13, flame.FactStyle: 8, flame.LossStyle: 8, flame.LegendStyle: letter, flame.NameStyle: letter}

// Font measures texts by their number of letters.
type Font struct{}

// Width implements [flame.Font].
func (Font) Width(s flame.Style, text string) float64 { return letters[s] * float64(columns(text)) }

// classes are the CSS classes of styles. Names have their group's.
var classes = [flame.NumStyles]string{flame.TitleStyle: ` class="t"`, flame.FactStyle: ` class="s"`, flame.LossStyle: ` class="l"`}

// Style is that of a picture, which a page with a policy has to name.
const Style = "text{font:12px system-ui,-apple-system,'Segoe UI',sans-serif;fill:#1f2733}.t{font-size:24px;font-weight:650}" +
	".s{font-size:14px;fill:#5a6675}.l{font-size:14px;fill:#a3400b}.n text{font:11.5px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}"

// drawing is a picture being drawn.
type drawing struct{ text []byte }

func (d *drawing) addf(format string, args ...any) { d.text = fmt.Appendf(d.text, format, args...) }

// Paint returns a picture, laid out with [Font], as text.
func Paint(p *flame.Picture) []byte {
	d := &drawing{}
	d.addf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" aria-label="%s">`,
		p.Width, p.Height, escape(p.Title))
	d.addf("\n<style>%s</style>\n", Style)
	d.addf("<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", p.Width, p.Height)
	for _, line := range p.Lines {
		d.addText(line)
		d.addf("\n")
	}
	for _, k := range p.Legend {
		d.addf("<rect x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\" rx=\"2\" fill=\"%s\"/>", k.X, k.Y, k.Side, k.Side, k.Color)
		d.addText(k.Text)
		d.addf("\n")
	}
	d.addf("<g class=\"n\">\n")
	for i := range p.Bars {
		d.addBar(&p.Bars[i])
	}
	d.addf("</g>\n</svg>\n")
	return d.text
}

func (d *drawing) addText(t flame.Text) {
	d.addf("<text%s x=\"%.1f\" y=\"%.0f\">%s</text>", classes[t.Style], t.X, t.Y, escape(t.Text))
}

// gap is the space between bars: less than a pixel, because pixels may be any size.
const gap = 0.7

func (d *drawing) addBar(b *flame.Bar) {
	width := b.Width
	if b.Gap {
		width -= gap
	}
	d.addf("<g")
	if b.Node != "" {
		d.addf(" data-n=\"%s\" data-l=\"%s\"", b.Node, escape(fit(b.Full, maxName)))
	}
	d.addf("><title>%s: %s</title><rect x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"%.0f\" rx=\"2\" fill=\"%s\" fill-opacity=\"%s\"/>",
		escape(fit(b.Name, maxName)), escape(b.Facts), b.X, b.Y, width, b.Height, b.Color, tints[b.Tint])
	if b.Label.Text != "" {
		d.addText(b.Label)
	}
	d.addf("</g>\n")
}

// tints are opacities by [flame.Bar.Tint].
var tints = [4]string{"1", ".93", ".86", ".79"}

// maxName bounds the columns of a name in a tooltip.
const maxName = 300

// fit cuts a text to that many columns.
func fit(text string, most int) string {
	if columns(text) <= most {
		return text
	}
	n := 0
	for i, r := range text {
		if n += columnsOf(r); n >= most {
			return text[:i] + "…"
		}
	}
	return text
}

func columns(text string) (n int) {
	for _, r := range text {
		n += columnsOf(r)
	}
	return n
}

// columnsOf is the width of a letter, wide for all beyond European alphabets.
func columnsOf(r rune) int {
	if r >= 0x1100 && (r < 0x2000 || r > 0x2bff) {
		return 2
	}
	return 1
}

// escape escapes markup, and replaces what XML can't contain.
func escape(text string) string {
	var out bytes.Buffer
	xml.EscapeText(&out, []byte(text)) // a Buffer has no errors
	return out.String()
}
