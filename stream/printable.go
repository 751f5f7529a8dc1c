package stream

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable is a text of a recording as a person may be shown it: one line, in
// which nothing can steer a terminal or turn the direction of what follows. Such
// characters, and what is no UTF-8, become U+FFFD.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control) {
			return utf8.RuneError
		}
		return r // of what is no UTF-8, Map has made U+FFFD
	}, text)
}

// maxShown is how many characters of a name an error shows.
const maxShown = 200

// shown is a name in the list of an error.
func shown(name string) string {
	if name == "" {
		return "(no name)"
	}
	name = Printable(name)
	if utf8.RuneCountInString(name) > maxShown {
		name = string([]rune(name)[:maxShown]) + "…"
	}
	return name
}
