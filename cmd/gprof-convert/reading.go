package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"gprof/ingest"
)

// foreignHelp names the inputs that other tools wrote.
const foreignHelp = "a pprof profile, a Go execution trace, a profile of Firefox Profiler, a perf.data or the text of perf script"

// inputsHelp says what inputs are, in the words of a flag's help.
const inputsHelp = "Sessions: directories, archives (tar, tar.gz, tar.zst, zip, .gprof), chunk files; " +
	"files of other tools: " + foreignHelp + "; quoted patterns of them, or - for stdin."

// inputHelp says what an input is, in the words of a hint.
const inputHelp = "an input is a session directory (as gprof-record run and status name it), the directory of one process in it, a chunk file, " +
	"a tar, tar.gz, tar.zst or zip of them, a packed .gprof file, " + foreignHelp + ", a directory of any of these, - for stdin, or a quoted pattern such as 'dumps/*.tgz'"

// ownerHelp says who may read a recording.
const ownerHelp = "a recording can be read by the user who recorded it; run it as that user or with sudo, or record with GPROF_GROUP_ACCESS=on"

// hintOfInput says what to do when inputs hold no recording. An error that says
// itself what to do instead needs no hint.
func (s *streams) hintOfInput(err error) {
	switch {
	case errors.Is(err, fs.ErrPermission):
		s.hint(ownerHelp)
	case errors.Is(err, ingest.ErrForeign) || !errors.Is(err, ingest.ErrNoInput):
		s.hint(inputHelp)
	}
}

// stallHelp says what to do about an input that was given up.
const stallHelp = "an input that is only slow to begin needs a longer --stall; --stall 0 waits for ever"

// maxWarnings is how many warnings are printed one by one.
const maxWarnings = 20

// waiting is the flag that says how long to wait for inputs. All commands that
// read recordings have it.
type waiting struct {
	Stall time.Duration `default:"30s" placeholder:"TIME" help:"Give up inputs that hang, such as a pipe or a dead network mount, when nothing came of any input for so long (default ${default}); the rest is read. 0 waits for ever."`
}

// reading is the flags that say how inputs are read. All commands that read
// events have them.
type reading struct {
	waiting
	Symbols []string `sep:"none" type:"path" placeholder:"PATH" help:"Program, or folder of programs, that names functions where the recording does not; info says which are missing. May be repeated."`

	jobs int       // that decode at once
	temp string    // directory for temporary files; "" for a usual one
	rule *expiring // nil: the command has no such flags
}

// options are the flags as ingest takes them.
func (r *reading) options(s *streams) ingest.Options {
	o := ingest.Options{Stdin: s.stdin, Stall: r.Stall, Jobs: r.jobs, TempDir: r.temp, Symbols: r.Symbols}
	if r.Stall <= 0 {
		o.Stall = -1
	}
	r.rule.set(&o)
	return o
}

// openRaw is open for a command that reads no events.
func (s *streams) openRaw(inputs []string, w waiting) (*ingest.Found, error) {
	return s.open(inputs, &reading{waiting: w})
}

// open finds the recordings in inputs and warns of what was left out of them.
// The caller closes what was found.
func (s *streams) open(inputs []string, r *reading) (*ingest.Found, error) {
	if slices.Contains(inputs, "-") && isTerminal(s.stdin) {
		return nil, &exitError{exitUsage, errors.New("- reads an archive from stdin, which is a terminal; pipe one in: tar c SESSION | gprof-convert - -o OUT")}
	}
	found, err := ingest.Find(inputs, r.options(s))
	if err != nil {
		return nil, err
	}
	s.warn(found.Warnings)
	return found, nil
}

// warn prints warnings, and a hint if an input was given up.
func (s *streams) warn(warnings []*ingest.Warning) {
	for i, w := range warnings {
		if i == maxWarnings {
			s.problem("warning", fmt.Errorf("and %d more like these; the ledger counts them", len(warnings)-i))
			break
		}
		s.problem("warning", w)
	}
	if slices.ContainsFunc(warnings, func(w *ingest.Warning) bool { return errors.Is(w, ingest.ErrStalled) }) {
		s.hint(stallHelp)
	}
}

// partly is the error of a command that did its work on some inputs only.
func partly(found *ingest.Found) error {
	if n := found.Failed(); n > 0 {
		return fmt.Errorf("%s could not be read; the rest was", count(n, "input"))
	}
	return nil
}
