package slow

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"sync"
	"time"

	"gprof/stream"
)

//go:embed page.html
var pageText string

var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"time":    func(ns int64) string { return rounded(float64(ns)) },
		"ns":      rounded,
		"mean":    func(ns, n int64) string { return rounded(float64(ns) / float64(max(n, 1))) },
		"share":   func(part, all int64) string { return percent(float64(part) / float64(max(all, 1))) },
		"percent": percent,
		"width":   func(share float64) template.CSS { return template.CSS(fmt.Sprintf("%.3f%%", 100*min(share, 1))) },
		"part": func(ns, all int64) template.CSS {
			return template.CSS(fmt.Sprintf("%.3f%%", 100*min(float64(ns)/float64(max(all, 1)), 1)))
		},
		"chance": func(p float64) string {
			if p == 1 {
				return ""
			}
			return strconv.FormatFloat(p, 'g', 2, 64)
		},
		"moment": func(at stream.Time) string { return time.Unix(0, int64(at)).UTC().Format("2006-01-02 15:04:05.000Z") },
	}).Parse(pageText))
})

func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// rounded is a duration with four digits or so.
func rounded(ns float64) string {
	d := time.Duration(ns)
	for step := time.Duration(1); step < time.Hour; step *= 10 {
		if d < 10_000*step {
			return d.Round(step).String()
		}
	}
	return d.Round(time.Second).String()
}

// WriteHTML writes the report as a page that needs no other file.
func (r *Report) WriteHTML(w io.Writer) error { return page().Execute(w, r) }
