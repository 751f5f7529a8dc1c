package why_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gprof/convert/why"
)

// What requests wait for is told by the reason of the wait and by the library that waits: a server that waits for its
// clients waits for no other program, and what is written to a connection is no slow file.
func TestBlocked(t *testing.T) {
	for _, c := range []struct {
		reason, stack string
		want          string // the finding; "" none
	}{
		{"select", "main.serve main.ask net/http.(*Client).Do", "slow dependency"},
		{"network", "main.serve main.ask net/http.(*Client).Do net.(*conn).Read", "slow dependency"},
		{"network", "main.serve main.load database/sql.(*DB).QueryContext", "slow dependency"},
		{"system call", "main.serve main.save os.(*File).Sync", "slow files"},
		{"channel receive", "main.serve main.step", "slow hand-over"},
		{"sleep", "main.serve main.pause time.Sleep", "slow hand-over"},
		{"network", "net/http.(*conn).serve net/http.(*conn).readRequest net.(*conn).Read", ""},
		{"network", "net/http.(*connReader).backgroundRead net.(*conn).Read", ""},
		{"system call", "net/http.(*conn).serve net/http.(*response).finishRequest net.(*conn).Write", ""},
		{"select", "net/http.(*persistConn).writeLoop", ""},
		{"system call", "main.serve main.compress os/exec.(*Cmd).Wait os.(*Process).Wait", ""},
		{"system call", "os/signal.loop os/signal.signal_recv", ""},
	} {
		s := newStory(killed)
		for n := range ticks {
			s.marks(n, "request", 10, time.Duration(2+n/onset*88)*time.Millisecond)
			s.waits(n, 1, "select", "main.upkeep")
			s.waits(n, n/onset*9, c.reason, strings.Fields(c.stack)...)
		}
		r := s.report(t)
		checkReport(t, &r)
		var found []string
		for _, f := range r.Findings {
			if strings.HasPrefix(f.Detector, "slow ") && f.Detector != "slow marker" {
				found = append(found, f.Detector)
			}
		}
		if want := strings.FieldsFunc(c.want, func(rune) bool { return false }); !slices.Equal(found, want) {
			t.Errorf("%s in %s: %q, want %q", c.reason, c.stack, found, want)
		}
		if slow := r.Findings[len(r.Findings)-1]; slow.Detector != "slow marker" || (slow.Severity == why.Likely) != (c.want == "") {
			t.Errorf("%s in %s: the slow marker is %+v", c.reason, c.stack, slow)
		}
	}
}

// Requests that wait for each other while as many connections wait for clients are no fault of another program.
func TestBlockedBesideClients(t *testing.T) {
	s := newStory(killed)
	for n := range ticks {
		s.marks(n, "request", 10, time.Duration(2+n/onset*88)*time.Millisecond)
		s.waits(n, 1, "select", "main.upkeep")
		s.waits(n, n/onset*9, "channel receive", "main.serve", "main.step")
		s.waits(n, n/onset*9, "network", "net/http.(*connReader).backgroundRead", "net.(*conn).Read")
		s.waits(n, n/onset*9, "system call", "net/http.(*conn).serve", "net.(*conn).Write")
	}
	r := s.report(t)
	if f := r.Findings[0]; f.Detector != "slow hand-over" || f.Severity != why.Cause || !strings.Contains(f.Text, "main.step") {
		t.Errorf("%+v", f)
	}
}
