package recorder

import "strings"

// trackFilter says which tracks are recorded; nil: all.
type trackFilter []string

// wants reports whether the track of that name is recorded. The last pattern that
// fits decides. Where none fits the track is recorded if the list only says what is
// not.
func (f trackFilter) wants(name string) bool {
	only := false
	for i := len(f) - 1; i >= 0; i-- {
		pattern, not := strings.CutPrefix(f[i], "-")
		if fits(pattern, name) {
			return !not
		}
		only = only || !not
	}
	return !only
}

// fits reports whether a name is the pattern, in which a star stands for anything.
func fits(pattern, name string) bool {
	first, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, first)
	for {
		if !ok {
			return false
		}
		part, after, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(name, part)
		}
		_, name, ok = strings.Cut(name, part)
		rest = after
	}
}

// describe is what meta says, "" of no filter.
func (f trackFilter) describe() string {
	return strings.Join(f, ", ")
}
