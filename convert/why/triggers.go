package why

import (
	"fmt"
	"time"

	"gprof/stream"
	"gprof/stream/wording"
)

// triggers finds what the program's owner asked the recorder to watch for.
type triggers struct{}

func (triggers) About() About {
	return About{
		Name: "trigger", Looks: "rules of triggers that fired",
		Needs:     "rules (docs/triggers.md)",
		Threshold: "each rule that fired, as a note: its owner chose the threshold",
	}
}

func (triggers) Find(p *Process) (found []Finding) {
	at := map[string]int{}
	for i := range p.Triggers {
		m := &p.Triggers[i]
		switch n, known := at[m.Rule]; {
		case known && m.Is(stream.TriggerKept):
			found[n].Evidence = append(found[n].Evidence[:min(len(found[n].Evidence), 2)], "kept as "+wording.Printable(m.File))
		case !known && m.Is(stream.TriggerFired):
			at[m.Rule] = len(found)
			f := Finding{
				Severity: Note, Since: int64(m.Time), Text: fmt.Sprintf("the trigger %q fired", m.Rule),
				Evidence: []string{"first at +" + took(time.Duration(m.Time-p.Time.From).Seconds())},
				More:     p.command("info"),
			}
			if m.Value != "" {
				f.Evidence[0] += ": " + wording.Printable(m.Value)
			}
			found = append(found, f)
		}
	}
	return found
}
