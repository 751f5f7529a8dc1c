package pattern

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Tracks says which tracks are wanted, as the filter of threads of the Gecko Profiler does.
// Each item is one of these, or a minus and one of these, which excludes:
//
//	main        a part of the name, in any case
//	*           all; a star stands for any characters and ? for one, of the whole name
//	=main       exactly this name
//	pid:12      all tracks of the process of this number
//
// The last item that fits decides. If none does, a track is wanted only if all items
// exclude. A name has an item's own characters in it, or fits its stars.
type Tracks []string

// Want reports whether the track of that name, in the process of that number, is wanted.
func (t Tracks) Want(name string, pid int) bool {
	folded := fold(name)
	return t.decide(func(item string) bool {
		if number, is := pidOf(item); is {
			return number == strconv.Itoa(pid)
		}
		if exact, is := strings.CutPrefix(item, "="); is {
			return exact == name
		}
		item = fold(item)
		return strings.Contains(folded, item) || strings.ContainsAny(item, "*?") && Pattern(item).Match(folded)
	})
}

// WantProcess reports whether any track of the process of that number could be wanted: the
// items may name nothing but other processes.
func (t Tracks) WantProcess(pid int) bool {
	for i := len(t) - 1; i >= 0; i-- {
		item, not := strings.CutPrefix(t[i], "-")
		number, is := pidOf(item)
		switch {
		case is && number == strconv.Itoa(pid):
			return !not
		case !is && !not:
			return true
		}
	}
	return t.decide(func(string) bool { return false })
}

// decide finds the last item that fits.
func (t Tracks) decide(fits func(item string) bool) bool {
	only := false
	for i := len(t) - 1; i >= 0; i-- {
		item, not := strings.CutPrefix(t[i], "-")
		if fits(item) {
			return !not
		}
		only = only || !not
	}
	return !only
}

// pidOf is what stands behind pid:, if that is how the item begins.
func pidOf(item string) (number string, is bool) { return strings.CutPrefix(item, "pid:") }

// String is the items for an error.
func (t Tracks) String() string {
	quoted := make([]string, len(t))
	for i, item := range t {
		quoted[i] = strconv.Quote(item)
	}
	return strings.Join(quoted, " or ")
}

// fold maps names that differ in the case of letters to the same one. Bytes that are no UTF-8
// stay.
func fold(name string) string {
	folded := make([]byte, 0, len(name))
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		if r == utf8.RuneError && n == 1 {
			folded = append(folded, name[i])
		} else {
			folded = utf8.AppendRune(folded, least(r))
		}
		i += n
	}
	return string(folded)
}

// least is the first of the letters that differ from r in case.
func least(r rune) rune {
	first := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		first = min(first, next)
	}
	return first
}
