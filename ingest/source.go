package ingest

import (
	"fmt"

	"gprof/decode"
	"gprof/stream"
)

// Open finds recordings in the inputs and returns their source. Warnings are
// in found; the error is that of [Find].
func Open(inputs []string, o Options) (src stream.Source, found *Found, err error) {
	found, err = Find(inputs, o)
	if err != nil {
		return nil, nil, err
	}
	return found.Source(), found, nil
}

// Name is the process' instance as it stands in ledgers and directories.
func (p *Process) Name() string { return fmt.Sprintf("%016x", p.Instance) }

// Source returns the source of all processes. It may be called once.
func (f *Found) Source() stream.Source {
	tables := new(stream.Tables)
	f.align(&tables.Ledger)
	f.noteInputs(&tables.Ledger)
	f.describe(tables)
	names := decode.NewNames(tables)
	sources := make([]stream.Source, len(f.Processes))
	for i, p := range f.Processes {
		sources[i] = decode.New(names, p.Process, stream.ProcessID(i+1), p.clock)
	}
	return stream.Merge(tables, sources...)
}

func (f *Found) noteInputs(ledger *stream.Ledger) {
	for _, p := range f.twice {
		ledger.Add(stream.Line{Process: p.Name(), Reason: stream.ReasonDuplicate, What: "processes", Count: 1, Bytes: int64(size(p))})
	}
	for _, w := range f.Warnings {
		ledger.Add(w.line())
	}
}

// describe fills the process table; parents are found by their instance.
func (f *Found) describe(tables *stream.Tables) {
	byInstance := map[uint64]stream.ProcessID{}
	for i, p := range f.Processes {
		byInstance[p.Instance] = stream.ProcessID(i + 1)
	}
	for _, p := range f.Processes {
		row := decode.Describe(p.Process, p.clock)
		if parent := decode.Parent(p.Process); parent != p.Instance {
			row.Parent = byInstance[parent]
		}
		tables.Processes = append(tables.Processes, row)
	}
}
