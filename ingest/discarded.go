package ingest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"gprof/stream"
)

// Discards is what of a process made way for what came later, in its own ring or in
// that of its session. It was meant to go: no loss.
type Discards struct {
	Chunks, Bytes int64
	// From and To are when what went was recorded; 0: not known.
	From, To stream.Time
}

// Discards is what is gone of a process; its Chunks are 0 if nothing is.
func (p *Process) Discards() (d Discards) {
	if p.foreign != nil {
		return d
	}
	if d.Chunks, d.Bytes = p.Process.Discarded(); d.Chunks == 0 {
		return Discards{}
	}
	row := p.row()
	d.From, d.To = row.Start, p.From()
	if p.Removed() {
		d.To = row.End
	}
	return d
}

// span is when it was recorded, for people.
func (d *Discards) span() string {
	text := func(at stream.Time) string { return time.Unix(0, int64(at)).UTC().Format("2006-01-02 15:04:05.000") }
	switch {
	case d.From == 0 && d.To == 0:
		return "at a time that nothing tells"
	case d.From == 0:
		return "until " + text(d.To) + " UTC"
	case d.To == 0:
		return "from " + text(d.From) + " UTC"
	}
	return "from " + text(d.From) + " to " + text(d.To) + " UTC"
}

// noteDiscards adds a line for each process of which something is gone.
func (f *Found) noteDiscards(chosen []*Process, ledger *stream.Ledger) {
	for _, p := range slices.Concat(chosen, f.removed) {
		d := p.Discards()
		where := d.span()
		if p.Removed() {
			where = fmt.Sprintf("all of pid %d, %s", p.Pid, where)
		}
		if d.Chunks > 0 {
			ledger.Add(stream.Line{Process: p.Name(), Reason: stream.ReasonDiscarded, What: "chunks", Where: where, Count: d.Chunks, Bytes: d.Bytes})
		}
	}
}

// Gone are the processes of which only a tomb is left, see package chunks.
func (f *Found) Gone() []*Process { return f.removed }

// Title is the process as people know it.
func (p *Process) Title() string {
	row := p.row()
	return row.Title()
}

// setAside takes tombs out of the processes. Of one that another input still has,
// or that is given twice, nothing is told.
func (f *Found) setAside() {
	slices.SortStableFunc(f.removed, func(a, b *Process) int { return cmp.Compare(a.Instance, b.Instance) })
	f.removed = slices.CompactFunc(f.removed, func(a, b *Process) bool { return a.Instance == b.Instance })
	held := make(map[uint64]bool, len(f.Processes))
	for _, p := range f.Processes {
		held[p.Instance] = true
	}
	f.removed = slices.DeleteFunc(f.removed, func(p *Process) bool { return held[p.Instance] })
}
