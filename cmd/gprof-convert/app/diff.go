package app

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"gprof/cmd/internal/console"
	"gprof/cmd/internal/conversion"
	"gprof/cmd/internal/input"
	"gprof/cmd/internal/output"
	"gprof/cmd/internal/report"
	"gprof/convert/compare"
	"gprof/convert/difference"
)

type diffCmd struct {
	Inputs   []string `arg:"" optional:"" name:"base-new" help:"The base and the new recordings, if each is one session, archive, or quoted pattern."`
	Base     []string `sep:"none" placeholder:"INPUT" help:"Recordings as it was: a session, archive, or quoted pattern of them. May be repeated."`
	New      []string `sep:"none" placeholder:"INPUT" help:"Recordings as it is now. May be repeated."`
	Output   []string `short:"o" sep:"none" placeholder:"FILE" help:"Draw it, too: a page, .html, or a picture, .svg or .png. May be repeated."`
	Of       string   `aliases:"samples" enum:"auto,${bases}" default:"auto" placeholder:"KIND" help:"What to compare at stacks: cpu, samples with CPU time; samples, those without, by their number; heap, bytes in use at the end; allocations, bytes; waits, time that goroutines waited. Default: cpu if both sets have it."`
	Rows     int      `short:"n" default:"20" placeholder:"N" help:"How many functions and markers to show; 0 is all. Default: ${default}."`
	JSON     bool     `name:"json" xor:"form" help:"Print JSON."`
	Markdown bool     `xor:"form" help:"Print Markdown, for a review comment: what changed on top, tables to unfold."`
	Annotate bool     `help:"Say what the conditions come to as annotations that GitHub Actions shows, on stderr."`
	conversion.Flags

	perm fs.FileMode // of pictures: who may read all recordings
}

func (c *diffCmd) Help() string {
	return `Examples:
  gprof-convert diff --base 'main/*.gprof' --new 'branch/*.gprof'
  gprof-convert diff main branch -o diff.html -o diff.png
  gprof-convert diff --base main --new branch --markdown >comment.md
  gprof-convert diff main branch --fail-if 'cost() > +1%' --annotate --markdown >>"$GITHUB_STEP_SUMMARY"
  gprof-convert diff --base main --new branch --fail-if 'cost() > +0%'
  gprof-convert diff --base main --new branch --fail-if 'p99(http.request) > +10%' --fail-if 'self(*) > +20%'
  gprof-convert diff --base main --new branch --last 30s --json | jq '.functions[] | select(.self.found)'

Functions are matched by name, so the sets may be of different builds. Those that were
renamed, and those between which costs only moved because one was divided or inlined,
are compared as one and have one line, which says what they were. Recordings may differ
in length and number: functions are compared by their share of all samples, markers by
how many there are in a second of one process and how long they took. CPU time is
compared with CPU time alone. Of filters, --from, --to and --last make the seconds fewer
by which rates are divided, others do not.

Behind a change stands its error (95 %), which is taken from how much the processes
of a set differ from each other; so record several, 3 at least, better 10. Changes
that are more than noise have a star. Of sets without a difference one
comparison in twenty has any.

With -o, the call trees are drawn: the flame graph of the base, and below it the
icicle of what is new. Only what changed beyond the noise has a colour: orange grew,
blue fell. The legend lists which functions were matched.

Processes that were recorded at once on the same processors, or in turn, are compared
in pairs, so that what the machine did meanwhile drops out: see docs/compare.md.

A condition FIGURE(NAME) > BOUND fails with exit code 4 if it is met beyond the
noise. FIGURE is one of
  cost()               CPU seconds of a process: > +0%, > +1%, > 250ms
  cost(MARKER)         CPU seconds of a process by how many such markers it has
  cpu()                CPU seconds of all functions in a second of one process
  selfcpu, totalcpu    the same of one function
  self, total          share of a function in all samples: > +5%, > +2pp, > 12%
  p50, p99, p99.9, mean  how long markers took: > +10%, > +20ms, > 250ms
  rate, count          markers in a second of one process, markers of one process
The name * stands for all functions, or markers. However many
conditions and names there are, one gate of twenty at the most fails by chance.
Each condition says which change would have been found.
A bound with a sign is one of the change, without a sign of the new figure.`
}

// Run compares.
func (c *diffCmd) Run(s *input.Tool) error {
	c.Apply()
	c.perm = fs.ModePerm
	if err := c.checkFlags(); err != nil {
		return console.Exit(console.Usage, err)
	}
	base, one, err := c.read(s, c.Base)
	if err != nil {
		return err
	}
	new, two, err := c.read(s, c.New)
	if err != nil {
		return err
	}
	r, err := compare.Compare(base, new, c.options())
	if err != nil {
		return err
	}
	outcomes, err := c.outcomes(r)
	if err != nil {
		return console.Exit(console.Usage, err)
	}
	if err := c.draw(s, r); err != nil {
		return err
	}
	if err := c.print(s, r, outcomes); err != nil {
		return err
	}
	c.Tell(s, "base", one)
	c.Tell(s, "new", two)
	if !c.Quiet && len(one.Unseen) > 0 {
		s.Hint(report.UnseenHint(two.Unseen))
	}
	if err := c.JudgeAll(one, two); err != nil {
		return err
	}
	if c.Annotate {
		report.Annotate(s.Stderr, outcomes)
	}
	return tellOutcomes(s, outcomes)
}

