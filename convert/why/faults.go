package why

import "fmt"

// faults finds threads that wait for pages of memory to be read from a disk.
type faults struct{}

const (
	// faultsLeast is how many a second are many: each is a read of a disk, of 0.1 to 10 ms, in which a
	// thread stands still though its goroutine seems to run.
	faultsLeast = 20

	// faultsMany is how many are the cause of what is slow, whatever else there is: threads stand still for
	// 1 to 100 % of the time.
	faultsMany = 100

	// faultsFactor is how many times as many there must be.
	faultsFactor = 5
)

func (faults) About() About {
	return About{
		Name: "page faults", Looks: "pages that are fetched from a disk while the program uses them: mapped files and memory that was swapped out",
		Needs:     "counters of a recorder since this release",
		Threshold: "20 a second and × 5, a cause from 100 on or if a marker became slow: the first use of a program's code takes some as well, when it starts",
	}
}

func (faults) Find(p *Process) []Finding {
	c := p.Counter("major faults")
	if c == nil {
		return nil
	}
	rates := c.Rates()
	change := p.Time.RiseOf(&rates, &c.Known, faultsFactor)
	if !change.Clear || change.After < faultsLeast {
		return nil
	}
	f := Finding{
		Severity: Likely, Since: p.since(change.At), Explains: 1 - change.Before/change.After,
		Text:     fmt.Sprintf("threads wait for pages of memory that are read from a disk: %s major faults a second, %s before", digits(change.After), digits(change.Before)),
		Evidence: []string{p.after(change.At)},
		More:     p.command(append([]string{"view"}, p.from(change.At)...)...),
	}
	if read := p.Counter("disk read"); read != nil {
		_, after := read.Around(change.At)
		f.Evidence = append(f.Evidence, byteCount(after)+" a second read from disks")
	}
	if site, _ := most(p.Sites(p.CPU), change.At); site != nil && site.Function != "" {
		f.Text += "; most CPU time in addition is in " + site.Place.String()
	}
	if change.After >= faultsMany {
		f.Severity = Cause
	}
	if s := p.slows(change.At); s != "" {
		f.Severity = Cause
		f.Evidence = append(f.Evidence, s)
	}
	return []Finding{f}
}
