package report

import (
	"strings"
	"testing"

	"gprof/convert/compare"
)

// What grew from nothing is told in points, and is new only if it was not there.
func TestFromNothing(t *testing.T) {
	half, none := 0.5, 0.0
	total := compare.Change{Base: compare.Estimate{Value: half}, New: compare.Estimate{Value: half}, Relative: &none}
	grown := compare.Change{New: compare.Estimate{Value: 0.012}, Found: true}
	added, gone := grown, compare.Change{Base: compare.Estimate{Value: 0.012}, OnlyIn: "base", Relative: new(float64)}
	added.OnlyIn = "new"
	r := &compare.Report{
		Functions: []*compare.Function{{Name: "main.serve", Self: grown, Total: total}, {Name: "main.added", Self: added, Total: added}, {Name: "main.was", Self: gone, Total: gone}},
		Counters:  []*compare.Counter{{Name: "errors", Total: true, Value: compare.Change{New: compare.Estimate{Value: 5}}}},
	}
	var text, markdown strings.Builder
	PrintDiff(&text, r, 0)
	PrintMarkdown(&markdown, r, nil)
	words := strings.Join(strings.Fields(text.String()), " ")
	for _, want := range []string{"0.0% 1.2% +1.2pp* 50.0% 50.0% +0.0% main.serve", "0.0% 1.2% new* 0.0% 1.2% new* main.added", "1.2% 0.0% gone 1.2% 0.0% gone main.was", "0/s 5/s +5/s errors"} {
		if !strings.Contains(words, want) {
			t.Errorf("there is no %q in\n%s", want, text.String())
		}
	}
	if want := "| self `main.serve` | 0.0% | 1.2% | **+1.2pp** (+1.2pp to +1.2pp) |\n"; !strings.Contains(markdown.String(), want) {
		t.Errorf("there is no %q in\n%s", want, markdown.String())
	}
}

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
