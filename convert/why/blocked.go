package why

import (
	"fmt"
	"slices"

	"gprof/convert/why/internal/facts"
)

// blocked finds something that requests wait for longer than they did: a place where more goroutines wait at
// a time, by about as many as there are more requests in progress.
type blocked struct{ *waitKind }

// waitKind is what is waited for.
type waitKind struct {
	name    string
	what    string // of the sentence: goroutines wait for ...
	looks   string
	reasons []string
	via     []string // functions by which it is recognised whatever the reason; nil: by the reason alone
	not     []string // functions that are something else
}

// remote are functions of Go's library and of others that ask another program: their callers wait for a channel.
var remote = []string{"net.", "net/http.", "net/rpc.", "database/sql.", "crypto/tls.", "net/smtp."}

// others are functions that wait for something by a system call that is no file.
var others = []string{"os.(*Process).", "os/exec.", "os/signal.", "syscall.Wait", "runtime."}

var (
	onDisk     = blocked{&waitKind{name: "slow files", what: "a file or a device", looks: "goroutines in system calls, such as reads and writes of files", reasons: []string{"system call"}, not: slices.Concat(others, remote)}}
	onNetwork  = blocked{&waitKind{name: "slow dependency", what: "another program", looks: "goroutines that wait for connections, or in functions of Go's library that ask others", reasons: []string{"network"}, via: remote}}
	onChannels = blocked{&waitKind{name: "slow hand-over", what: "other goroutines", looks: "goroutines that wait for a channel, a condition or a time", reasons: []string{"channel send", "channel receive", "select", "sleep", "lock"}, not: remote}}
)

const (
	// blockedLeast is how many more goroutines must wait at a place, on average.
	blockedLeast = 0.3

	// blockedFactor is how many times as many. Where all requests wait for the same they can't become
	// many more: there are only so many clients.
	blockedFactor = 1.5
)

func (d blocked) About() About {
	return About{
		Name: d.name, Looks: d.looks + "; and markers that became slower",
		Needs:     "waits; intervals",
		Threshold: "0.3 goroutines at a time and × 1.5 at one place, when a marker became slow; a cause if they are half of those in progress that became more: by Little's law what takes longer is where they are",
		EffectOf:  []string{"version", "retries", "herd", "logging", "garbage collection", "allocations", "lock", "standstill", "CPU throttling", "busy function", "page faults"},
	}
}

func (d blocked) Find(p *Process) []Finding {
	for _, m := range p.slowed() {
		site, more := d.most(p, m.At)
		if site == nil || m.extra < blockedLeast {
			continue
		}
		before, after := site.Around(m.At)
		share := min(more, m.extra) / max(more, m.extra) // far more that wait there are others
		f := Finding{
			Severity: Likely, Since: p.since(m.At), Explains: share,
			Text: fmt.Sprintf("%s takes %s instead of %s: it waits for %s in %s", m.Name, took(m.After), took(m.Before), d.what, site.Place),
			Evidence: []string{fmt.Sprintf("%s goroutines at a time wait there for %s, %s before, %s", digits(after), reasonOf(site), digits(before), p.after(m.At)),
				fmt.Sprintf("%s more of them, and %s more are in progress", digits(more), digits(m.extra))},
			More: p.command(append([]string{"view"}, p.from(m.At)...)...),
		}
		if share >= mostOfIt {
			f.Severity = Cause
		}
		return []Finding{f}
	}
	return nil
}

// most is the place of this kind at which most more goroutines wait from a step on, at which a marker became
// slow.
func (d blocked) most(p *Process, at int) (best *facts.Site, most float64) {
	for _, s := range p.Sites(p.Waits) {
		before, after := s.Around(at)
		if more := after - before; d.fits(s) && after >= blockedFactor*before && more >= blockedLeast && more > most {
			best, most = s, more
		}
	}
	return best, most
}

// fits reports whether goroutines at a site wait for that. Those that run Go's library alone serve no request: they wait
// for what a client sends next, or keep a connection that nobody uses.
func (d *waitKind) fits(s *facts.Site) bool {
	switch {
	case s.Function == "" || isOf(s.Via, d.not...):
		return false
	case slices.Contains(d.reasons, s.Reason):
		return true
	}
	return isOf(s.Via, d.via...)
}
