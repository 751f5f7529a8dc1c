package ingest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"gprof/decode"
	"gprof/stream"
)

// Discards is what of a process was overwritten on purpose, in its ring or its session's. It is no
// loss.
type Discards struct {
	Chunks, Bytes int64
	// From and To are when that was recorded; 0: unknown.
	From, To stream.Time
	// Why is why nothing is left, if there is more to say than that the limit was reached.
	Why string
}

// Discards is what was overwritten of a process; no Chunks if nothing was.
func (p *Process) Discards() (d Discards) {
	if p.foreign != nil {
		return d
	}
	if d.Chunks, d.Bytes = p.Process.Discarded(); d.Chunks == 0 {
		return Discards{}
	}
	row := p.Row()
	d.From, d.To = row.Start, p.Since()
	for _, im := range p.LeftOut { // the recorder had it still
		if at := p.clock.At(im.Header.Open.Monotonic); im.Header.Open.Monotonic != 0 && (d.To == 0 || at < d.To) {
			d.To = max(d.From, at)
		}
	}
	if p.Removed() {
		d.To, d.Why = row.End, decode.MadeWay(p.Process)
	}
	return d
}

// span says when it was recorded.
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

// noteDiscards adds a ledger line for each process that was partly overwritten.
func (f *Found) noteDiscards(chosen []*Process, ledger *stream.Ledger) {
	for _, p := range slices.Concat(chosen, f.removed) {
		d := p.Discards()
		where := d.span()
		if p.Removed() {
			where = fmt.Sprintf("all of pid %d, %s", p.Pid, where)
			if d.Why != "" {
				where += ": " + d.Why
			}
		}
		if d.Chunks > 0 {
			ledger.Add(stream.Line{Process: p.Name(), Reason: stream.ReasonDiscarded, What: "chunks", Where: where, Count: d.Chunks, Bytes: d.Bytes})
		}
	}
}

// Gone are the processes of which only a tomb is left, see package chunks.
func (f *Found) Gone() []*Process { return f.removed }

// Title names the process for people.
func (p *Process) Title() string {
	row := p.Row()
	return row.Title()
}

// setAside removes tombs of processes that another input still has, and duplicates.
func (f *Found) setAside() {
	slices.SortStableFunc(f.removed, func(a, b *Process) int { return cmp.Compare(a.Instance, b.Instance) })
	f.removed = slices.CompactFunc(f.removed, func(a, b *Process) bool { return a.Instance == b.Instance })
	held := make(map[uint64]bool, len(f.Processes))
	for _, p := range f.Processes {
		held[p.Instance] = true
	}
	f.removed = slices.DeleteFunc(f.removed, func(p *Process) bool { return held[p.Instance] })
}

// From is when the oldest data of p was recorded, on the clock of the run, which [Found.Source]
// sets; 0 if there is none.
func (p *Process) From() stream.Time {
	if m := decode.FirstTime(p.Process); m != 0 {
		return p.clock.At(m)
	}
	return 0
}

// Since is the time from which on nothing of p was discarded, as [Process.From] is.
func (p *Process) Since() stream.Time {
	from := p.From()
	if im := p.AfterDiscards(); im != nil && from != 0 && im.Header.Open.Monotonic != 0 {
		from = max(from, p.clock.At(im.Header.Open.Monotonic))
	}
	return from
}

// InPlace reports whether p is read where it lies, in a directory or a packed file, and not from an
// archive that was unpacked, or another tool's file.
func (p *Process) InPlace() bool {
	return p.foreign == nil && (p.packed() || p.disk != "")
}

// packed reports whether p lies in a packed file.
func (p *Process) packed() bool {
	_, ok := p.files.(snapshots)
	return ok
}

// snapshots are the files of an archive that knows which processes were recording when it was packed.
type snapshots interface{ Live(instance uint64) bool }

// Snapshot reports whether p was recording when its archive was packed, or at the end of a slice, so
// that nothing tells how it ended.
func (p *Process) Snapshot() bool {
	if p.EndsLeftOut() && p.Exit == nil {
		return true
	}
	a, ok := p.files.(snapshots)
	return ok && a.Live(p.Instance)
}
