// Package conversion turns the recordings that were found into outputs, all in one pass,
// and reports what is missing from them.
//
//  1. [TargetsOf] reads the outputs that the user asks for.
//  2. [Flags.Open] finds the recordings.
//  3. [Flags.Do] copies their events to all targets. Outputs appear when all are whole.
//  4. [Flags.Conclude] prints what was written and what is missing; its error has the
//     exit code.
package conversion

import (
	"errors"
	"fmt"
	"slices"

	"gprof/cmd/internal/console"
	"gprof/cmd/internal/input"
	"gprof/cmd/internal/output"
	"gprof/cmd/internal/report"
	"gprof/cmd/internal/selection"
	"gprof/ingest"
	"gprof/stream"
	"gprof/stream/filter"
)

// Flags are the flags of all commands that convert.
type Flags struct {
	Strict bool `help:"Exit with 3 if something recorded is missing from the output."`
	Quiet  bool `short:"q" help:"No progress, no ledger on stderr."`
	Limits
	input.Resources
	input.Reading
	selection.Selection
}

// Options are the flags of reading.
func (c *Flags) Options(s *input.Tool, temp string) ingest.Options {
	return c.Reading.Options(s, c.Jobs, &c.Expiry, temp)
}

// Open finds the recordings to convert to targets, if there are any. The caller closes what was
// found. Temp is a directory for temporary files, "" the usual one.
func (c *Flags) Open(s *input.Tool, inputs []string, temp string, targets ...Target) (*ingest.Found, error) {
	if err := c.Limits.Alone(); err != nil {
		return nil, err
	}
	return c.OpenSet(s, inputs, temp, targets...)
}

// OptionsFor are the flags of reading for what the targets show.
func (c *Flags) OptionsFor(s *input.Tool, targets []Target, temp string) ingest.Options {
	o := c.Options(s, temp)
	apart := func(t Target) bool { return t.Many || !t.Format.Summed && !(t.Format.Sums && t.Options.Sum) }
	o.Sum = len(targets) > 0 && c.Filter.Whole() && !slices.ContainsFunc(targets, apart)
	return o
}

// OpenSet is Open for a command that compares.
func (c *Flags) OpenSet(s *input.Tool, inputs []string, temp string, targets ...Target) (*ingest.Found, error) {
	if err := c.Filter.Check(); err != nil {
		return nil, err
	}
	if err := c.Prepare(); err != nil {
		return nil, err
	}
	return s.Open(inputs, c.OptionsFor(s, targets, temp))
}

// copy moves the events to a sink; temp is where they are sorted.
func (c *Flags) copy(sink stream.Sink, temp string, j Job) (*tally, error) {
	src, err := c.Source(j.Found, temp)
	if err != nil {
		return nil, err
	}
	if len(j.Targets) > 0 && !slices.ContainsFunc(j.Targets, func(t Target) bool { return !t.Format.Zeros }) {
		src.Tables().KeepZeros()
	}
	if len(j.Targets) > 0 && !c.Given() { // else it is asked when there were events
		j.Found.Forget()
	}
	moved := &tally{Count: stream.Count{Kinds: true}}
	return moved, stream.Copy(stream.Tee(sink, &moved.Count, &moved.nameless), j.Per.cut(src), stream.CopyOptions{
		Memory: int64(c.Mem), Once: true, Outputs: shares(j.Targets), Jobs: c.Jobs.Number(), SpillDir: temp, Progress: j.Progress,
	})
}

// Conclude prints what was written and what is missing from it. The error says what the
// flags do not accept.
func (c *Flags) Conclude(s *input.Tool, found *ingest.Found, r *summary) error {
	if !c.Quiet {
		s.Say(fmt.Sprintf("wrote %s: %s", r.names(), r.contents()))
		report.PrintLedger(s.Stderr, c.asked, r.parts()...)
		s.Hint(c.EmptyHint(found, &r.Count))
		s.Hint(r.nameless.Hint())
		s.Hint(report.UnseenHint(r.unseen()))
		s.Hint(c.waitsHint(&r.Count))
	}
	return c.judge(found, r.ledgers()...)
}

// Digest is what a command has read that writes no output of its own.
type Digest struct {
	found  *ingest.Found // closed
	ledger stream.Ledger
	Tables *stream.Tables
	Unseen []string // kinds of rows that a table of samples does not show
}

