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
	"gprof/convert/otlp"
	"gprof/ingest"
	"gprof/stream"
	"gprof/stream/split"
)

// Job is one conversion of recordings into one or several outputs.
type Job struct {
	Found    *ingest.Found
	Targets  []Target
	Losses   string   // file for the ledger as JSON; "" none
	Replace  bool     // replace existing directories
	Per      division // of targets that are many files
	Progress func(done, total int64, phase string)
}

// jobOutput is one output of a job.
type jobOutput struct {
	Target
	*stream.Output
	files *split.Sink // if the output is many files, else nil
}

// summary is what a job wrote.
type summary struct {
	tally
	List []jobOutput
}

// pass is a job that is under way.
type pass struct {
	Job
	set      *output.Set
	jobs     int
	rows     int64 // memory in bytes for rows that wait in a sink
	products []output.Product
	results  []jobOutput
	ledger   *output.File // of --losses, or nil
}

// begin begins all targets. Those that were begun are among the products, even if another
// one can't be.
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
		m.results = append(m.results, jobOutput{t, stream.NewOutput(sink), files})
	}
	return nil
}

// requestSize is about how large requests to a collector are, in bytes: less than half of what it takes
// unless it is configured otherwise.
const requestSize = 8 << 20

// open begins a target.
func (m *pass) open(t Target) (stream.Sink, error) {
	switch {
	case t.Collector != nil && t.Many:
		return nil, console.Exit(console.Usage, fmt.Errorf("%s: --per writes files; a collector gets one output", t.Name))
	case t.Collector != nil:
		return otlp.NewRequests(requestSize, output.TempDir(), t.Collector.Send), nil
	case t.Many:
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

// SpillDir is a directory for the temporary files of these targets, on a disk that must
// have room anyway.
func SpillDir(targets []Target) string {
	for _, t := range targets {
		if t.Name != "-" {
			return t.Room()
		}
	}
	return output.TempDir()
}

// ledgers are those of the outputs.
func (w *summary) ledgers() (all []*stream.Ledger) {
	for _, r := range w.List {
		all = append(all, r.Ledger())
	}
	return all
}

// names lists the outputs for a person.
func (w *summary) names() string {
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

// contents sums up in a few words what was written.
func (w *summary) contents() string {
	of := func(k stream.Kind) stream.Tally {
		if !w.holds(k) { // once for each kind: a ledger may have a line for each process
			return stream.Tally{}
		}
		return w.Sum(func(s stream.Series) bool { return s.Kind == k })
	}
	text := human.Plural(w.processes(), "process") + ", " + human.Plural(int(of(stream.Samples).Samples), "sample")
	if slices.ContainsFunc(w.List, func(r jobOutput) bool { return r.Format.Kinds == nil }) {
		text += ", " + human.Plural(int(of(stream.Markers).Rows), "marker") + ", " + human.Plural(int(of(stream.Counts).Rows), "counter row")
	}
	for _, k := range []stream.Kind{stream.Allocations, stream.Waits, stream.Measurements} {
		if n := of(k).Rows; n > 0 {
			text += fmt.Sprintf(", %s of %v", human.Plural(int(n), "row"), k)
		}
	}
	return text
}

// processes is how many there are, of which several may be one in the tables.
func (w *summary) processes() (n int) {
	for i := range w.Tables.Processes {
		n += max(1, int(w.Tables.Processes[i].Profile.Files))
	}
	return n
}

// holds reports whether an output has a place for rows of a kind.
func (w *summary) holds(k stream.Kind) bool {
	return slices.ContainsFunc(w.ledgers(), func(l *stream.Ledger) bool {
		return !report.Lacks(l, k.String())
	})
}

// parts are the lines for all outputs, then those for each. For a single output they are
// one part.
func (w *summary) parts() []report.Part {
	if len(w.List) == 1 {
		return []report.Part{{Lines: w.List[0].Ledger().Lines()}}
	}
	all := []report.Part{{Lines: w.Tables.Ledger.Lines()}}
	for _, r := range w.List {
		all = append(all, report.Part{Output: r.Name, Lines: r.Added()})
	}
	return all
}

// unseen are the kinds of rows that some output has no place for.
func (w *summary) unseen() []string {
	return slices.DeleteFunc(report.Unseen(&w.Count), func(kind string) bool {
		return !slices.ContainsFunc(w.ledgers(), func(l *stream.Ledger) bool { return report.Lacks(l, kind) })
	})
}

// Losses is the ledger of all outputs for --losses.
func (w *summary) Losses() []report.LedgerLine { return report.LossLines(w.parts()) }

// splitter is the sink of a target of many files.
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
		Tracks: m.Per.By == "track", Every: stream.Time(m.Per.every), Kinds: t.Format.Places(), Rows: m.rows, SpillDir: output.Existing(dir),
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
			return closingSink{sink, f.Close}, err
		},
	}, nil
}

// allowedPlaces remembers directories that no recording is in: to find that out takes a
// while if there are a thousand processes, and as many files may be written.
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

// closingSink is a sink whose file is closed after it.
type closingSink struct {
	stream.Sink
	file func() error
}

func (c closingSink) Close() error { return errors.Join(c.Sink.Close(), c.file()) }

// tally is what is known of the events that were copied.
type tally struct {
	stream.Count
	nameless report.Nameless
}

// rowsShare is the part of the memory that each output of many files has for rows:
// 1/rowsShare.
const rowsShare = 32

// shares is how many outputs share the memory. One of many files has tables of its own,
// besides those of its format.
func shares(targets []Target) (n int) {
	for _, t := range targets {
		n++
		if t.Many {
			n++
		}
	}
	return n
}
