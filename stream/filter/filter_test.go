package filter

import (
	"errors"
	"strings"
	"testing"
)

// The list in an error has one line for each name, whatever characters it has.
func TestNoMatchNames(t *testing.T) {
	err := NoMatch("no track", []string{"b\nc", "", strings.Repeat("é", 10_000), "\x1b[2J"})
	lines := strings.Split(err.Error(), "\n")
	want := []string{"nothing matches: no track; there are:", "  (no name)", "  �[2J", "  b�c", "  " + strings.Repeat("é", maxShown) + "…"}
	if !errors.Is(err, ErrNoMatch) || strings.Join(lines, "|") != strings.Join(want, "|") {
		t.Errorf("%q", lines)
	}
}