func (c *diffCmd) checkFlags() error {
	if len(c.Inputs) == 2 && c.Base == nil && c.New == nil {
		c.Base, c.New = c.Inputs[:1], c.Inputs[1:]
	} else if len(c.Inputs) > 0 || c.Base == nil || c.New == nil {
		return errors.New("missing flags: --new or --base; want gprof-convert diff BASE NEW, or --base and --new, which may be repeated")
	}
	for _, name := range c.Output {
		if err := difference.Check(name); err != nil {
			return err
		}
	}
	if c.Rows < 0 {
		return fmt.Errorf("--rows %d: want a number, or 0 for all", c.Rows)
	}
	if slices.Contains(c.Base, "-") && slices.Contains(c.New, "-") {
		return errors.New("--base and --new both read stdin; give one of them files")
	}
	return nil
}

func (c *diffCmd) options() compare.Options {
	o := compare.Options{Tree: len(c.Output) > 0}
	if c.Of != "auto" {
		o.Basis = compare.Basis(c.Of)
	}
	return o
}

// read sums up one set.
func (c *diffCmd) read(s *input.Tool, inputs []string) (*compare.Set, *conversion.Digest, error) {
	found, err := c.OpenSet(s, inputs, "")
	if err != nil {
		return nil, nil, err
	}
	c.perm &= found.Perm()
	from, to, err := c.Span(found)
	if err == nil {
		err = conversion.CheckFiles(found, c.Output...)
	}
	if err != nil {
		found.Close()
		return nil, nil, console.Exit(console.Usage, err)
	}
	sink := compare.New(from, to)
	sink.Of, sink.Stacks = c.options().Basis, len(c.Output) > 0
	read, err := c.Digest(s, found, sink)
	if err != nil {
		return nil, nil, err
	}
	read.Tables = nil // they need not be held while the other set is read
	return sink.Set, read, nil
}

// draw writes the pictures: all, or none.
func (c *diffCmd) draw(s *input.Tool, r *compare.Report) error {
	var all []output.Product
	for _, name := range c.Output {
		f, err := s.Outputs.Create(name, difference.Binary(name), c.perm)
		if err == nil {
			all = append(all, f)
			err = difference.Write(f, name, r)
		}
		if err != nil {
			s.Outputs.Discard(all...)
			return err
		}
	}
	if err := s.Outputs.Commit(all...); err != nil || len(all) == 0 || c.Quiet {
		return err
	}
	s.Say("wrote " + strings.Join(c.Output, ", "))
	return nil
}

// outcomes are those of the conditions.
func (c *diffCmd) outcomes(r *compare.Report) ([]compare.Outcome, error) {
	all, err := r.Check(c.Conditions()...)
	if err != nil {
		return nil, fmt.Errorf("--fail-if %w", err)
	}
	return all, nil
}

func (c *diffCmd) print(s *input.Tool, r *compare.Report, outcomes []compare.Outcome) error {
	all := len(r.Functions) + len(r.Markers) + len(r.Counters)
	if c.Rows > 0 {
		r.Functions, r.Markers, r.Counters = first(r.Functions, c.Rows), first(r.Markers, c.Rows), first(r.Counters, c.Rows)
	}
	switch {
	case c.JSON:
		return report.WriteJSON(s.Stdout, struct {
			*compare.Report
			Conditions []compare.Outcome `json:"conditions"`
		}{r, outcomes})
	case c.Markdown:
		report.PrintMarkdown(s.Stdout, r, outcomes)
		return nil
	}
	report.PrintDiff(s.Stdout, r, s.Width())
	if left := all - len(r.Functions) - len(r.Markers) - len(r.Counters); left > 0 {
		fmt.Fprintf(s.Stdout, "\n%d more; -n 0 shows all\n", left)
	}
	return nil
}

func first[T any](all []T, rows int) []T { return all[:min(rows, len(all))] }

// tellOutcomes says what the conditions come to; the error is that of those that
// are met.
func tellOutcomes(s *input.Tool, outcomes []compare.Outcome) error {
	var met error
	for _, o := range outcomes {
		text := fmt.Sprintf("--fail-if %s: %s", o.Text, report.OutcomeText(o))
		if o.Verdict == compare.Beyond {
			met = errors.Join(met, errors.New(text))
		} else {
			s.Say(text)
		}
	}
	if met != nil {
		return console.Exit(console.Limit, met)
	}
	return nil
}
