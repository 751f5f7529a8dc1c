// Package input opens what a command reads: it has the flags for that, reports what was
// left out, and says what to do when there is nothing to read.
package input

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"gprof/cmd/internal/console"
	"gprof/cmd/internal/download"
	"gprof/cmd/internal/human"
	"gprof/cmd/internal/output"
	"gprof/cmd/internal/selection"
	"gprof/cmd/internal/store"
	"gprof/convert"
	"gprof/ingest"
)

// Tool is the converting program: its console, and the formats that it knows.
type Tool struct {
	*console.Console
	Formats convert.Table
	Sources []ingest.Format // besides those of package ingest
	Words   []string        // of the command line

	stores    store.Stores
	downloads download.Files
}

// Mount returns the file system of a path in a bucket or of a URL, and the name in it; nil for others.
func (s *Tool) Mount(path string) (fs.FS, string, error) {
	if fsys, name, err := s.downloads.Mount(path); fsys != nil || err != nil {
		return fsys, name, err
	}
	return s.stores.Mount(path)
}

// Place is an output that several machines write: a directory, or s3://BUCKET/NAME. Unfinished
// files lie below inside, if it is a directory.
func (s *Tool) Place(path, inside string) (store.Place, error) {
	if fsys, _, err := s.Mount(path); err != nil {
		return nil, err
	} else if fsys == nil {
		if err := output.RefuseLinks(path); err != nil {
			return nil, err
		}
	}
	return s.stores.Place(path, inside, output.TempDir())
}

// FormatNames lists the names of output formats.
func FormatNames(table convert.Table) string {
	var names []string
	for _, f := range table {
		names = append(names, f.Name)
		if !f.Directory() {
			names = append(names, f.Name+".gz")
		}
	}
	return strings.Join(names, ", ")
}

// ForeignHelp names the formats of other tools that can be read.
func (s *Tool) ForeignHelp() string {
	var joined strings.Builder
	for _, f := range s.Sources {
		joined.WriteString(f.Text + ", ")
	}
	return joined.String() + "a pprof profile, a Go execution trace, a profile of Firefox Profiler, OpenTelemetry's profiles, a CPU profile of V8, a trace for chrome://tracing, a perf.data or the text of perf script"
}

// InputsHelp says what inputs may be, for the help of a flag.
func (s *Tool) InputsHelp() string {
	return "Sessions: directories, archives (tar, tar.gz, tar.zst, zip, .gprof), chunk files; " +
		"files of other tools: " + s.ForeignHelp() + "; quoted patterns of them; any of these as s3://BUCKET/NAME; or - for stdin."
}

// inputHelp says what an input may be, for a hint.
func (s *Tool) inputHelp() string {
	return "an input is a session directory (as gprof-record run and status name it), the directory of one process in it, a chunk file, " +
		"a tar, tar.gz, tar.zst or zip of them, a packed .gprof file, " + s.ForeignHelp() + ", a directory of any of these, - for stdin, or a quoted pattern such as 'dumps/*.tgz'"
}

// ownerHelp says who may read a recording.
const ownerHelp = "a recording can be read by the user who recorded it; run it as that user or with sudo, or record with GPROF_GROUP_ACCESS=on"

// HintOfInput prints what to do when inputs hold no recording, unless the error says it.
func (s *Tool) HintOfInput(err error) {
	switch {
	case errors.Is(err, store.ErrStore): // which says itself what to do
	case errors.Is(err, fs.ErrPermission):
		s.Hint(ownerHelp)
	case errors.Is(err, ingest.ErrForeign) || !errors.Is(err, ingest.ErrNoInput):
		s.Hint(s.inputHelp())
	}
}

// StallHelp says what to do about an input that was given up.
const StallHelp = "an input that is only slow to begin needs a longer --stall; --stall 0 waits for ever"

// maxWarnings is the most warnings that are printed one by one.
const maxWarnings = 20

