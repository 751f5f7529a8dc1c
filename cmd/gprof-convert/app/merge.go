package app

import (
	"gprof/cmd/internal/input"
	"gprof/ingest"
)

type mergeCmd struct {
	Inputs []string `arg:"" name:"input" help:"Packed files, session directories or process directories."`
	packOutput
	input.Patience
}

func (c *mergeCmd) Help() string {
	return `Examples:
  gprof-convert merge pods/*.gprof -o incident.gprof
  gprof-convert merge monday.gprof /dev/shm/gprof/checkout -o both.gprof

The inputs become one packed file with all their processes, in any order the same
bytes. Dumps of one process from different times become one recording of it.
No event is decoded: it takes as long as copying and compressing.`
}

// Run packs all processes of the inputs together.
func (c *mergeCmd) Run(s *input.Tool) error {
	found, err := s.OpenRaw(c.Inputs, c.Patience)
	if err != nil {
		return err
	}
	defer found.Close()
	return c.write(s, found, ingest.PackSpan{})
}
