package app

import (
	"fmt"
	"strings"

	"gprof/cmd/internal/human"
	"gprof/cmd/internal/input"
	"gprof/cmd/internal/report"
	"gprof/ingest"
	"gprof/stream/wording"
)

type verifyCmd struct {
	Inputs []string `arg:"" name:"input" help:"Sessions: directories, archives (tar, tar.gz, tar.zst, zip, .gprof), chunk files, quoted patterns of them, or - for stdin."`
	JSON   bool     `name:"json" help:"Print JSON."`
	input.Patience
}

func (c *verifyCmd) Help() string {
	return `Examples:
  gprof-convert verify out/session
  gprof-convert verify out/session | tail -1
  gprof-convert verify --json dump | jq '.processes[] | select(.damaged) | .files[] | select(.state == "damaged")'

Each chunk, dictionary and stack ring (samples that a killed process had not moved
into chunks yet) has a line; the last line says what to do. Pages that
are sealed are proven by their checksums. What was written in the last moments
before a kill is not sealed: it is read, and called unproven. Exit code 1 means
that something is damaged or missing.`
}

// Run reads every byte that counts and reports what does not fit.
func (c *verifyCmd) Run(s *input.Tool) error {
	found, err := s.OpenRaw(c.Inputs, c.Patience)
	if err != nil {
		return err
	}
	defer found.Close()
	if n := found.Unverified(); n == len(found.Processes) {
		return fmt.Errorf("nothing to verify: %s in files of other tools, which hold nothing that proves them", human.Plural(n, "process"))
	} else if n > 0 {
		s.Warn(fmt.Errorf("%s in files of other tools not verified: they hold nothing that proves them", human.Plural(n, "process")))
	}
	verdicts := found.Verify()
	sum := report.NewVerdictSum(found, verdicts)
	if c.JSON {
		err = report.WriteJSON(s.Stdout, struct {
			Summary   string           `json:"summary"`
			Processes []ingest.Verdict `json:"processes"`
		}{sum.String(), verdicts})
	} else {
		report.PrintVerdicts(s.Stdout, verdicts)
		fmt.Fprintln(s.Stdout, wording.Printable(sum.String()))
	}
	if err != nil {
		return err
	}
	if len(sum.Damaged) > 0 {
		return fmt.Errorf("damaged: %s", strings.Join(sum.Damaged, ", "))
	}
	return input.Partly(found)
}
