package app_test

import (
	"fmt"
	"io"
	"os"
	"strings"

	"gprof/cmd/gprof-convert/app"
	"gprof/convert"
	"gprof/stream"
)

// tally is a sink of one's own: it writes how many rows it got.
type tally struct {
	w    io.Writer
	rows int
}

func (s *tally) Begin(*stream.Tables) error { return nil }

func (s *tally) Segment(b *stream.Batch) error {
	s.rows += b.Len()
	return nil
}

func (s *tally) Close() error {
	_, err := fmt.Fprintln(s.w, s.rows, "rows")
	return err
}

// A format of one's own joins those of the command, here for a text of perf script.
func ExampleRun() {
	extensions := app.Extensions{Sinks: []convert.Format{{
		Name: "tally", Text: "the number of rows", Extensions: []string{".tally"},
		Open: func(w io.Writer, _ convert.Options) stream.Sink { return &tally{w: w} },
	}}}
	input := strings.NewReader("shop 7/8 100.000001:     250000 cpu-clock:\n\t          401010 main.work+0x10 (/srv/shop)\n\n")
	code := app.Run(extensions, []string{"-", "--format", "tally", "-o", "-", "-q"}, input, os.Stdout, os.Stderr)
	fmt.Println("exit code", code)
	// Output:
	// 1 rows
	// exit code 0
}
