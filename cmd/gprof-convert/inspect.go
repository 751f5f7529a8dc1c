package main

import (
	"bufio"

	"gprof/ingest"
)

type inspectCmd struct {
	Input string `arg:"" help:"Process directory, session directory or a file of one."`
}

func (c *inspectCmd) Help() string {
	return `Examples:
  gprof-convert inspect out/session/0123456789abcdef/chunk-00000
  gprof-convert inspect out/session | less

The text is exact: it holds every byte that counts, one line a block, in the
words of package rawformat. Files are separated as in a txtar archive.`
}

// Run prints the text twin of a file, or of all files of a directory.
func (c *inspectCmd) Run(s *streams) error {
	w := bufio.NewWriter(s.stdout)
	if err := ingest.Inspect(w, c.Input); err != nil {
		w.Flush()
		return err
	}
	return w.Flush()
}
