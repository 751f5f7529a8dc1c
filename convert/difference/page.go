package difference

import (
	"bytes"
	_ "embed"
	"html/template"
	"strings"
	"sync"

	"gprof/convert/compare"
	"gprof/convert/html"
	"gprof/convert/internal/flame"
	"gprof/convert/svg"
)

// The parts of the page. Its picture is the SVG, which the script zooms.
var (
	//go:embed page.html
	frame string
	//go:embed page.css
	style string
	//go:embed page.js
	script string

	page = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(frame)) })
)

// row is a line of the table of what is coloured.
type row struct {
	Node                             int
	Name, Caller, Total, Self, Color string
}

// paintPage draws the picture in a page.
func paintPage(r *compare.Report, c *flame.Contrast) ([]byte, error) {
	all := html.Style + style
	data := struct {
		Policy, Title string
		Style         template.CSS
		Picture       template.HTML
		Script        template.JS
		Rows          []row
	}{html.Policy(script, all, svg.Style), strings.ToValidUTF8(c.Title, "\uFFFD"), template.CSS(all), template.HTML(svg.Paint(c.Picture(svg.Font{}))), template.JS(script), nil}
	for i := range r.Tree.Nodes {
		if n := &r.Tree.Nodes[i]; c.Nodes[i].Color != "" {
			data.Rows = append(data.Rows, row{i, c.Nodes[i].Name, c.Nodes[n.Caller].Name, changeText(&n.Total), changeText(&n.Self), c.Nodes[i].Color})
		}
	}
	var out bytes.Buffer
	err := page().Execute(&out, data)
	return out.Bytes(), err
}
