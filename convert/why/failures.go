package why

import "fmt"

// failures finds errors that are logged, or that markers tell of, more often than before.
type failures struct{}

// errorsLeast is how many errors a second are more than single ones.
const errorsLeast = 1

func (failures) About() About {
	return About{
		Name: "errors", Looks: "log records of the level error, and markers whose fields tell of errors: a text error or err, a status or code from 500 on",
		Needs:     "records of log/slog by recorder/logs, or such markers",
		Threshold: "1 a second and × 3; 10 % of the markers of a name and × 3",
		EffectOf:  []string{"version", "retries", "logging", "slow dependency", "open files", "heap growth", "standstill"},
	}
}

func (failures) Find(p *Process) []Finding {
	for _, m := range p.Messages {
		rates := p.Time.Rates(&m.Count)
		c := p.Time.RiseOf(&rates, nil, retryFactor)
		if m.IsError() && c.Clear && c.After >= errorsLeast {
			return []Finding{{
				Severity: Likely, Since: p.since(c.At), Explains: 1 - c.Before/c.After,
				Text:     fmt.Sprintf("it logs the error %q %s times a second, %s before", m.Text, digits(c.After), digits(c.Before)),
				Evidence: []string{p.after(c.At), fmt.Sprintf("%s times in all", digits(m.Count.Total()))},
				More:     p.command(append([]string{"view"}, p.from(c.At)...)...),
			}}
		}
	}
	for _, m := range p.Markers {
		rates := p.Time.Rates(&m.Failed)
		c := p.Time.ChangeOf(&rates, nil)
		was, is := ratio(m.Failed.Sum(0, c.At), m.Count.Sum(0, c.At)), ratio(m.Failed.Sum(c.At, len(m.Failed)), m.Count.Sum(c.At, len(m.Count)))
		if c.Clear && is >= failedLeast && is >= retryFactor*was {
			return []Finding{{
				Severity: Likely, Since: p.since(c.At), Explains: is,
				Text:     fmt.Sprintf("%s of %s fail, %s before", percent(is), m.Name, percent(was)),
				Evidence: []string{p.after(c.At), fmt.Sprintf("%s failed in all", digits(m.Failed.Total()))},
				More:     p.command(append([]string{"top", "--by", "marker"}, p.from(c.At)...)...),
			}}
		}
	}
	return nil
}
