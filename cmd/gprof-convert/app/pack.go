package app

import (
	"fmt"
	"time"

	"gprof/cmd/internal/console"
	"gprof/cmd/internal/human"
	"gprof/cmd/internal/input"
	"gprof/cmd/internal/output"
	"gprof/cmd/internal/report"
	"gprof/cmd/internal/selection"
	"gprof/ingest"
)

type packCmd struct {
	Inputs []string `arg:"" name:"input" help:"Session directories, process directories or packed files."`
	packOutput
	input.Patience
}

// packOutput is where an archive goes.
type packOutput struct {
	selection.Raw
	Output string `short:"o" required:"" placeholder:"FILE.gprof" help:"File to write. - is stdout."`
	Quiet  bool   `short:"q" help:"No progress, no summary on stderr."`
}

func (c *packCmd) Help() string {
	return `Examples:
  gprof-convert pack /dev/shm/gprof/checkout -o checkout.gprof
  gprof-convert pack out/session -o - | ssh host 'cat > session.gprof'

A packed file holds the same bytes in about half the room, chunk by chunk, and is
an input of every command. A session that is being recorded is packed as it is at
one moment; recording goes on. The same recording gives the same bytes.`
}

// Run packs all that the inputs hold.
func (c *packCmd) Run(s *input.Tool) error {
	found, err := s.OpenRaw(c.Inputs, c.Patience)
	if err != nil {
		return err
	}
	defer found.Close()
	return c.write(s, found, ingest.PackSpan{})
}

// write writes an archive of what was found. It appears only when it is whole.
func (c *packOutput) write(s *input.Tool, found *ingest.Found, span ingest.PackSpan) error {
	if c.Output != "-" && found.Reads(c.Output) {
		return console.Exit(console.Usage, fmt.Errorf("%s lies among the files of a recording; give it a name elsewhere", c.Output))
	}
	out, err := s.Outputs.Create(c.Output, true, found.Perm())
	if err != nil {
		return err
	}
	sum, lost, err := c.stream(s, out, found, span)
	if err != nil {
		out.Discard()
		return err
	}
	if err := out.Commit(); err != nil {
		return err
	}
	if !c.Quiet {
		s.Say(packedText(c.Output, sum) + c.kept(s, span))
	}
	if span == (ingest.PackSpan{}) {
		warnDamaged(s, found)
	}
	return incomplete(found, lost)
}

// warnDamaged tells of damage that was copied: while the recordings themselves are there, something may still be done
// about it. A slice is not looked at, for most of its recording is not even read.
func warnDamaged(s *input.Tool, found *ingest.Found) {
	const most = 3
	damaged := found.Damaged()
	for _, v := range damaged[:min(most, len(damaged))] {
		s.Warn(fmt.Errorf("%s is damaged: %s; gprof-convert verify says more", v.Dir, v.First()))
	}
	if n := len(damaged) - most; n > 0 {
		s.Warn(fmt.Errorf("damaged, too: %s; gprof-convert verify names them", human.Plural(n, "recording")))
	}
}

// kept says from when to when a slice reaches: a little more than was asked for.
func (c *packOutput) kept(s *input.Tool, span ingest.PackSpan) string {
	if span == (ingest.PackSpan{}) || c.Output == "-" {
		return ""
	}
	found, err := s.OpenRaw([]string{c.Output}, input.Patience{})
	if err != nil {
		return "" // nothing is in it
	}
	defer found.Close()
	from, to := found.Kept()
	if from == 0 {
		return ""
	}
	return fmt.Sprintf("; kept %v, from %s to %s UTC", time.Duration(to-from).Round(time.Millisecond), report.Moment(from).Format("2006-01-02 15:04:05.000"), report.Moment(to).Format("15:04:05.000"))
}

// incomplete is the error of a command that copied what it could: lost files
// could not be read, or an input is not whole.
func incomplete(found *ingest.Found, lost int) error {
	if n := lost + len(found.Warnings); n > 0 {
		return fmt.Errorf("damaged or missing: %s named above; the rest is there", human.Plural(n, "thing"))
	}
	return nil
}

// stream writes the archive; lost counts what could not be packed.
func (c *packOutput) stream(s *input.Tool, out *output.File, found *ingest.Found, span ingest.PackSpan) (sum ingest.PackSummary, lost int, err error) {
	bar := s.NewBar(c.Quiet)
	defer bar.End()
	task := bar.Task()
	report := func(err error) {
		lost++
		s.Warn(err)
	}
	sum, err = found.Pack(out, ingest.PackOptions{Span: span, Report: report,
		Progress: func(done, total int64) { task.Show(done, total, console.PhasePacking) }})
	return sum, lost, err
}

// packedText sums an archive up.
func packedText(name string, sum ingest.PackSummary) string {
	text := fmt.Sprintf("wrote %s: %s, %s, %s of %s", name, human.Plural(sum.Processes, "process"), human.Plural(sum.Chunks, "chunk"), human.Bytes(sum.Size), human.Bytes(sum.Raw))
	if sum.LeftOut > 0 {
		text += fmt.Sprintf("; %d chunks left out", sum.LeftOut)
	}
	if sum.Reused > 0 {
		text += fmt.Sprintf("; %d chunks were used again before they could be copied", sum.Reused)
	}
	return text
}
