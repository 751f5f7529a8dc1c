package manual

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

type manCmd struct{}

// Help is the end of man --help.
func (*manCmd) Help() string {
	return `Examples:

  {name} man | man -l -
  {name} man >~/.local/share/man/man1/{name}.1`
}

// Run prints the page.
func (*manCmd) Run(k *kong.Kong) error {
	w := bufio.NewWriter(k.Stdout) // Flush returns the error
	app := k.Model.Node
	fmt.Fprintf(w, ".TH %s 1\n.SH NAME\n%s \\- %s\n", roff(strings.ToUpper(app.Name)), roff(app.Name), roff(strings.TrimSuffix(lowered(sentence(app.Help)), ":")))
	fmt.Fprintf(w, ".SH SYNOPSIS\n.B %s\n%s\n.SH DESCRIPTION\n", roff(app.Name), roff("COMMAND [ARGUMENTS] [FLAGS]"))
	paragraphs(w, app.Help)
	fmt.Fprint(w, ".SH FLAGS\n")
	flagItems(w, app.Flags)
	fmt.Fprint(w, ".SH COMMANDS\n")
	for _, c := range app.Children {
		if !c.Hidden {
			command(w, c)
		}
	}
	return w.Flush()
}

// command writes the section of one command.
func command(w io.Writer, c *kong.Node) {
	fmt.Fprintf(w, ".SS %s\n", roff(c.Name))
	paragraphs(w, c.Help)
	fmt.Fprintf(w, ".PP\n.B %s\n", roff(c.Summary()))
	for _, p := range c.Positional {
		item(w, p.Summary(), p.Help)
	}
	flagItems(w, c.Flags)
	if c.Detail != "" {
		fmt.Fprint(w, ".PP\n")
		paragraphs(w, c.Detail)
	}
}

func flagItems(w io.Writer, all []*kong.Flag) {
	for _, f := range all {
		if !f.Hidden {
			item(w, f.String(), f.Help)
		}
	}
}

func item(w io.Writer, name, text string) {
	fmt.Fprintf(w, ".TP\n.B %s\n%s\n", roff(name), roff(text))
}

// paragraphs writes a text in which an empty line ends a paragraph, and lines that begin
// with a space stay as they are.
func paragraphs(w io.Writer, text string) {
	for i, p := range strings.Split(strings.Trim(text, "\n"), "\n\n") {
		if i > 0 {
			fmt.Fprint(w, ".PP\n")
		}
		if strings.HasPrefix(p, " ") {
			fmt.Fprintf(w, ".nf\n%s\n.fi\n", roff(p))
		} else {
			fmt.Fprintf(w, "%s\n", roff(p))
		}
	}
}

// roff escapes a text for roff.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// lowered is a text as it follows a dash.
func lowered(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToLower(text[:1]) + text[1:]
}
