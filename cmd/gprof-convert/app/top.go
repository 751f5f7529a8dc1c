package app

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gprof/cmd/internal/console"
	"gprof/cmd/internal/conversion"
	"gprof/cmd/internal/input"
	"gprof/cmd/internal/ranking"
	"gprof/cmd/internal/report"
	"gprof/cmd/internal/source"
	"gprof/convert/top"
	"gprof/stream"
)

type topCmd struct {
	Inputs []string `arg:"" name:"input" help:"${inputs}"`
	By     string   `default:"${way}" enum:"${ways}" placeholder:"WHAT" help:"What to sum up by: ${enum}."`
	Of     string   `default:"auto" placeholder:"KIND" help:"What to sum up at stacks: cpu, samples with CPU time; samples, those without, by their number; heap, bytes in use at the end; allocations, bytes; waits, time that goroutines waited; or what a profile measures itself, such as wall or cache-misses. Default: cpu if all samples have it, else all samples; without samples what there is."`
	Source string   `placeholder:"FUNC" help:"Show the lines of a function, with their source where it is found. The name may lack the path of its package."`
	Rows   int      `short:"n" default:"20" placeholder:"N" help:"How many rows to show; 0 is all. Default: ${default}."`
	JSON   bool     `name:"json" help:"Print JSON, with both samples and CPU time."`
	sourceFlags
	conversion.Flags
}

func (c *topCmd) Help() string {
	return `Examples:
  gprof-convert top out/session
  gprof-convert top --by package -n 10 out/session
  gprof-convert top --by marker --last 1m 'dumps/*.gprof'
  gprof-convert top --of heap out/session
  gprof-convert top --of cache-misses perf.data
  gprof-convert top --by counter -n 0 out/session
  gprof-convert top --source main.work out/session
  gprof-convert top --json out/session | jq -r '.rows[0].name'

Self is what a function took by itself, total is that with all that it called; a
function that calls itself has each sample once. Both are CPU time where it is
known of all samples, else samples; --of sums up the heap, allocations or waits,
and says how old that is, or what another tool measured. Of markers there are number, time, and the durations that
half of them, 99 of 100 and all of them stayed within; of counters the last value,
and the least, the mean over time and the most: of what counts up, in a second.`
}

// Run prints the table.
func (c *topCmd) Run(s *input.Tool) error {
	c.Apply()
	if c.Rows < 0 {
		return console.Exit(console.Usage, fmt.Errorf("--rows %d: want a number of rows, or 0 for all", c.Rows))
	}
	if c.Source != "" {
		return c.list(s)
	}
	sink, err := top.New(c.By, c.Of)
	if err != nil {
		return console.Exit(console.Usage, err)
	}
	read, err := c.sumUp(s, sink)
	if err != nil {
		return err
	}
	if err := c.print(s, sink.Table); err != nil {
		return err
	}
	c.Tell(s, "", read)
	if !c.Quiet {
		s.Hint(c.hint(sink.Table, read))
	}
	return c.JudgeAll(read)
}

// hint says what else there is to sum up, or why there is nothing.
func (c *topCmd) hint(t *top.Table, read *conversion.Digest) string {
	switch {
	case c.By == top.Marker || c.By == top.Counter:
		return ""
	case c.Of != top.Auto && len(t.Rows) == 0:
		return nothingOf(c.Of)
	case c.Of == top.Auto && t.Of == top.Auto:
		return report.UnseenHint(read.Unseen)
	}
	others := slices.DeleteFunc(slices.Clone(t.Measures), func(name string) bool { return name == t.Of })
	if c.Of != top.Auto || len(others) == 0 {
		return ""
	}
	return "there are no samples, so these are " + t.Of + "; --of also knows " + strings.Join(others, ", ")
}

// nothingOf says why there is nothing to sum up.
func nothingOf(what string) string {
	if what == top.Samples {
		return "no sample is without CPU time; --of cpu sums up those that have it"
	}
	return "nothing of that kind was recorded, or chosen; gprof-convert info counts what there is"
}

// sumUp passes the inputs to a sink.
func (c *topCmd) sumUp(s *input.Tool, sink stream.Sink) (*conversion.Digest, error) {
	found, err := c.Open(s, c.Inputs, "")
	if err != nil {
		return nil, err
	}
	read, err := c.Digest(s, found, sink)
	if none := (*top.MeasureError)(nil); errors.As(err, &none) {
		err = console.Exit(console.Usage, fmt.Errorf("--of: %w", none))
	}
	return read, err
}

// list prints the lines of a function.
func (c *topCmd) list(s *input.Tool) error {
	if c.By != top.Ways()[0] {
		return console.Exit(console.Usage, errors.New("--source sums up by line, so --by has no place"))
	}
	sink, err := top.NewSource(c.Source, c.Of)
	if err != nil {
		return console.Exit(console.Usage, err)
	}
	read, err := c.sumUp(s, sink)
	if err != nil {
		return err
	}
	l := sink.Listing
	if len(l.Functions) == 0 {
		s.Hint(similar(l.Similar))
		return fmt.Errorf("no function %q has samples", c.Source)
	}
	c.fill(l)
	if c.JSON {
		err = report.WriteJSON(s.Stdout, l)
	} else {
		ranking.PrintSource(s.Stdout, l, s.Width())
	}
	if err != nil {
		return err
	}
	c.Tell(s, "", read)
	return c.JudgeAll(read)
}

func similar(names []string) string {
	if len(names) == 0 {
		return "gprof-convert top names those that have"
	}
	return "there are " + strings.Join(names, ", ")
}

// around is how many lines stand around each that took something.
const around = 2

// fill adds the texts of lines, and of some around them.
func (c *topCmd) fill(l *top.Listing) {
	finder := source.Finder{Dirs: c.Dirs, Recorded: time.Unix(0, l.Recorded), Go: l.Go}
	for i := range l.Functions {
		f := &l.Functions[i]
		last := 0
		for _, line := range f.Lines {
			last = max(last, line.Line)
		}
		text, err := finder.Find(f.File, source.Function{Name: f.Name, Start: f.Start, Last: last})
		if err != nil {
			f.Missing = err.Error()
			continue
		}
		f.Found, f.Note = text.Path, text.Note
		var filled []top.Line
		next := 1 // line
		for _, line := range f.Lines {
			for at := max(next, f.Start, line.Line-around); at < line.Line; at++ {
				filled = append(filled, top.Line{Line: at, Text: text.Lines[at-1]})
			}
			if line.Line > 0 {
				line.Text = text.Lines[line.Line-1]
			}
			filled = append(filled, line)
			next = line.Line + 1
		}
		f.Lines = filled
	}
}

func (c *topCmd) print(s *input.Tool, t *top.Table) error {
	all := len(t.Rows) + len(t.Markers) + len(t.Counters)
	if c.Rows > 0 {
		t.Rows, t.Markers, t.Counters = first(t.Rows, c.Rows), first(t.Markers, c.Rows), first(t.Counters, c.Rows)
	}
	if c.JSON {
		return report.WriteJSON(s.Stdout, t)
	}
	ranking.Print(s.Stdout, t, s.Width())
	if left := all - len(t.Rows) - len(t.Markers) - len(t.Counters); left > 0 {
		fmt.Fprintf(s.Stdout, "%d more; -n 0 shows all\n", left)
	}
	return nil
}
