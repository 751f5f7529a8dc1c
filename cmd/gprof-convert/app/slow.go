package app

import (
	"errors"
	"io/fs"

	"gprof/cmd/internal/console"
	"gprof/cmd/internal/conversion"
	"gprof/cmd/internal/input"
	"gprof/cmd/internal/output"
	"gprof/cmd/internal/report"
	"gprof/convert/slow"
)

type slowCmd struct {
	Marker string   `arg:"" help:"Which markers, of those that gprof-convert top --by marker lists: 'http.request[duration>p99]', 'order[duration>100ms, items>=20]'. Without brackets: [duration>p99]."`
	Inputs []string `arg:"" name:"input" help:"${inputs}"`
	JSON   bool     `name:"json" help:"Print JSON, with all that was found."`
	HTML   string   `name:"html" placeholder:"FILE" help:"Also write a page that needs no other file."`
	CSV    string   `name:"csv" placeholder:"FILE" help:"Also write a row for each marker, with its own split, as comma-separated values: for SQL."`
	conversion.Flags
}

func (c *slowCmd) Help() string {
	return `Examples:
  gprof-convert slow http.request out/session
  gprof-convert slow 'http.request[duration>p99.9, status=200]' --last 5m out/session
  gprof-convert slow 'order[duration>100ms]' 'pods/*.gprof' --html slow.html
  gprof-convert slow order out/session --csv slow.csv
  gprof-convert slow --json order out/session | jq '.more[] | select(.found)'

The markers that fulfil the conditions are compared with all others of the same
name. p99 is the percentile of each name's durations, by the nearest rank, among
the markers that fulfil the other conditions and are left by the other flags: of n
of them, in the order of their durations, number 99n/100, rounded up. "Above p99"
has none of less than 101.

The time is that of the goroutine on which the marker began. Where an execution
trace covers it, the split is exact; elsewhere it is estimated, with ± two
standard errors, from CPU samples and from rounds over goroutines that wait; what
neither tells is unknown. A star marks what is more than chance. Markers that
never ended are told of apart.`
}

// Run prints the comparison.
func (c *slowCmd) Run(s *input.Tool) error {
	c.Apply()
	query, err := slow.Default(c.Marker)
	if err != nil {
		return console.Exit(console.Usage, err)
	}
	c.States = true
	found, err := c.Open(s, c.Inputs, "")
	if err != nil {
		return err
	}
	perm := found.Perm()
	options := slow.Options{Query: query, SpillDir: output.TempDir()}
	rows, err := c.rows(s, &options, perm)
	if err != nil {
		found.Close()
		return err
	}
	defer s.Outputs.Discard(rows...) // unless they are whole
	sink := slow.New(options)
	read, err := c.Digest(s, found, sink)
	if err != nil {
		return err
	}
	if sink.Nothing != nil {
		return sink.Nothing
	}
	if err := errors.Join(s.Outputs.Commit(rows...), c.write(s, &sink.Report, perm)); err != nil {
		return err
	}
	c.Tell(s, "", read)
	return c.JudgeAll(read)
}

// rows creates the file of rows, if one is wanted.
func (c *slowCmd) rows(s *input.Tool, o *slow.Options, perm fs.FileMode) ([]output.Product, error) {
	if c.CSV == "" {
		return nil, nil
	}
	out, err := s.Outputs.Create(c.CSV, false, perm)
	o.Rows = out
	return []output.Product{out}, err
}

// write writes the report; perm is what the page may be read by.
func (c *slowCmd) write(s *input.Tool, r *slow.Report, perm fs.FileMode) error {
	if err := c.page(s, r, perm); err != nil {
		return err
	}
	if c.JSON {
		return report.WriteJSON(s.Stdout, r)
	}
	report.PrintSlow(s.Stdout, r, s.Width())
	return nil
}

func (c *slowCmd) page(s *input.Tool, r *slow.Report, perm fs.FileMode) error {
	if c.HTML == "" {
		return nil
	}
	out, err := s.Outputs.Create(c.HTML, false, perm)
	if err != nil {
		return err
	}
	if err := r.WriteHTML(out); err != nil {
		s.Outputs.Discard(out)
		return err
	}
	return s.Outputs.Commit(out)
}