// Patience is the flag for how long to wait for inputs. All commands that read recordings
// have it.
type Patience struct {
	Stall time.Duration `default:"30s" placeholder:"TIME" help:"Give up inputs that hang, such as a pipe or a dead network mount, when nothing came of any input for so long (default ${default}); the rest is read. 0 waits for ever."`
}

// options are the options of ingest for the flag.
func (p Patience) options(s *Tool) ingest.Options {
	o := ingest.Options{Stdin: s.Stdin, Stall: p.Stall, Formats: s.Sources, Mount: s.Mount}
	if p.Stall <= 0 {
		o.Stall = -1
	}
	return o
}

// Reading are the flags for how inputs are read. All commands that read events have them.
type Reading struct {
	Patience
	Symbols []string `sep:"none" type:"path" placeholder:"PATH" help:"Program, or folder of programs, that names functions where the recording does not; info says which are missing. May be repeated."`
}

// Options are the options of ingest for the flags. Temp is a directory for temporary
// files, "" the usual one.
func (r *Reading) Options(s *Tool, jobs Cores, expiry *selection.Expiry, temp string) ingest.Options {
	o := r.Patience.options(s)
	o.Jobs, o.TempDir, o.Symbols = jobs.Number(), temp, r.Symbols
	expiry.Set(&o)
	return o
}

// OpenRaw is Open for a command that reads no events.
func (s *Tool) OpenRaw(inputs []string, p Patience) (*ingest.Found, error) {
	return s.Open(inputs, p.options(s))
}

// Open finds the recordings in inputs, and warns of what it left out. The caller closes
// what was found.
func (s *Tool) Open(inputs []string, o ingest.Options) (*ingest.Found, error) {
	if slices.Contains(inputs, "-") && console.IsTerminal(s.Stdin) {
		return nil, console.Exit(console.Usage, errors.New("- reads an archive from stdin, which is a terminal; pipe one in: tar c SESSION | gprof-convert - -o OUT"))
	}
	s.download(inputs, o)
	inputs = slices.Clone(inputs) // which are told to people from here on
	for i, in := range inputs {
		inputs[i] = download.Shown(in)
	}
	found, err := ingest.Find(inputs, o)
	if err != nil {
		return nil, err
	}
	s.warnOf(found.Warnings)
	return found, nil
}

// download gets the inputs that are URLs.
func (s *Tool) download(inputs []string, o ingest.Options) {
	var urls []string
	most := time.Duration(0)
	for _, in := range inputs {
		if download.Is(in) && !slices.Contains(urls, in) {
			urls, most = append(urls, in), max(most, download.Seconds(in))
		}
	}
	if len(urls) == 0 {
		return
	}
	if most > 0 {
		s.Say(fmt.Sprintf("asking %s, which takes %v", human.Plural(len(urls), "server"), most))
	}
	stall := o.Stall
	if stall == 0 {
		stall = ingest.DefaultStall
	}
	dir := o.TempDir
	if dir == "" {
		dir = output.TempDir()
	}
	s.downloads.Get(context.Background(), urls, dir, stall)
}

// warnOf prints warnings, and a hint if an input was given up.
func (s *Tool) warnOf(warnings []*ingest.Warning) {
	for i, w := range warnings {
		if i == maxWarnings {
			s.Warn(fmt.Errorf("and %d more like these; the ledger counts them", len(warnings)-i))
			break
		}
		s.Warn(w)
	}
	if slices.ContainsFunc(warnings, func(w *ingest.Warning) bool { return errors.Is(w, ingest.ErrStalled) }) {
		s.Hint(StallHelp)
	}
}

// Partly is the error of a command that could only read some of its inputs.
func Partly(found *ingest.Found) error {
	n := found.Failed()
	if n == 0 {
		return nil
	}
	err := fmt.Errorf("%s could not be read; the rest was", human.Plural(n, "input"))
	if slices.ContainsFunc(found.Warnings, func(w *ingest.Warning) bool { return MayWorkAgain(w) }) {
		return console.Exit(console.Again, err)
	}
	return err
}
