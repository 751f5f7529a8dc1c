package conversion

import (
	"fmt"
	"slices"
	"strings"

	"gprof/convert"
	"gprof/ingest"
	"gprof/internal/console"
	"gprof/internal/human"
	"gprof/internal/input"
	"gprof/internal/output"
	"gprof/internal/report"
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

// Do converts, and tells what went through. The outputs appear only when all of
// them are whole.
func (c *Flags) Do(s *input.Tool, j Job) (*results, error) {
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

// make writes all that there will be.
func (c *Flags) make(m *pass) (*results, error) {
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
	w := &results{*count, m.results}
	if m.ledger == nil {
		return w, nil
	}
	return w, report.WriteJSON(m.ledger, w.losses())
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
		m.results = append(m.results, result{t, stream.Apart(sink), files})
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
