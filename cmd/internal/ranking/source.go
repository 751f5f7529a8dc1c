package ranking

import (
	"fmt"
	"io"
	"strings"

	"gprof/cmd/internal/human"
	"gprof/convert/top"
	"gprof/stream/wording"
)

// The least room for a line of source, in characters, and what stands before it.
const (
	minSource = 24
	figures   = 46
)

// PrintSource prints the lines of functions. Lines without a text are their number alone.
func PrintSource(out io.Writer, l *top.Listing, width int) {
	t := l.Table()
	all := t.Value(l.All)
	for i, f := range l.Functions {
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "%s  %s\n  self %s %s, total %s %s of %s\n", wording.Printable(f.Name), wording.Printable(human.OrDash(f.File)),
			Amount(t, f.Self), human.Share(t.Value(f.Self), all), Amount(t, f.Total), human.Share(t.Value(f.Total), all), Total(t))
		for _, about := range []struct{ what, text string }{{"no source: ", f.Missing}, {"source: ", f.Found}, {"source ", f.Note}} {
			if about.text != "" && (about.what != "source: " || f.Found != f.File) {
				fmt.Fprintf(out, "  %s\n", wording.Printable(about.what+about.text))
			}
		}
		lines := human.NewTable(out, 0, "self", "%", "total", "%", "line", "")
		for i, line := range f.Lines {
			if i > 0 && f.Found != "" && line.Line > f.Lines[i-1].Line+1 {
				lines.Row("", "", "", "", "…", "")
			}
			text := strings.TrimRight(strings.ReplaceAll(line.Text, "\t", "    "), " \r")
			if runes := []rune(text); width > 0 && len(runes) > max(minSource, width-figures) {
				text = string(runes[:max(minSource, width-figures)-1]) + "…"
			}
			cells := []string{"", "", "", ""}
			if v := t.Value(line.Total); v > 0 || t.Value(line.Self) > 0 {
				cells = []string{Amount(t, line.Self), human.Share(t.Value(line.Self), all), Amount(t, line.Total), human.Share(v, all)}
			}
			lines.Row(append(cells, human.OrDash(number(line.Line)), text)...)
		}
		lines.Flush()
	}
}

func number(line int) string {
	if line <= 0 {
		return ""
	}
	return fmt.Sprint(line)
}
