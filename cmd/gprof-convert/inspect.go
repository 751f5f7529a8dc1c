package main

import (
	"bufio"
	"errors"
	"io"

	"gprof/ingest"
)

type inspectCmd struct {
	Input string `arg:"" help:"Process directory, session directory or a file of one; an archive of them; - for stdin."`
	raw
}

func (c *inspectCmd) Help() string {
	return `Examples:
  gprof-convert inspect out/session/0123456789abcdef/chunk-00000
  gprof-convert inspect out/session | less
  gprof-convert inspect dump.tar.gz | grep -c " instant "

The text is exact: it holds every byte that counts, one line a block, in the
words of package rawformat. Files are separated as in a txtar archive.`
}

// Run prints the text twin of a file, or of all files of a directory or an
// archive.
func (c *inspectCmd) Run(s *streams) error {
	w := bufio.NewWriter(s.stdout)
	return errors.Join(c.inspect(s, w), w.Flush())
}

func (c *inspectCmd) inspect(s *streams, w io.Writer) error {
	if !ingest.HoldsFiles(c.Input) {
		return ingest.Inspect(w, c.Input)
	}
	found, err := s.openRaw([]string{c.Input}, waiting{ingest.DefaultStall})
	if err != nil {
		return err
	}
	defer found.Close()
	return errors.Join(found.Inspect(w), partly(found))
}
