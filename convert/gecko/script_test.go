package gecko

import (
	"testing"

	"gprof/convert/internal/viewer"
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

// A frame of a script says where in it the program was; others end before that.
func TestScriptRow(t *testing.T) {
	place := viewer.Place{Category: 2, Sub: 1}
	for _, tt := range []struct {
		row  frameRow
		want string
	}{
		{frameRow{location: 7, place: place}, "[7,false,2,1]"},
		{frameRow{location: 7, place: place, script: true, line: 9, column: 3}, "[7,false,2,1,null,null,9,3]"},
		{frameRow{location: 7, place: place, script: true, line: 9}, "[7,false,2,1,null,null,9,null]"},
	} {
		if got := string(appendFrameRow(nil, tt.row)); got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.row, got, tt.want)
		}
	}
}
