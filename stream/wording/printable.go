package wording

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable makes a text of a recording safe to show: one line, in which nothing can
// steer a terminal or change the direction of the text after it, and different names look
// different. Control characters, characters without a width and invalid UTF-8 become
// U+FFFD.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf && unicode.In(r, unseen...) || r < utf8.RuneSelf && unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r // Map has replaced invalid UTF-8
	}, text)
}

// unseen are characters that steer or have no width. Cf has those that turn the
// direction; U+034F, fillers of Hangul and the like are letters and marks by category.
var unseen = []*unicode.RangeTable{unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point}