// Digest copies the events of the recordings to a sink that sums them up, and closes the
// recordings.
func (c *Flags) Digest(s *input.Tool, found *ingest.Found, sink stream.Sink) (*Digest, error) {
	defer found.Close()
	if err := found.Usable(); err != nil {
		return nil, err
	}
	bar := s.NewBar(c.Quiet)
	written, err := c.copy(filter.WithoutTwins(sink), output.TempDir(), Job{Found: found, Progress: bar.Task().Show})
	bar.End()
	if err != nil {
		return nil, err
	}
	if !c.Quiet {
		s.Hint(c.EmptyHint(found, &written.Count))
		s.Hint(written.nameless.Hint())
		s.Hint(c.waitsHint(&written.Count))
	}
	return &Digest{found, written.Tables.Ledger, written.Tables, report.Unseen(&written.Count)}, nil
}

// Tell prints what is missing from a digest; of several, which says of which.
func (c *Flags) Tell(s *input.Tool, which string, one *Digest) {
	shown := func(l stream.Line) bool { return !l.Reason.Quiet() || c.asked(l) }
	if which != "" && !c.Quiet && slices.ContainsFunc(one.ledger.Lines(), shown) {
		s.Say("of --" + which + ":")
	}
	c.TellLedger(s, &one.ledger)
}

// TellLedger prints what is missing.
func (c *Flags) TellLedger(s *input.Tool, l *stream.Ledger) {
	if !c.Quiet {
		report.PrintLedger(s.Stderr, c.asked, report.Part{Lines: l.Lines()})
	}
}

// asked reports whether a line decides on the exit code.
func (c *Flags) asked(line stream.Line) bool {
	return c.Strict && line.Reason.Severity() == stream.Loss || c.Limits.asksFor(line.Reason)
}

// JudgeAll decides on the exit code.
func (c *Flags) JudgeAll(all ...*Digest) error {
	for _, one := range all {
		if err := c.judge(one.found, &one.ledger); err != nil {
			return err
		}
	}
	return nil
}

// waitsHint is [report.WaitsHint], unless the flags ask already for what it advises.
func (c *Flags) waitsHint(count *stream.Count) string {
	if c.DuringAll {
		return ""
	}
	return report.WaitsHint(count)
}

// judge returns the error of a conversion that succeeded, but with an input or a ledger
// that the flags do not accept.
func (c *Flags) judge(found *ingest.Found, ledgers ...*stream.Ledger) error {
	if err := input.Partly(found); err != nil {
		return err
	}
	return c.JudgeLedgers(ledgers...)
}

// JudgeLedgers decides on the exit code.
func (c *Flags) JudgeLedgers(ledgers ...*stream.Ledger) error {
	for _, ledger := range ledgers {
		if worst, any := ledger.Worst(); c.Strict && any && worst == stream.Loss {
			return console.Exit(console.Lossy, errors.New("something recorded is missing from the output; --losses FILE says what"))
		}
		if err := c.Limits.Check(ledger); err != nil {
			return err
		}
	}
	return nil
}

// Do converts. The outputs appear only when all of them are whole.
func (c *Flags) Do(s *input.Tool, j Job) (*summary, error) {
	if err := j.Found.Usable(); err != nil {
		return nil, err
	}
	m := &pass{Job: j, set: s.Outputs, jobs: c.Jobs.Number(), rows: int64(c.Mem) / rowsShare}
	w, err := c.make(m)
	if err != nil {
		m.set.Discard(m.products...)
		return nil, err
	}
	return w, m.set.Commit(m.products...)
}

// make writes all outputs.
func (c *Flags) make(m *pass) (*summary, error) {
	if err := m.begin(); err != nil {
		return nil, err
	}
	var sinks []stream.Sink
	for _, r := range m.results {
		sinks = append(sinks, r)
	}
	count, err := c.copy(stream.Tee(sinks...), SpillDir(m.Targets), m.Job)
	if err != nil {
		return nil, err
	}
	w := &summary{*count, m.results}
	if m.ledger == nil {
		return w, nil
	}
	return w, report.WriteJSON(m.ledger, w.Losses())
}
