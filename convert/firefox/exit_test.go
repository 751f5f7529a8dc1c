package firefox

import (
	"testing"

	"gprof/rawformat"
	"gprof/stream"
)

func TestExitText(t *testing.T) {
	for _, tt := range []struct {
		exit stream.Exit
		want string
	}{
		{stream.Exit{}, ""},
		{stream.Exit{Known: true, Reason: "found dead"}, "found dead"},
		{stream.Exit{Known: true, Reason: rawformat.ExitReasons[rawformat.ExitNormal]}, "exited 0"},
		{stream.Exit{Known: true, Reason: "killed", Code: 9}, "killed 9"},
		{stream.Exit{Known: true, Reason: "panicked", Text: "index out of range"}, "panicked index out of range"},
	} {
		if got := exitText(tt.exit); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.exit, got, tt.want)
		}
	}
}
