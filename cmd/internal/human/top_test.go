package human

import (
	"strings"
	"testing"
)

// Names are cut to fit a terminal, at the front, and can't steer it.
func TestTable(t *testing.T) {
	for width, want := range map[int]string{
		0:  "   self     %  function\n  1.20s  3.2%  gprof/convert/top.(*Sink).Close\uFFFD[2J\n",
		36: "   self     %  function\n  1.20s  3.2%  …op.(*Sink).Close\uFFFD[2J\n",
		5:  "   self     %  function\n  1.20s  3.2%  …Sink).Close\uFFFD[2J\n",
	} {
		var out strings.Builder
		lines := NewTable(&out, width, "self", "%", "function")
		lines.Row("1.20s", "3.2%", "gprof/convert/top.(*Sink).Close\x1b[2J")
		lines.Flush()
		if out.String() != want {
			t.Errorf("width %d:\n%q\nwant\n%q", width, out.String(), want)
		}
	}
}

func TestFormatTime(t *testing.T) {
	for ns, want := range map[int64]string{0: "0", 7: "7ns", 1500: "1.50µs", 2e6: "2.00ms", 1_230_000_000: "1.23s", 599_000_000_000: "599.00s", 3600e9: "1h0m0s"} {
		if got := Time(ns); got != want {
			t.Errorf("%d ns is %s, want %s", ns, got, want)
		}
	}
}
