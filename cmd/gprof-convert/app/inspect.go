package app

import (
	"bufio"
	"errors"
	"io"

	"gprof/cmd/internal/input"
	"gprof/cmd/internal/selection"
	"gprof/ingest"
)

type inspectCmd struct {
	Input string `arg:"" help:"Process directory, session directory or a file of one; an archive of them; - for stdin."`
	selection.Raw
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
func (c *inspectCmd) Run(s *input.Tool) error {
	w := bufio.NewWriter(s.Stdout)
	return errors.Join(c.inspect(s, w), w.Flush())
}

func (c *inspectCmd) inspect(s *input.Tool, w io.Writer) error {
	if !ingest.HoldsFiles(c.Input, s.Sources...) {
		return ingest.Inspect(w, c.Input)
	}
	found, err := s.OpenRaw([]string{c.Input}, input.Patience{Stall: ingest.DefaultStall})
	if err != nil {
		return err
	}
	defer found.Close()
	return errors.Join(found.Inspect(w), input.Partly(found))
}
