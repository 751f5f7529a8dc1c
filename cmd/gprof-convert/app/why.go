package app

import (
	"strings"

	"gprof/cmd/internal/console"
	"gprof/cmd/internal/conversion"
	"gprof/cmd/internal/human"
	"gprof/cmd/internal/input"
	"gprof/cmd/internal/report"
	"gprof/convert/why"
	"gprof/ingest"
	"gprof/stream"
)

type whyCmd struct {
	Inputs []string `arg:"" name:"input" help:"${inputs}"`
	JSON   bool     `name:"json" help:"Print JSON, with all findings."`
	conversion.Flags
}

func (c *whyCmd) Help() string {
	return `Examples:
  gprof-convert why out/session
  gprof-convert why --last 30s --to crash out/session
  gprof-convert why --json 'dumps/*.gprof' | jq -r '.findings[] | select(.severity == "cause") | .text'

The first line says how it ended. Findings follow, the surest first, each with its
evidence and a command that shows more:
  cause    it changed, or grew without end, and what did it is known
  likely   something went wrong; it may be the effect of something else
  note     worth knowing; healthy programs have it, too
Then what the recording can't tell, and what to record for it. Each process is
compared with its own history: the last five minutes are looked at closely.`
}

// Run prints what was found.
func (c *whyCmd) Run(s *input.Tool) error {
	c.Apply()
	found, err := c.Open(s, c.Inputs, "")
	if err != nil {
		return err
	}
	from, to, err := c.Span(found)
	if err != nil {
		found.Close()
		return console.Exit(console.Usage, err)
	}
	sink := why.New(why.Options{From: from, To: to, Ended: ended(found)})
	var survey report.Survey
	read, err := c.Digest(s, found, stream.Tee(sink, survey.Sink()))
	if err != nil {
		return err
	}
	w := report.NewWhy(&sink.Report, &survey, found, c.Redact.Given)
	if c.JSON {
		err = report.WriteJSON(s.Stdout, w)
	} else {
		w.Print(s.Stdout, c.command)
	}
	if err != nil {
		return err
	}
	c.Tell(s, "", read)
	return c.JudgeAll(read)
}

// ended reports which processes are known to have ended: not those that are being recorded, and not those of
// files of other tools, which don't tell.
func ended(found *ingest.Found) func(*stream.Process) bool {
	known := map[uint64]bool{}
	for _, p := range found.Processes {
		format, _ := p.Foreign()
		known[p.Instance] = format == "" && (p.Exit != nil || !p.Alive && !p.Snapshot())
	}
	return func(p *stream.Process) bool { return known[p.Instance] }
}

// command is the line that shows more of a finding.
func (c *whyCmd) command(args []string) string {
	words, flags := []string{"gprof-convert"}, 1
	for flags < len(args) && !strings.HasPrefix(args[flags], "-") {
		flags++
	}
	for _, list := range [][]string{args[:flags], c.Inputs, args[flags:]} {
		for _, w := range list {
			words = append(words, human.Word(w))
		}
	}
	return strings.Join(words, " ")
}
