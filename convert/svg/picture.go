package svg

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"

	"gprof/convert/internal/flame"
	"gprof/stream"
)

// Sizes are in pixels.
const (
	width   = 1600
	margin  = 20
	inner   = width - 2*margin
	header  = 114 // above the graph
	footer  = 44
	row     = 19
	maxRows = 150
	// letter is the width of one in the names, whose font is monospaced.
	letter = 6.9
	// least is the narrowest box that has a name.
	least = 3*letter + 8
)

// picture is one being drawn.
type picture struct {
	tree   *flame.Tree
	totals []int64
	boxes  []flame.Box
	depth  int // of the deepest box
	text   []byte

	packages bool // colours tell packages apart: all are of one category
}

func newPicture(tree *flame.Tree, totals []int64) *picture {
	p := &picture{tree: tree, totals: totals}
	p.boxes = tree.Boxes(totals, totals[0]/(2*inner))
	for _, b := range p.boxes {
		p.depth = max(p.depth, int(b.Depth))
	}
	p.packages = tree.OneCategory()
	return p
}

func (p *picture) addf(format string, args ...any) { p.text = fmt.Appendf(p.text, format, args...) }

func (p *picture) draw(c *flame.Caption) {
	rows := min(p.depth+1, maxRows)
	height := header + rows*row + footer
	p.addf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="img" aria-label="%s">`,
		width, height, escape("Flame graph of "+c.Title))
	p.addf("\n<style>text{font:12px system-ui,-apple-system,'Segoe UI',sans-serif;fill:#1f2733}.t{font-size:24px;font-weight:650}" +
		".s{font-size:14px;fill:#5a6675}.l{font-size:14px;fill:#a3400b}.n text{font:11.5px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}</style>\n")
	p.addf("<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", width, height)
	p.drawHeader(c)
	p.addf("<g class=\"n\">\n")
	for _, b := range p.boxes {
		if b.Depth < maxRows {
			p.drawBox(b)
		}
	}
	p.addf("</g>\n")
	p.drawFooter(height)
	p.addf("</svg>\n")
}

func (p *picture) drawHeader(c *flame.Caption) {
	p.line("t", 38, c.Title)
	facts := []string{c.Range, c.Processes, flame.Count(p.totals[0], "sample", "samples")}
	p.line("s", 61, strings.Join(facts, " · "))
	if c.Losses != "" {
		p.line("l", 84, "Missing: "+c.Losses)
	} else {
		p.line("s", 84, "No losses are known")
	}
	p.drawLegend()
}

// group is what a frame has its colour from.
func (p *picture) group(f *flame.Frame) string {
	if p.packages {
		return f.Package
	}
	return f.Category.Name
}

func (p *picture) color(f *flame.Frame) string {
	if p.packages && f.Package != "" {
		return flame.PackageHex(f.Package)
	}
	return flame.CategoryHex(f.Category.Color)
}

// line writes a line of the header, cut where the picture ends.
func (p *picture) line(class string, y int, text string) {
	p.addf("<text class=\"%s\" x=\"%d\" y=\"%d\">%s</text>\n", class, margin, y, escape(fit(text, 1500/8)))
}

// drawLegend names the colours of the boxes, those first that come first.
func (p *picture) drawLegend() {
	x := float64(margin)
	seen := make(map[string]bool)
	for _, b := range p.boxes[1:] {
		f := &p.tree.Frames[p.tree.Frame[b.Node]]
		name := fit(p.group(f), 40)
		if name == "" || seen[name] || x > inner-200 {
			continue
		}
		seen[name] = true
		p.addf("<rect x=\"%.0f\" y=\"%d\" width=\"11\" height=\"11\" rx=\"2\" fill=\"%s\"/>", x, header-18, p.color(f))
		p.addf("<text x=\"%.0f\" y=\"%d\">%s</text>\n", x+16, header-8, escape(name))
		x += 16 + letter*float64(columns(name)) + 18
	}
}

func (p *picture) drawBox(b flame.Box) {
	f := &flame.Frame{Name: "all", Short: "all", Category: stream.Category{Color: "transparent"}}
	if b.Node != 0 {
		f = &p.tree.Frames[p.tree.Frame[b.Node]]
	}
	all := float64(max(p.totals[0], 1))
	x, w := margin+float64(b.Left)/all*inner, float64(b.Width)/all*inner
	y := header + int(b.Depth)*row
	if b.Node == 0 {
		w = inner // also of no samples at all
	}
	if w > 3 {
		w -= 0.7 // a gap
	}
	p.addf("<g><title>%s: %s, %.2f %%</title><rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"2\" fill=\"%s\" fill-opacity=\"%s\"/>",
		escape(fit(f.Name, maxName)), flame.Count(b.Width, "sample", "samples"), 100*float64(b.Width)/all, x, y, w, row-1, p.color(f), tints[f.Tint])
	if w >= least {
		p.addf("<text x=\"%.1f\" y=\"%d\">%s</text>", x+4, y+13, escape(fit(f.Short, int((w-8)/letter))))
	}
	p.addf("</g>\n")
}

func (p *picture) drawFooter(height int) {
	text := "Width is samples. Boxes narrower than half a pixel are not drawn."
	if p.depth >= maxRows {
		text += fmt.Sprintf(" Neither are rows below the %dth: the deepest stack has %d.", maxRows, p.depth)
	}
	p.addf("<text class=\"s\" x=\"%d\" y=\"%d\">%s</text>\n", margin, height-16, text)
}

// tints are opacities, by [flame.Frame.Tint].
var tints = [4]string{"1", ".93", ".86", ".79"}

// maxName is how many columns of a name a tooltip has.
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

// columnsOf is how wide a letter is, taking all beyond the alphabets of Europe
// for a wide one.
func columnsOf(r rune) int {
	if r >= 0x1100 && (r < 0x2000 || r > 0x2bff) {
		return 2
	}
	return 1
}

// escape makes a text one that can't be markup, with what XML can't hold
// replaced.
func escape(text string) string {
	var out bytes.Buffer
	xml.EscapeText(&out, []byte(text)) // a Buffer has no errors
	return out.String()
}
