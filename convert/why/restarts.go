package why

import (
	"fmt"
	"time"

	"gprof/stream"
	"gprof/stream/wording"
)

// restarts finds a program that dies again and again soon after it was started.
type restarts struct{}

const (
	// restartsLeast is how many must have died one after the other.
	restartsLeast = 3

	// diedSoon is how short a life is that a restart did not help.
	diedSoon = time.Minute
)

func (restarts) About() About {
	return About{
		Name: "restart loop", Looks: "processes of one service, one after the other, that end badly",
		Needs:     "several processes in the input; how they ended, which gprof-record run sees",
		Threshold: "3 that lived less than a minute each, the next of which began when the last had ended: instances that are killed together, as by a deploy, overlap",
	}
}

func (restarts) FindAll(all []*Brief) (found []Finding) {
	for _, group := range by(all, service) {
		var dead []*Brief
		end := stream.Time(0)
		for _, b := range group {
			if b.Died && b.Lived() > 0 && b.Lived() < diedSoon && b.Start >= end {
				dead, end = append(dead, b), b.End
			}
		}
		if len(dead) < restartsLeast {
			continue
		}
		last := dead[len(dead)-1]
		lived := time.Duration(0)
		for _, b := range dead {
			lived += b.Lived()
		}
		word, how := wording.End(last.Exit, last.Go != "")
		f := Finding{
			Severity: Cause, Process: wording.Printable(service(last)), Explains: float64(len(dead)) / float64(len(group)), covers: ids(dead), Since: int64(dead[0].Start),
			Text:     fmt.Sprintf("restart loop: %d of %d processes ended one after the other, after %s on average: %s%s", len(dead), len(group), took(lived.Seconds()/float64(len(dead))), word, how),
			Evidence: []string{fmt.Sprintf("in %s", took(time.Duration(last.End-dead[0].Start).Seconds()))},
			More:     []string{"info", "--process", last.InstanceName()},
		}
		if last.Error != "" {
			f.Evidence = append(f.Evidence, fmt.Sprintf("it logs the error %q", last.Error))
		}
		found = append(found, f)
	}
	return found
}
