package why

import (
	"fmt"

	"gprof/convert/why/internal/facts"
	"gprof/stream"
)

// timers finds a program that is busy with timers.
type timers struct{}

const (
	// timersLeast is the share of the CPU time that timers must take.
	timersLeast = 0.15

	// timersUsed is how much CPU time the process must use, in processors: of next to nothing any
	// share is harmless; timersSeen is for how many seconds, or some samples decide.
	timersUsed = 0.1
	timersSeen = 0.2
)

var timerFunctions = []string{"runtime.(*timers).", "runtime.(*timer).", "time.goFunc", "time.sendTime", "time.AfterFunc", "time.NewTimer", "time.NewTicker", "time.(*Timer).", "time.(*Ticker).", "time.newTimer", "time.stopTimer", "time.resetTimer", "time.Sleep", "time.After", "runtime.goroutineReady"}

func (timers) About() About {
	return About{
		Name: "timers", Looks: "the CPU time in which timers are started, stopped and run, and what starts them",
		Needs:     "CPU samples",
		Threshold: "15 % of the CPU time, where the process uses 0.1 processors or more",
		EffectOf:  []string{"goroutine growth"},
	}
}

func (timers) Find(p *Process) []Finding {
	all := p.CPU.Sum(nil)
	rates := p.Time.Rates(&all)
	at := 0
	if c := p.Time.ChangeOf(&rates, nil); c.Clear && c.After > c.Before {
		at = c.At
	}
	_, used := p.around(&all, at)
	if !p.Has(stream.Samples) || used < timersUsed || all.Sum(at, len(all)) < timersSeen {
		return nil
	}
	has := func(f string) bool { return isOf(f, timerFunctions...) }
	timed := p.CPU.Sum(func(stack stream.StackID) bool { return p.contains(stack, has) })
	share := ratio(timed.Sum(at, len(timed)), all.Sum(at, len(all)))
	if share < timersLeast {
		return nil
	}
	f := Finding{
		Severity: Note, Explains: share, Since: p.since(at),
		Text:     fmt.Sprintf("timers take %s of the CPU time", percent(share)),
		Evidence: []string{fmt.Sprintf("the process uses %s processors, %s", digits(used), p.after(at))},
		More:     p.command(append([]string{"top"}, p.from(at)...)...),
	}
	var best *facts.Site
	sum, most := 0.0, 0.0
	for _, s := range p.sitesThat(p.CPU, has) {
		if s.Function == "" {
			continue
		}
		_, here := s.Around(at)
		if sum += here; here > most {
			best, most = s, here
		}
	}
	if best != nil {
		f.Text += ", which " + best.Place.String() + " starts"
		f.Evidence = append(f.Evidence, percent(most/sum)+" of what the program does with timers is there")
		f.Severity = Likely
		if most >= mostOfIt*sum {
			f.Severity = Cause
		}
	}
	return []Finding{f}
}
