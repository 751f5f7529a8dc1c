package batch

import (
	"fmt"
	"strings"

	"gprof/cmd/internal/console"
	"gprof/cmd/internal/human"
	"gprof/cmd/internal/input"
)

// maxNamed is the most items with problems that are named.
const maxNamed = 20

// printBatch says what became of the items or, if quiet, which failed.
func printBatch(s *input.Tool, items []*item, quiet bool) {
	var before, nothing, failed, lossy, partly int
	for _, it := range items {
		switch lost := it.losses(); {
		case it.nothing:
			nothing++
		case it.err != nil:
			failed++
			if failed <= maxNamed {
				s.Warn(fmt.Errorf("%s: not converted: %s", it.name, human.OneLine(it.err)))
			}
		case len(lost) > 0 || it.incomplete():
			lossy++
			if it.incomplete() {
				partly++
				lost = append(lost, "parts could not be read")
			}
			if lossy <= maxNamed && !quiet {
				s.Warn(fmt.Errorf("%s: not all of it is in the output: %s", it.name, strings.Join(lost, ", ")))
			}
		}
		if it.asBefore {
			before++
		}
	}
	if quiet {
		return
	}
	none := ""
	if nothing > 0 {
		none = fmt.Sprintf(", %d have nothing that was asked for", nothing)
	}
	damaged := ""
	if partly > 0 {
		damaged = fmt.Sprintf(", %d of them because parts could not be read", partly)
	}
	s.Say(fmt.Sprintf("%d of %d converted, %d were done before%s, %d failed; %d lack something that was recorded%s",
		len(items)-before-nothing-failed, len(items), before, none, failed, lossy, damaged))
}

// judgeAll returns the error of the batch.
func (b *batch) judgeAll(items []*item) error {
	var nothing, failed, again, lossy, hit int
	for _, it := range items {
		switch {
		case it.nothing:
			nothing++
		case it.err != nil || it.incomplete():
			failed++
			if input.MayWorkAgain(it.err) || it.passing() {
				again++
			}
		case len(it.losses()) > 0:
			lossy++
		}
		if b.Hits(it.reasons()) {
			hit++
		}
	}
	switch {
	case nothing == len(items):
		return fmt.Errorf("no input has what was asked for; of the first: %w", items[0].err)
	case again > 0:
		return console.Exit(console.Again, fmt.Errorf("%d of %d inputs were not converted, or not all of them; for %d of them that is not for what they hold: start the batch again", failed, len(items), again))
	case failed > 0:
		return fmt.Errorf("%d of %d inputs were not converted, or not all of them; mend or replace them and start the batch again: the others are left as they are", failed, len(items))
	case b.Strict && lossy > 0:
		return console.Exit(console.Lossy, fmt.Errorf("something recorded is missing from %d of %d outputs", lossy, len(items)))
	case hit > 0:
		return console.Exit(console.Limit, fmt.Errorf("--fail-if %s: %d of %d outputs", b.Text(), hit, len(items)))
	}
	return nil
}
