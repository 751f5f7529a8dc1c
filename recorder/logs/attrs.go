package logs

import (
	"log/slog"
	"strconv"
	"strings"
	"unicode"
)

// attrs are attributes as texts, by kind: key=value key="a value".
type attrs struct{ of [numKinds]string }

// add appends an attribute, or those of a group. A group is of the kind that its key has,
// unless an attribute in it has one.
func (a *attrs) add(prefix string, attr slog.Attr, kinds map[string]Kind) {
	a.addAs(kindOf(attr, kinds), prefix, attr, kinds)
}

func (a *attrs) addAs(kind Kind, prefix string, attr slog.Attr, kinds map[string]Kind) {
	value := attr.Value.Resolve()
	if value.Kind() == slog.KindGroup {
		if attr.Key != "" {
			prefix += attr.Key + "."
		}
		for _, inner := range value.Group() {
			k := kindOf(inner, kinds)
			if k == Unsaid {
				k = kind
			}
			a.addAs(k, prefix, inner, kinds)
		}
		return
	}
	if attr.Equal(slog.Attr{}) {
		return // as all handlers do
	}
	of := &a.of[kind]
	if len(*of) > maxText {
		return // it would be cut
	}
	if *of != "" {
		*of += " "
	}
	*of += quoted(prefix+attr.Key) + "=" + quoted(value.String())
}

// maxText is more than a marker has room for in a field.
const maxText = 1 << 10

// quoted is a text in quotes if it could be taken for more than one.
func quoted(s string) string {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r == '"' || r == '=' || unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}
