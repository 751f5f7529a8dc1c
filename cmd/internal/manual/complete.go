package manual

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// candidate is a word and its meaning.
type candidate struct{ word, text string }

type completeCmd struct {
	Words []string `arg:"" optional:"" passthrough:"" help:"The words of the line up to the cursor, without the first; the last may be empty."`
}

// Run prints the candidates, a line each, with a tab before the meaning. No candidates
// mean that any file will do.
func (c *completeCmd) Run(k *kong.Kong) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	for _, one := range candidates(k.Model.Node, words) {
		if _, err := fmt.Fprintf(k.Stdout, "%s\t%s\n", one.word, one.text); err != nil {
			return err
		}
	}
	return nil
}

// candidates returns the words that the last one may become.
func candidates(root *kong.Node, words []string) []candidate {
	if len(words) == 0 {
		words = []string{""}
	}
	before, last := words[:len(words)-1], words[len(words)-1]
	l := line{node: root}
	for _, word := range before {
		if !l.take(word) {
			return nil
		}
	}
	if last == "=" { // a word of its own for bash
		last = ""
	}
	return slices.DeleteFunc(l.next(last), func(c candidate) bool { return !strings.HasPrefix(c.word, last) })
}

// line is what the words before the cursor mean.
type line struct {
	node *kong.Node // the command
	flag *kong.Flag // whose value comes next, or nil
	args int        // how many arguments there were
}

// take reads a word. It reports whether anything known may follow.
func (l *line) take(word string) bool {
	switch {
	case word == "--":
		return false
	case l.flag != nil && word == "=": // a word of its own for bash
	case l.flag != nil:
		l.flag = nil
	case strings.HasPrefix(word, "-"):
		if f := flag(l.node, word); f != nil && !f.IsBool() && !f.IsCounter() && !strings.Contains(word, "=") {
			l.flag = f
		}
	case l.args == 0 && child(l.node, word) != nil:
		l.node = child(l.node, word)
	default:
		l.args++
		return !slices.ContainsFunc(l.node.Positional, func(p *kong.Positional) bool { return p.Passthrough })
	}
	return true
}

// next are the candidates for a word that begins with last.
func (l *line) next(last string) (all []candidate) {
	switch {
	case l.flag != nil:
		return enum(l.flag.Value)
	case strings.HasPrefix(last, "-"):
		for _, f := range flags(l.node) {
			all = append(all, candidate{"--" + f.Name, sentence(f.Help)})
		}
		return all
	case l.args < len(l.node.Positional) && l.node.Positional[l.args].Enum != "":
		return enum(l.node.Positional[l.args])
	case l.args > 0:
		return nil
	}
	from := l.node
	if l.node.Name == "help" && l.node.Parent != nil {
		from = l.node.Parent
	}
	for _, c := range from.Children {
		if !c.Hidden {
			all = append(all, candidate{c.Name, sentence(c.Help)})
		}
	}
	return all
}

// enum are the possible values of a flag or an argument, none if any will do.
func enum(v *kong.Value) (all []candidate) {
	if v.Enum == "" {
		return nil
	}
	for _, word := range v.EnumSlice() {
		all = append(all, candidate{word: word})
	}
	return all
}

// flags are those that a command may have, with those of the command that it stands for.
func flags(n *kong.Node) (all []*kong.Flag) {
	for _, group := range n.AllFlags(true) {
		all = append(all, group...)
	}
	if n.DefaultCmd != nil {
		for _, f := range n.DefaultCmd.Flags {
			if !f.Hidden {
				all = append(all, f)
			}
		}
	}
	return all
}

// flag is the flag that a word names, or nil.
func flag(n *kong.Node, word string) *kong.Flag {
	name, _, _ := strings.Cut(word, "=")
	for _, f := range flags(n) {
		if name == "--"+f.Name || f.Short != 0 && name == "-"+string(f.Short) {
			return f
		}
	}
	return nil
}

// sentence is the first sentence of a text.
func sentence(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	first, _, _ := strings.Cut(text, ". ")
	return strings.TrimSuffix(first, ".")
}
