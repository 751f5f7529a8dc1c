package ingest

import (
	"fmt"
	"io"
	"slices"

	"gprof/ingest/pack"
)

// Callers of [Found.Pack] need these of package pack.
type (
	PackOptions = pack.Options
	PackSummary = pack.Summary
	PackSpan    = pack.Span
)

// Pack writes all processes into one packed archive, including what worse copies have beyond the
// better ones; see [pack.Write]. Of a time it holds the execution traces that may have events of it.
func (f *Found) Pack(w io.Writer, o PackOptions) (PackSummary, error) {
	if err := f.ours("packed"); err != nil {
		return PackSummary{}, err
	}
	all := make([]pack.Process, 0, len(f.Processes)+len(f.twice))
	for _, p := range slices.Concat(f.Processes, f.twice, f.removed) {
		q := p.packable()
		q.Without = p.tracesBeyond(o.Span)
		all = append(all, q)
	}
	return pack.Write(w, all, o)
}

// Unpack writes the files of all processes into dir, which becomes a session directory; see
// [pack.Unpack]. It does not make dir: an interrupt that removes it in between ends the work.
func (f *Found) Unpack(dir string, report func(error)) error {
	if err := f.ours("unpacked"); err != nil {
		return err
	}
	for _, p := range slices.Concat(f.Processes, f.removed) {
		if err := pack.Unpack(dir, p.packable(), report); err != nil {
			return err
		}
	}
	f.joinCopies() // to know what was left
	for _, q := range f.twice {
		if q.lent > 0 {
			report(fmt.Errorf("%s: not unpacked, but for what a longer copy of the process holds, too; merge both first", q.Location))
		}
	}
	return nil
}

func (p *Process) packable() pack.Process {
	q := pack.Process{Instance: p.Instance, FS: p.files, Dir: p.Dir, Live: p.Alive, Only: p.only}
	q.Snapshot = p.Snapshot()
	return q
}

// tracesBeyond are the files of execution traces without events of a span.
func (p *Process) tracesBeyond(span PackSpan) (names []string) {
	if span == (PackSpan{}) {
		return nil
	}
	for _, w := range p.Traces {
		f, _ := p.openTrace(w)
		if f == nil {
			continue
		}
		if row := f.Process(nil); row.Clock.By != "" && (int64(row.Start) > span.To || int64(row.End) < span.From) {
			names = append(names, w.Name)
		}
	}
	return names
}
