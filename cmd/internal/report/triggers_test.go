package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"gprof/stream"
)

func TestEventOf(t *testing.T) {
	for rule, want := range map[string]string{
		"order>1ms: mark": "order", "GET /nearby > 1ms : snapshot 5s, trace every 5m": "GET /nearby", "p99(http.request)>500ms for 20s: mark": "http.request",
		`"db: a>b">1s: mark`: "db: a>b", `p50("a\"b;c")>1s: mark`: `a"b;c`, "pay(x)>1s: mark": "pay(x)",
		"cpu>80% for 5s: snapshot": "", "heap>90%: mark": "", "goroutines>10: mark": "", "log>=error: mark": "", "queue is full for 1s: snapshot": "", "no rule": "", "": "",
	} {
		if got := eventOf(rule); got != want {
			t.Errorf("%s: %q, want %q", rule, got, want)
		}
	}
}

// Each rule is listed, also one that never fired; if that is because no event has its name, the line says so.
func TestRulesThatNeverFired(t *testing.T) {
	p := &processSummary{Tests: map[string]string{"triggers": `SET>100us: mark; order>1us: mark; order>1h: mark; "a;b">1s: mark; heap>90%: mark`}, Events: map[string]int64{"order": 7}}
	fired := &triggerSummary{Rule: "order>1us: mark"}
	fired.add(&stream.TriggerMark{Rule: fired.Rule, What: stream.TriggerFired, Value: "2µs"})
	p.Triggers = append(p.Triggers, fired)
	p.addRules()
	p.nameUnknown()
	var b bytes.Buffer
	for _, r := range p.Triggers {
		r.print(&b, time.Unix(0, 0))
	}
	var got []string
	for line := range strings.Lines(b.String()) {
		if rule, ok := strings.CutPrefix(line, "  trigger\t"); ok {
			rule, _, _ = strings.Cut(rule, " here")
			got = append(got, strings.TrimSpace(rule))
		}
	}
	want := `order>1us: mark: fired 1 time
SET>100us: mark: fired 0 times; no event is named "SET"
order>1h: mark: fired 0 times
"a;b">1s: mark: fired 0 times; no event is named "a;b"
heap>90%: mark: fired 0 times`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

// Of a slice nothing tells whether an event was recorded.
func TestRulesOfSlice(t *testing.T) {
	p := &processSummary{Tests: map[string]string{"triggers": `SET>100us: mark`}, Losses: []LedgerLine{{Reason: stream.ReasonLeftOut.String()}}}
	p.addRules()
	p.nameUnknown()
	if len(p.Triggers) != 1 || p.Triggers[0].Unknown != "" {
		t.Errorf("%+v", p.Triggers)
	}
}
