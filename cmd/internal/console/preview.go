package console

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Preview shows a text on a terminal until there is a better one, as much of it as fits. erase takes it
// away. Nothing is shown where that is not possible. What may steer a terminal must not
// be in the text.
func (c *Console) Preview(text string) (erase func()) {
	f, ok := c.Stdout.w.(*os.File)
	if !ok || dumb() {
		return func() {}
	}
	_, height, err := term.GetSize(int(f.Fd()))
	if err != nil || height < 3 {
		return func() {}
	}
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	lines = lines[:min(len(lines), height-2)] // the bar comes below
	io.WriteString(c.Stdout, unwrapped+strings.TrimSuffix(strings.Join(lines, ""), "\n")+"\n"+wrapped)
	return func() { fmt.Fprintf(c.Stdout, "\r\x1b[%dA%s", len(lines), clearRest) }
}
