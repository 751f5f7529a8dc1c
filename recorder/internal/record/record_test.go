package record

import (
	"strings"
	"testing"
)

// A long name is cut between runes.
func TestClip(t *testing.T) {
	x := strings.Repeat("x", MaxName-1)
	for _, tt := range []struct{ name, text, want string }{
		{"short", "ä", "ä"},
		{"as long as may be", x + "y", x + "y"},
		{"too long", x + "yz", x + "y"},
		{"rune in the way", x + "äz", x},
		{"long rune in the way", x[:MaxName-3] + "𝄞z", x[:MaxName-3]},
		{"no runes", strings.Repeat("\x80", MaxName+1), strings.Repeat("\x80", MaxName-4)},
	} {
		if got := clip(tt.text); got != tt.want {
			t.Errorf("%s: %d bytes, want %d", tt.name, len(got), len(tt.want))
		}
	}
}
