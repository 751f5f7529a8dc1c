package conversion

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gprof/cmd/internal/console"
	"gprof/cmd/internal/human"
	"gprof/cmd/internal/output"
	"gprof/cmd/internal/report"
	"gprof/convert"
	"gprof/ingest"
	"gprof/stream"
	"gprof/stream/split"
)

// Job is one conversion: what was found becomes one output, or several.
type Job struct {
	Found    *ingest.Found
	Targets  []Target
	Losses   string   // where the ledger goes, as JSON; "" nowhere
	Replace  bool     // directories that are there
	Per      division // of targets that are many files
	Progress func(done, total int64, phase string)
}

// result is one output of a job.
type result struct {
	Target
	*stream.Output
	files *split.Sink // of one that is many files, else nil
}

// results is what a job wrote.
type results struct {
	tally
	List []result
}

// pass is a job on its way.
type pass struct {
	Job
	set      *output.Set
	jobs     int
	rows     int64 // bytes that a sink may hold of those that wait
	products []output.Product
	results  []result
	ledger   *output.File // of --losses, or nil
}

// begin makes all targets ready. What was begun is among the products, also if
// another can't be.
func (m *pass) begin() (err error) {
	if m.Losses != "" {
		if m.ledger, err = m.set.Create(m.Losses, false, m.Found.Perm()); err != nil {
			return err
		}
		m.products = append(m.products, m.ledger)
	}
	jobs, cores := convert.ShareCores(m.jobs, len(m.Targets))
	for _, t := range m.Targets {
		t.Options.Jobs, t.Options.Cores = jobs, cores
		sink, err := m.open(t)
		if err != nil {
			return err
		}
		files, _ := sink.(*split.Sink)
		m.results = append(m.results, result{t, stream.NewOutput(sink), files})
	}
	return nil
}

// open begins a target.
func (m *pass) open(t Target) (stream.Sink, error) {
	if t.Many {
		return m.splitter(t)
	}
	if t.Format.Directory() {
		if t.Name == "-" {
			return nil, console.Exit(console.Usage, fmt.Errorf("%s is a directory of files, which stdout can't be; give -o a directory", t.Format.Name))
		}
		out, err := m.set.CreateDirectory(t.Name, output.DirectoryOptions{Tables: t.Tables(), Replace: m.Replace, Shared: t.Shared, Room: t.Room(), Inputs: m.Found.Perm()})
		if err != nil {
			return nil, err
		}
		m.products = append(m.products, out)
		return t.Format.NewIn(out, t.Options), nil
	}
	out, err := m.set.Create(t.Name, !t.Format.Readable(t.Options), m.Found.Perm())
	if err != nil {
		return nil, err
	}
	m.products = append(m.products, out)
	t.Options.SpillDir = out.Beside()
	return t.Format.New(out, t.Options)
}

// SpillDir is a directory for temporary files of what becomes these targets: it
// lies where there must be room anyway.
func SpillDir(targets []Target) string {
	for _, t := range targets {
		if t.Name != "-" {
			return t.Room()
		}
	}
	return output.TempDir()
}

// ledgers are those of the outputs.
func (w *results) ledgers() (all []*stream.Ledger) {
	for _, r := range w.List {
		all = append(all, r.Ledger())
	}
	return all
}

// names lists the outputs for a person.
func (w *results) names() string {
	var names []string
	for _, r := range w.List {
		name := r.Name
		if r.files != nil {
			name += fmt.Sprintf(" (%s)", human.Plural(r.files.Count(), "file"))
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// contents sums up what was written in a few words.
func (w *results) contents() string {
	of := func(k stream.Kind) stream.Tally {
		if !w.holds(k) { // asked once: a ledger may have a line for each process
			return stream.Tally{}
		}
		return w.Sum(func(s stream.Series) bool { return s.Kind == k })
	}
	text := fmt.Sprintf("%s, %d samples", human.Plural(len(w.Tables.Processes), "process"), of(stream.Samples).Samples)
	if slices.ContainsFunc(w.List, func(r result) bool { return r.Format.Kinds == nil }) {
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
func (w *results) holds(k stream.Kind) bool {
	return slices.ContainsFunc(w.ledgers(), func(l *stream.Ledger) bool {
		return !report.Lacks(l, k.String())
	})
}

// parts is what is missing from all outputs, then from each. Of one output, all
// of it is one part.
func (w *results) parts() []report.Part {
	if len(w.List) == 1 {
		return []report.Part{{Lines: w.List[0].Ledger().Lines()}}
	}
	all := []report.Part{{Lines: w.Tables.Ledger.Lines()}}
	for _, r := range w.List {
		all = append(all, report.Part{Output: r.Name, Lines: r.Added()})
	}
	return all
}

// unseen are those that some output has no place for.
func (w *results) unseen() []string {
	return slices.DeleteFunc(report.Unseen(&w.Count), func(kind string) bool {
		return !slices.ContainsFunc(w.ledgers(), func(l *stream.Ledger) bool { return report.Lacks(l, kind) })
	})
}

// losses is the ledger of all outputs for --losses.
func (w *results) losses() []report.LedgerLine { return report.LossLines(w.parts()) }

// splitter is the sink of a target that is many files.
func (m *pass) splitter(t Target) (stream.Sink, error) {
	dir, pattern := t.parts()
	out, err := m.set.CreateFiles(dir, m.Found.Perm(), t.Shared)
	if err != nil {
		return nil, err
	}
	m.products = append(m.products, out)
	t.Options.SpillDir = out.Staging
	names := partNames{pattern: pattern, by: m.Per.By, taken: map[string]bool{}}
	allowed := allowedPlaces{m.Found, map[string]bool{}}
	return &split.Sink{
		Tracks: m.Per.By == "track", Every: stream.Time(m.Per.every), Kinds: t.Format.Kinds, Rows: m.rows, SpillDir: output.Existing(dir),
		Open: func(p split.Part) (stream.Sink, error) {
			name := names.of(p)
			if err := allowed.check(filepath.Join(dir, name)); err != nil {
				return nil, err
			}
			f, err := out.Create(name)
			if err != nil {
				return nil, err
			}
			sink, err := t.Format.New(f, t.Options)
			return closing{sink, f.Close}, err
		},
	}, nil
}

// allowedPlaces remembers directories that no recording lies in: to find that
// out takes a while for a thousand processes, and so many files may be written.
type allowedPlaces struct {
	found *ingest.Found
	dirs  map[string]bool
}

// check is checkPlace for a new file.
func (a *allowedPlaces) check(name string) error {
	dir := filepath.Dir(name)
	if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) && a.dirs[dir] {
		return nil
	}
	a.dirs[dir] = true
	return checkPlace(a.found, name)
}

// closing is a sink whose file is closed after it.
type closing struct {
	stream.Sink
	file func() error
}

func (c closing) Close() error { return errors.Join(c.Sink.Close(), c.file()) }

// tally is what is known of the events that were moved.
type tally struct {
	stream.Count
	nameless report.Nameless
}

// rowsShare is which part of the memory each output that is many files has for
// rows: 1/rowsShare.
const rowsShare = 32

// shares is how many outputs share the memory. One that is many files has tables
// of its own, besides those of its format.
func shares(targets []Target) (n int) {
	for _, t := range targets {
		n++
		if t.Many {
			n++
		}
	}
	return n
}
