package filter

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Pattern is a name in which * stands for any characters and ? for one. A name
// matches itself, whatever is in it.
type Pattern string

// Match reports whether name is one of the pattern's.
func (p Pattern) Match(name string) bool {
	if string(p) == name {
		return true
	}
	// The last * that was passed may take more; those before need not.
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

// Patterns are several, any of which may match.
type Patterns []Pattern

// String is the patterns as an error names them.
func (p Patterns) String() string {
	var quoted []string
	for _, one := range p {
		quoted = append(quoted, strconv.Quote(string(one)))
	}
	return strings.Join(quoted, " or ")
}

// Match reports whether name is one of any pattern's.
func (p Patterns) Match(name string) bool {
	return slices.ContainsFunc(p, func(one Pattern) bool { return one.Match(name) })
}
