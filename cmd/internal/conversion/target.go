package conversion

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gprof/cmd/internal/collector"
	"gprof/cmd/internal/download"
	"gprof/cmd/internal/input"
	"gprof/cmd/internal/output"
	"gprof/convert"
	"gprof/ingest"
)

// Target is an output that was asked for.
type Target struct {
	Name    string // of a file or a directory; "-" is stdout
	Format  convert.Format
	Options convert.Options
	Many    bool           // many files, for which the name has placeholders
	Root    string         // of many files: their directory; "" if only the name tells it
	Shared  *output.Shared // of a directory that has files of earlier runs, or of other inputs

	Collector *collector.Client // that takes the output; nil: it is a file or a directory
}

// Room is a directory for the target's files until they are moved into place.
func (t *Target) Room() string {
	switch {
	case t.Collector != nil:
		return output.TempDir()
	case t.Many:
		dir, _ := t.parts()
		return output.Existing(dir)
	case t.Shared != nil:
		return t.Name
	}
	return filepath.Dir(filepath.Clean(t.Name))
}

// targetOf reads the value of -o: OUT or NAME=OUT. format is that of --format, or empty.
// A file whose name ends with .gz is compressed, wherever its format comes from.
func targetOf(table convert.Table, value, format string) (Target, error) {
	t, err := readTarget(table, value, format)
	if strings.HasSuffix(t.Name, ".gz") && t.Collector == nil && !t.Format.Directory() {
		t.Options.Gzip = true
	}
	return t, err
}

func readTarget(table convert.Table, value, format string) (t Target, err error) {
	switch {
	case strings.HasPrefix(value, collector.Scheme):
		return collectorTarget(table, value, format)
	case download.Is(value):
		return t, fmt.Errorf("%s: an output can't be a URL; for OpenTelemetry's collector write %s%s", download.Shown(value), collector.Scheme, download.Shown(value))
	}
	if name, output, ok := strings.Cut(value, "="); ok && format == "" && output != "" {
		t.Name = output
		if t.Format, t.Options, err = table.ByFormat(name); err == nil {
			return t, nil
		}
	}
	t.Name = value
	switch {
	case format != "":
		t.Format, t.Options, err = table.ByFormat(format)
	case value == "-":
		err = fmt.Errorf("stdout has no name that tells the format; add --format, or write NAME=- with one of %s", input.FormatNames(table))
	default:
		t.Format, t.Options, err = table.ByName(value)
	}
	return t, err
}

// collectorTarget is the target of a collector's URL. What it takes has one format.
func collectorTarget(table convert.Table, url, format string) (t Target, err error) {
	if t.Format, t.Options, err = table.ByFormat("otlp"); err != nil {
		return t, err
	}
	if format != "" && format != t.Format.Name {
		return t, fmt.Errorf("%s: a collector takes only the format %s", format, t.Format.Name)
	}
	if t.Collector, err = collector.New(url); err == nil {
		t.Name = t.Collector.String()
	}
	return t, err
}

// Tables says how to write the target's directory, if it is one.
func (t *Target) Tables() output.Tables {
	f := t.Format
	return output.Tables{Format: f.Name, Stamp: f.Stamp, StampText: f.StampText, Last: f.Last, OneRun: f.OneRun}
}

// TargetsOf reads the values of all -o.
func TargetsOf(table convert.Table, values []string, format string) ([]Target, error) {
	if len(values) > 1 && format != "" {
		return nil, errors.New("--format is for a single -o; of several, each that needs it says its own: -o NAME=OUT")
	}
	var all []Target
	for _, value := range values {
		t, err := targetOf(table, value, format)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// CheckPlaces refuses outputs among the files of a recording, and outputs that are in
// each other or the same.
func CheckPlaces(found *ingest.Found, targets []Target, losses string) error {
	all := []place{}
	for _, t := range targets {
		if t.Collector == nil {
			all = append(all, t.place())
		}
	}
	if losses != "" {
		all = append(all, place{"--losses " + losses, losses, false})
	}
	for i, p := range all {
		if err := checkPlace(found, p.name); err != nil {
			return err
		}
		for _, o := range all[:i] {
			if err := p.disjoint(o); err != nil {
				return err
			}
		}
	}
	return nil
}

// CheckFiles refuses outputs among the files of a recording.
func CheckFiles(found *ingest.Found, names ...string) error {
	for _, name := range names {
		if err := checkPlace(found, name); err != nil {
			return err
		}
	}
	return nil
}

// checkPlace refuses an output among the files of a recording.
func checkPlace(found *ingest.Found, name string) error {
	if name != "-" && found.Reads(name) {
		return fmt.Errorf("%s lies among the files of a recording; give it a name elsewhere", name)
	}
	return nil
}

// place is where a target is to be written. Many files may be among other files, but not
// among those of a recording.
func (t *Target) place() place {
	if t.Many {
		return place{"-o " + t.Name, t.Name, false}
	}
	return place{"-o " + t.Name, t.Name, t.Format.Directory()}
}

// place is where something is to be written.
type place struct {
	flag, name string
	directory  bool
}

// disjoint returns an error if two places are the same, or one is in the other.
func (p place) disjoint(o place) error {
	a, b := p.path(), o.path()
	switch {
	case a == b:
		return fmt.Errorf("%s and %s both name %s; give one of them another name", o.flag, p.flag, p.name)
	case o.directory && strings.HasPrefix(a, b+string(filepath.Separator)):
		return fmt.Errorf("%s lies in the directory of %s; give it a name elsewhere", p.flag, o.flag)
	case p.directory && strings.HasPrefix(b, a+string(filepath.Separator)):
		return fmt.Errorf("%s lies in the directory of %s; give it a name elsewhere", o.flag, p.flag)
	}
	return nil
}

// path is the real path of the place, without links.
func (p place) path() string {
	if p.name == "-" {
		return p.name
	}
	abs := output.Absolute(p.name)
	if dir, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		abs = filepath.Join(dir, filepath.Base(abs))
	}
	if info, err := os.Stat(abs); err == nil && info.IsDir() {
		if dir, err := filepath.EvalSymlinks(abs); err == nil {
			return dir
		}
	}
	return abs
}

// root splits a name with placeholders into the directory of all files and the rest.
func root(name string) (dir, rest string) {
	before, _, _ := strings.Cut(name, "{")
	dir, _ = filepath.Split(before)
	return filepath.Clean(dir), name[len(dir):]
}

// parts are the directory of many files, and the pattern of their names there.
func (t *Target) parts() (dir, pattern string) {
	if t.Root == "" {
		return root(t.Name)
	}
	pattern, err := filepath.Rel(t.Root, t.Name)
	if err != nil {
		panic("internal error: " + err.Error()) // the name begins with it
	}
	return t.Root, pattern
}

// PrepareDataSet makes the directory of a target that is a data set, with what no input has a part in.
func PrepareDataSet(set *output.Set, t Target) error {
	if err := output.RefuseLinks(t.Name); err != nil {
		return err
	}
	if err := os.MkdirAll(t.Name, 0o777); err != nil {
		return err
	}
	o := output.DirectoryOptions{Tables: t.Tables(), Shared: &output.Shared{Begin: func([]string) error { return nil }}, Room: t.Name, Inputs: output.Anybody}
	out, err := set.CreateDirectory(t.Name, o)
	if err != nil {
		return err
	}
	if err := t.Format.Prepare(out); err != nil {
		set.Discard(out)
		return err
	}
	return set.Commit(out)
}
