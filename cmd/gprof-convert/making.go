package main

import (
	"fmt"
	"strings"

	"gprof/convert"
	"gprof/stream"
)

// making is a conversion on its way: what was found becomes all targets of a
// job in one pass.
type making struct {
	*streams
	job
	jobs     int
	rows     int64 // bytes that a sink may hold of those that wait
	products []product
	outputs  []*stream.Output
	files    []*stream.Splitter // of targets that are many files, else nil
	ledger   *output            // of --losses, or nil
}

// written is what a conversion wrote.
type written struct {
	copied
	targets []target
	outputs []*stream.Output   // of each target
	files   []*stream.Splitter // of each, nil if it is not many files
}

// ledgers are those of the outputs.
func (w *written) ledgers() (all []*stream.Ledger) {
	for _, o := range w.outputs {
		all = append(all, o.Ledger())
	}
	return all
}

// names lists the outputs for a person.
func (w *written) names() string {
	var names []string
	for i, t := range w.targets {
		name := t.name
		if files := w.files[i]; files != nil {
			name += fmt.Sprintf(" (%s)", count(files.Count(), "file"))
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// begin makes all targets ready. What was begun is among the products, also if
// another can't be.
func (m *making) begin() (err error) {
	if m.losses != "" {
		if m.ledger, err = m.create(m.losses, false, m.found.Perm()); err != nil {
			return err
		}
		m.products = append(m.products, m.ledger)
	}
	jobs, cores := convert.ShareCores(m.jobs, len(m.targets))
	for _, t := range m.targets {
		t.options.Jobs, t.options.Cores = jobs, cores
		sink, err := m.open(t)
		if err != nil {
			return err
		}
		files, _ := sink.(*stream.Splitter)
		m.outputs, m.files = append(m.outputs, stream.Apart(sink)), append(m.files, files)
	}
	return nil
}

// open begins a target.
func (m *making) open(t target) (stream.Sink, error) {
	if t.many {
		return m.splitter(t)
	}
	if t.format.Directory() {
		out, err := m.createDirectory(t, m.replace, m.found.Perm())
		if err != nil {
			return nil, err
		}
		m.products = append(m.products, out)
		return t.format.NewIn(out, t.options), nil
	}
	out, err := m.create(t.name, !t.format.Readable(t.options), m.found.Perm())
	if err != nil {
		return nil, err
	}
	m.products = append(m.products, out)
	t.options.SpillDir = out.inDirectory()
	return t.format.New(out, t.options)
}

// sink is that of all targets.
func (m *making) sink() stream.Sink {
	var sinks []stream.Sink
	for _, o := range m.outputs {
		sinks = append(sinks, o)
	}
	return stream.Tee(sinks...)
}

// tell writes the ledger of all outputs, if that was asked for.
func (m *making) tell(w *written) error {
	if m.ledger == nil {
		return nil
	}
	return writeJSON(m.ledger, w.losses())
}

// spillDir is a directory for temporary files of what becomes these targets: it
// lies where there must be room anyway.
func spillDir(targets []target) string {
	for _, t := range targets {
		if t.name != "-" {
			return t.room()
		}
	}
	return temporary()
}
