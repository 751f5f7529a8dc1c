// Package pattern says which names are meant by what a person wrote, to the recorder and to
// the tools alike.
package pattern

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Pattern is a name in which * stands for any characters and ? for one. A name matches
// itself, whatever characters it has.
type Pattern string

// Match reports whether name matches.
func (p Pattern) Match(name string) bool {
	if string(p) == name {
		return true
	}
	// If there is no match the last * takes one more character; those before it need not
	// change.
	star, retry := -1, 0
	i, k := 0, 0
	for i < len(name) {
		switch {
		case k < len(p) && p[k] == '*':
			star, retry = k, i
			k++
		case k < len(p) && p[k] == '?':
			_, n := utf8.DecodeRuneInString(name[i:])
			i += n
			k++
		case k < len(p) && p[k] == name[i]:
			i++
			k++
		case star >= 0:
			retry++
			i, k = retry, star+1
		default:
			return false
		}
	}
	for k < len(p) && p[k] == '*' {
		k++
	}
	return k == len(p)
}

// Patterns are alternatives.
type Patterns []Pattern

// String is the patterns for an error.
func (p Patterns) String() string {
	var quoted []string
	for _, one := range p {
		quoted = append(quoted, strconv.Quote(string(one)))
	}
	return strings.Join(quoted, " or ")
}

// Match reports whether name matches any of them.
func (p Patterns) Match(name string) bool {
	return slices.ContainsFunc(p, func(one Pattern) bool { return one.Match(name) })
}
