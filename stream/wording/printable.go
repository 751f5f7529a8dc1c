package wording

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable is a text of a recording as a person may be shown it: one line, in
// which nothing can steer a terminal or turn the direction of what follows, and two
// names that differ look different. Characters that could, those without a width
// among them, become U+FFFD, and so does what is no UTF-8.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf && unicode.In(r, unseen...) || r < utf8.RuneSelf && unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r // of what is no UTF-8, Map has made U+FFFD
	}, text)
}

// unseen are characters that steer or have no width. Cf has those that turn the
// direction; U+034F, fillers of Hangul and the like are letters and marks by category.
var unseen = []*unicode.RangeTable{unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point}
