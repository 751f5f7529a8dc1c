package app

import (
	"fmt"

	"gprof/cmd/internal/human"
	"gprof/cmd/internal/input"
	"gprof/cmd/internal/selection"
)

type unpackCmd struct {
	Inputs []string `arg:"" name:"input" help:"Packed files."`
	Output string   `short:"o" required:"" placeholder:"DIR" help:"Directory to write; it becomes a session directory."`
	Quiet  bool     `short:"q" help:"No summary on stderr."`
	selection.Raw
	input.Patience
}

func (c *unpackCmd) Help() string {
	return `Examples:
  gprof-convert unpack checkout.gprof -o checkout

Each process becomes a folder with the files that its recorder wrote, bit for
bit. Nothing is written over and nothing outside of DIR.`
}

// Run unpacks what the inputs hold.
func (c *unpackCmd) Run(s *input.Tool) error {
	found, err := s.OpenRaw(c.Inputs, c.Patience)
	if err != nil {
		return err
	}
	defer found.Close()
	out, err := s.Outputs.CreateFolder(c.Output, ".unpack-")
	if err != nil {
		return err
	}
	lost := 0
	err = found.Unpack(out.Dir, func(err error) {
		lost++
		s.Warn(err)
	})
	if err != nil {
		out.Discard()
		return err
	}
	if err := out.Commit(); err != nil {
		return err
	}
	if !c.Quiet {
		s.Say(fmt.Sprintf("wrote %s: %s", c.Output, human.Plural(len(found.Processes), "process")))
	}
	return incomplete(found, lost)
}
