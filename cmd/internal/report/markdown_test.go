package report

import (
	"strings"
	"testing"

	"gprof/convert/compare"
)

// Names in a recording can't be Markdown: no new cell, no new line, no mention of
// anybody, no HTML.
func TestMarkdownOfNames(t *testing.T) {
	const name = "`main`|<b>@everyone</b>\n# big *star* \x1b[2J"
	change := compare.Change{Found: true}
	r := &compare.Report{
		Base:      compare.Summary{Programs: []string{name}},
		Functions: []*compare.Function{{Name: name, Self: change}},
		Markers:   []*compare.Marker{{Name: name, P99: change}},
	}
	var out strings.Builder
	PrintMarkdown(&out, r, nil)
	const safe = "`'main'\\|<b>@everyone</b>\uFFFD# big *star* \uFFFD[2J`"
	for line := range strings.Lines(out.String()) {
		line = strings.ReplaceAll(line, safe, "NAME")
		if strings.Contains(line, "everyone") && !strings.Contains(line, "\\`main\\`|&lt;b>&#64;everyone&lt;/b>\uFFFD\\# big \\*star\\* \uFFFD\\[2J") {
			t.Errorf("not safe: %q", line)
		}
	}
	if n := strings.Count(out.String(), safe); n != 4 {
		t.Errorf("the name is there %d times in %s", n, out.String())
	}
}
