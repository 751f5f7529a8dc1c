package wording

import (
	"testing"

	"gprof/stream"
)

// A remark about a line without process and place is read back; any other text is not taken for
// one.
func TestParseRemark(t *testing.T) {
	for r := range stream.NumReasons {
		for _, want := range []stream.Line{
			{Reason: r, What: "markers", Count: 5},
			{Reason: r, What: "heap in use", Count: 1, Bytes: 12},
			{Reason: r, What: "odd, 3 bytes of it", Count: 1 << 40},
		} {
			if got, ok := ParseRemark(Remark(want)); !ok || got != want {
				t.Errorf("%q: %+v, %v", Remark(want), got, ok)
			}
		}
	}
	for _, text := range []string{"", "loss: torn", "loss: torn: 5 blocks", "info: torn: 5 blocks (cut short)", "loss: torn: five blocks (cut short)", "loss: torn: 05 blocks (cut short)",
		Remark(stream.Line{Process: "0123456789abcdef", Reason: stream.ReasonTorn, What: "blocks", Count: 5})} {
		if line, ok := ParseRemark(text); ok {
			t.Errorf("%q is read as %+v", text, line)
		}
	}
}
