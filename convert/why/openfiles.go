package why

import (
	"fmt"
	"strings"

	"gprof/convert/why/internal/facts"
)

// openFiles finds files and connections that are opened and never closed.
type openFiles struct{}

const (
	// filesLeast is the least growth that matters.
	filesLeast = 100

	// filesFactor is how many times as many there must be than at the beginning.
	filesFactor = 2

	// filesFull is the share of the limit from which on it is the cause whoever opened them.
	filesFull = 0.5
)

func (openFiles) About() About {
	return About{
		Name: "open files", Looks: "how many files and connections are open, their limit, and what opens some",
		Needs:     "counters of a recorder since this release; CPU samples for what",
		Threshold: "100 more and × 2, of which the last third of the time has 15 %; a cause from half of the limit on, or if one place opens most",
		Lacks: func(p *Process) string {
			if p.Counter("open files") != nil || p.Process.OS != "linux" || p.Process.Go == "" {
				return ""
			}
			return "how many files were open: the recorder is too old, or may open too few files itself"
		},
	}
}

func (d openFiles) Find(p *Process) []Finding {
	c, limit := p.Counter("open files"), p.Counter("open files limit")
	if c == nil {
		return nil
	}
	g, growing := p.growthOf(c)
	if !growing || g.to-g.from < filesLeast || g.to < filesFactor*g.from {
		return nil
	}
	f := Finding{
		Severity: Likely, Explains: 1 - g.from/g.to,
		Text:     fmt.Sprintf("open files became more to the end, from %s to %s", digits(g.from), digits(g.to)),
		Evidence: []string{fmt.Sprintf("%s a second", digits((g.to-g.from)/p.Time.Seconds(0, facts.Steps+1)))},
		More:     p.command("info"),
	}
	if limit != nil {
		f.Text += fmt.Sprintf(" of %s that it may have", digits(limit.Last))
		if c.Last >= filesFull*limit.Last {
			f.Severity = Cause
		}
	}
	opens := p.sitesThat(p.CPU, func(f string) bool {
		return isOf(f, "os.Open", "os.Create", "syscall.Open", "syscall.Socket", "syscall.accept", "syscall.socket", "net.Dial", "net.(*Dialer).", "os.Pipe", "syscall.Pipe", "syscall.openat")
	})
	if len(opens) > 0 && opens[0].Function != "" {
		all := 0.0
		for _, s := range opens {
			all += s.Sum
		}
		f.Text += fmt.Sprintf("; %s opens some", opens[0].Place)
		if opens[0].Sum >= mostOfIt*all {
			f.Severity = Cause
		}
	}
	for _, m := range p.Messages {
		if strings.Contains(m.Text, "too many open files") {
			f.Evidence = append(f.Evidence, fmt.Sprintf("it logs %q", m.Text))
			break
		}
	}
	return []Finding{f}
}
