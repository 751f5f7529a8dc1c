package stream

import "testing"

// When a recording began and which Go compiled its programs is told only of what is known, and of all.
func TestOrigin(t *testing.T) {
	placed := Clock{By: PlacedByRun}
	for _, c := range []struct {
		processes []Process
		start     Time
		golang    string
	}{
		{nil, 0, ""},
		{[]Process{{Start: 7, Go: "go1.26"}, {Start: 5, Go: "go1.26"}, {Go: "go1.26"}}, 5, "go1.26"},
		{[]Process{{Start: 7, Go: "go1.26"}, {Start: 5, Go: "go1.25"}}, 5, ""},
		{[]Process{{Start: 7, Go: "go1.26"}, {Start: 9}}, 7, ""},
		{[]Process{{Start: 1, Clock: placed}, {Start: 9}}, 9, ""},
		{[]Process{{Start: 1, Clock: placed}}, 0, ""},
	} {
		if start, golang := Origin(c.processes); start != c.start || golang != c.golang {
			t.Errorf("%+v: %d, %q", c.processes, start, golang)
		}
	}
}
