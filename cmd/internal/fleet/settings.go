package fleet

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"gprof/cmd/internal/console"
	"gprof/cmd/internal/conversion"
	"gprof/cmd/internal/input"
	"gprof/cmd/internal/selection"
)

// Settings are the flags of a plan that hold for all of its tasks.
type Settings struct {
	Format []string `short:"f" default:"parquet" placeholder:"NAME" help:"Format, or several of them: ${formats}. Default: ${default}."`
	SumBy  string   `default:"service" enum:"service,all" placeholder:"WHAT" help:"With --sum, one profile for each service, or of all. Default: ${default}."`
	conversion.Columns
	conversion.Sums
	input.Reading
	selection.Selection
}

// Machine are the flags of what runs here, on which no output depends.
type Machine struct {
	Quiet bool `short:"q" help:"No progress, no summary."`
	input.Resources
}

// flags are those of a conversion by these settings.
func (c *Settings) flags(m *Machine) conversion.Flags {
	return conversion.Flags{Quiet: m.Quiet, Resources: m.Resources, Reading: c.Reading, Selection: c.Selection}
}

// targets are the formats, without names.
func (c *Settings) targets(s *input.Tool) (all []conversion.Target, err error) {
	for _, name := range c.Format {
		f, o, err := s.Formats.ByFormat(name)
		if err != nil {
			return nil, err
		}
		all = append(all, conversion.Target{Format: f, Options: o})
	}
	return all, errors.Join(c.Compress(all), c.Sums.Set(s.Formats, all))
}

// check refuses what would come out otherwise on another machine, or with other tasks.
func (c *Settings) check(s *input.Tool) error {
	_, err := c.targets(s)
	if err != nil {
		return console.Exit(console.Usage, err)
	}
	for _, path := range c.Symbols {
		if _, err := os.Stat(path); err != nil {
			return console.Exit(console.Usage, fmt.Errorf("--symbols: %w", err))
		}
	}
	return errors.Join(c.Filter.Check(), c.Lasting(), c.Prepare())
}

// notKept are the flags of plan, and of batch, that its tasks don't need, or that are written anew, with whether a value follows.
var notKept = map[string]bool{"-o": true, "--output": true, "-f": true, "--format": true, "--symbols": true, "--redact-key": true, "--task-size": true, "-j": true, "--jobs": true, "--mem": true, "-q": false, "--quiet": false,
	"--together": false, "--again": false, "--keep-removed": false, "--strict": false, "--fail-if": true, "--per": true} // of batch

// words are those of the command line that are settings: all but the command, the inputs, and
// the flags that no task needs.
func (c *Settings) words(s *input.Tool, inputs []string) ([]string, error) {
	kept, left := []string{}, slices.Clone(inputs)
	all := s.Words[min(1, len(s.Words)):]
	for i := 0; i < len(all); i++ {
		name, _, joined := strings.Cut(all[i], "=")
		if len(name) > 2 && name[0] == '-' && name[1] != '-' { // -oOUT
			name, joined = name[:2], true
		}
		value, out := notKept[name]
		if c.Sums == (conversion.Sums{}) && (name == "--sum" || name == "--buckets") { // which other outputs of the command have
			value, out = name == "--buckets", true
		}
		at := slices.Index(left, all[i])
		switch {
		case out && value && !joined:
			i++
		case out:
		case at >= 0:
			left = slices.Delete(left, at, at+1)
		default:
			kept = append(kept, all[i])
		}
	}
	kept = append(kept, "--format="+strings.Join(c.Format, ","))
	for _, at := range c.Reading.Symbols { // whole, for a worker may begin elsewhere
		kept = append(kept, "--symbols="+at)
	}
	if c.RedactKey != "" {
		kept = append(kept, "--redact-key="+c.RedactKey)
	}
	again, err := parse(s, kept)
	if err == nil {
		err = again.Prepare()
	}
	if err != nil || !reflect.DeepEqual(again.Settings, *c) {
		return nil, console.Exit(console.Usage, fmt.Errorf("can't tell the flags from the inputs in %q; write values behind =, as in --symbols=bin, and -o apart from its value", all))
	}
	return kept, nil
}

// grammar is that of the words of a plan.
type grammar struct{ Settings }

// parse reads the words of a plan.
func parse(s *input.Tool, words []string) (*grammar, error) {
	g := new(grammar)
	k, err := kong.New(g, kong.Vars{"formats": input.FormatNames(s.Formats)}, kong.Writers(io.Discard, io.Discard), kong.NoDefaultHelp(), kong.Exit(func(int) {}))
	if err == nil {
		_, err = k.Parse(words)
	}
	return g, err
}
