package gecko

import (
	"testing"

	"gprof/stream"
)

// Functions of scripts have one name where they begin in different places, which
// a line may have several of; the viewer tells them by that.
func TestScriptLocation(t *testing.T) {
	tables := new(stream.Tables)
	run, file := tables.Strings.Intern("run"), tables.Strings.Intern("https://a.example/x.js")
	c := code{tables: tables, native: make([]bool, tables.Strings.Len()+1)}
	for _, tt := range []struct {
		frame stream.Frame
		want  string
	}{
		{stream.Frame{Script: true, Function: run, File: file, Start: 7, StartColumn: 12, Line: 9, Column: 3}, "run (https://a.example/x.js:7:12)"},
		{stream.Frame{Script: true, Function: run, File: file, Start: 7}, "run (https://a.example/x.js:7)"},
		{stream.Frame{Script: true, Function: run}, "run (unknown:0)"},
	} {
		if got := string(c.appendLocation(nil, merge(tt.frame))); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.frame, got, tt.want)
		}
	}
}
