package main

import (
	"errors"
	"fmt"
	"slices"

	"gprof/ingest"
	"gprof/stream"
)

// conversion is the flags of everything that converts.
type conversion struct {
	Strict bool `help:"Exit with 3 if something recorded is missing from the output."`
	Quiet  bool `short:"q" help:"No progress, no ledger on stderr."`
	failIf
	resources
	reading
	expiring
	filtering
	redacting
}

// how is the flags of reading, all of them.
func (c *conversion) how() *reading {
	c.rule, c.jobs = &c.expiring, c.Jobs.number()
	return &c.reading
}

// open finds what is to be converted. The caller closes what was found.
func (c *conversion) open(s *streams, inputs []string) (*ingest.Found, error) {
	if err := c.failIf.alone(); err != nil {
		return nil, err
	}
	return c.openTo(s, inputs)
}

// openTo is open for a command that compares.
func (c *conversion) openTo(s *streams, inputs []string) (*ingest.Found, error) {
	if err := c.filtering.check(); err != nil {
		return nil, err
	}
	if err := c.prepare(); err != nil {
		return nil, err
	}
	return s.open(inputs, c.how())
}

// source is the events of what was found, as the flags want them. All that
// converts gets its events here.
func (c *conversion) source(found *ingest.Found) (stream.Source, error) {
	return c.hide(c.filtering, found)
}

// job is one conversion: what was found becomes one output, or several.
type job struct {
	found    *ingest.Found
	targets  []target
	losses   string // where the ledger goes, as JSON; "" nowhere
	replace  bool   // directories that are there
	per      split  // of targets that are many files
	progress *task
}

// do converts, and tells what went through. The outputs appear only when all of
// them are whole.
func (c *conversion) do(s *streams, j job) (*written, error) {
	if err := j.found.Usable(); err != nil {
		return nil, err
	}
	m := &making{streams: s, job: j, jobs: c.Jobs.number(), rows: int64(c.Mem) / rowsShare}
	w, err := c.make(m)
	if err != nil {
		s.unfinished.discard(m.products...)
		return nil, err
	}
	return w, s.unfinished.commit(m.products...)
}

// make writes all that there will be.
func (c *conversion) make(m *making) (*written, error) {
	if err := m.begin(); err != nil {
		return nil, err
	}
	w := &written{targets: m.targets, outputs: m.outputs, files: m.files}
	count, err := c.copy(m.sink(), spillDir(m.targets), m.job)
	if err != nil {
		return nil, err
	}
	w.copied = *count
	return w, m.tell(w)
}

// copied is what is known of the events that were moved.
type copied struct {
	stream.Count
	nameless nameless
}

// copy moves the events to a sink; temp is where they are sorted.
func (c *conversion) copy(sink stream.Sink, temp string, j job) (*copied, error) {
	c.spill = temp
	src, err := c.source(j.found)
	if err != nil {
		return nil, err
	}
	moved := new(copied)
	return moved, stream.Copy(stream.Tee(sink, &moved.Count, &moved.nameless), j.per.cut(src), stream.CopyOptions{
		Memory: int64(c.Mem), Outputs: shares(j.targets), Jobs: c.Jobs.number(), SpillDir: temp, Progress: j.progress.show,
	})
}

// summed is what a command read that writes no output of its own.
type summed struct {
	found  *ingest.Found // closed
	ledger stream.Ledger
	tables *stream.Tables
	unseen []string // kinds of rows that a table of samples does not show
}

// sum gives the events of what was found to a sink that sums them up, and closes
// what was found.
func (c *conversion) sum(s *streams, found *ingest.Found, sink stream.Sink) (*summed, error) {
	defer found.Close()
	if err := found.Usable(); err != nil {
		return nil, err
	}
	bar := s.newProgress(c.Quiet)
	written, err := c.copy(stream.CountOnce(sink), temporary(), job{found: found, progress: bar.all()})
	bar.end()
	if err != nil {
		return nil, err
	}
	if !c.Quiet {
		c.hintEmpty(s, found, &written.Count)
		written.nameless.hint(s)
		c.hintWaits(s, &written.Count)
	}
	return &summed{found, written.Tables.Ledger, written.Tables, unseen(&written.Count)}, nil
}

// tell tells what is missing from what was summed up, of several which.
func (c *conversion) tell(s *streams, which string, one *summed) {
	if lines := one.ledger.Lines(); !c.Quiet && len(lines) > 0 {
		if which != "" {
			s.say("of --" + which + ":")
		}
		s.printLedger(c.asked, ledgerPart{lines: lines})
	}
}

// asked reports whether a line decides on the exit code.
func (c *conversion) asked(line stream.Line) bool {
	r := stream.Reasons[line.Reason]
	return c.Strict && r.Severity == stream.Loss || c.failIf.asks(r.Name, r.Severity.String())
}

// judgeAll decides on the exit code.
func (c *conversion) judgeAll(all ...*summed) error {
	for _, one := range all {
		if err := c.judge(one.found, &one.ledger); err != nil {
			return err
		}
	}
	return nil
}

// rowsShare is which part of the memory each output that is many files has for
// rows: 1/rowsShare.
const rowsShare = 32

// shares is how many outputs share the memory. One that is many files has tables
// of its own, besides those of its format.
func shares(targets []target) (n int) {
	for _, t := range targets {
		n++
		if t.many {
			n++
		}
	}
	return n
}

// judge is the error of a conversion that ended well, but with an input or a
// ledger that the flags do not accept.
func (c *conversion) judge(found *ingest.Found, ledgers ...*stream.Ledger) error {
	if err := partly(found); err != nil {
		return err
	}
	for _, ledger := range ledgers {
		if worst, any := ledger.Worst(); c.Strict && any && worst == stream.Loss {
			return &exitError{exitLossy, errors.New("something recorded is missing from the output; --losses FILE says what")}
		}
		if err := c.failIf.check(ledger); err != nil {
			return err
		}
	}
	return nil
}

// contents sums up what was written in a few words.
func (w *written) contents() string {
	of := func(k stream.Kind) stream.Tally {
		if !w.holds(k) { // asked once: a ledger may have a line for each process
			return stream.Tally{}
		}
		return w.Sum(func(s stream.Series) bool { return s.Kind == k })
	}
	text := fmt.Sprintf("%s, %d samples", count(len(w.Tables.Processes), "process"), of(stream.Samples).Samples)
	if slices.ContainsFunc(w.targets, func(t target) bool { return t.format.Kinds == nil }) {
		text += fmt.Sprintf(", %d markers, %d counter rows", of(stream.Markers).Rows, of(stream.Counts).Rows)
	}
	for _, k := range []stream.Kind{stream.Allocations, stream.Waits, stream.Measurements} {
		if n := of(k).Rows; n > 0 {
			text += fmt.Sprintf(", %d rows of %v", n, k)
		}
	}
	return text
}

// holds reports whether an output has a place for rows of a kind.
func (w *written) holds(k stream.Kind) bool {
	return slices.ContainsFunc(w.ledgers(), func(l *stream.Ledger) bool {
		return !lacks(l, k.String())
	})
}
