package main

import "fmt"

type unpackCmd struct {
	Inputs []string `arg:"" name:"input" help:"Packed files."`
	Output string   `short:"o" required:"" placeholder:"DIR" help:"Directory to write; it becomes a session directory."`
	Quiet  bool     `short:"q" help:"No summary on stderr."`
	raw
	waiting
}

func (c *unpackCmd) Help() string {
	return `Examples:
  gprof-convert unpack checkout.gprof -o checkout

Each process becomes a folder with the files that its recorder wrote, bit for
bit. Nothing is written over and nothing outside of DIR.`
}

// Run unpacks what the inputs hold.
func (c *unpackCmd) Run(s *streams) error {
	found, err := s.openRaw(c.Inputs, c.waiting)
	if err != nil {
		return err
	}
	defer found.Close()
	out, err := s.createFolder(c.Output, ".unpack-")
	if err != nil {
		return err
	}
	lost := 0
	err = found.Unpack(out.dir, func(err error) {
		lost++
		s.problem("warning", err)
	})
	if err != nil {
		out.discard()
		return err
	}
	if err := out.commit(); err != nil {
		return err
	}
	if !c.Quiet {
		s.say(fmt.Sprintf("wrote %s: %s", c.Output, count(len(found.Processes), "process")))
	}
	return incomplete(found, lost)
}
