package session

import (
	"bytes"
	"strings"
	"testing"

	"gprof/cmd/internal/console"
)

func TestSizesAndTimes(t *testing.T) {
	for n, want := range map[int64]string{0: "0.0 KiB", 4096: "4.0 KiB", 1 << 20: "1.0 MiB", 66 << 20: "66.0 MiB"} {
		if got := Size(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
	for s, want := range map[float64]string{0: "-", 0.0004: "0s", 0.25: "250ms", 59.04: "59s", 72.4: "1m12s", 3600: "1h0m0s"} {
		if got := reach(s); got != want {
			t.Errorf("%v s: %s, want %s", s, got, want)
		}
	}
}

// Names that other processes of a session have chosen can't steer the terminal.
func TestStatusSteersNoTerminal(t *testing.T) {
	for _, name := range []string{"shop\x1b[2J", "shop\nSTATE", "shop\t", "shop\u202e", "shop\xff"} {
		var out bytes.Buffer
		v := State{Session: "/s", Processes: []*Process{{Service: name}}}
		if err := v.Print(&out); err != nil || strings.Contains(out.String(), name) || !strings.Contains(out.String(), "shop\ufffd") {
			t.Errorf("%q is shown in %q, %v", name, &out, err)
		}
	}
	var out bytes.Buffer
	console.New("gprof-record", nil, nil, &out).Say("recorded in /s\x1b[2J")
	if out.String() != "gprof-record: recorded in /s\ufffd[2J\n" {
		t.Errorf("said %q", &out)
	}
}
