package ingest

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	"gprof/chunks"
	"gprof/decode"
	"gprof/stream"
)

// order sorts the processes and sets copies aside: of those with one instance the one that goes on
// longest is kept. Of what several execution traces have, one keeps it.
func (f *Found) order() {
	for _, p := range f.Processes {
		p.anchors = decode.Anchors(p.Process)
	}
	slices.SortStableFunc(f.Processes, compareCopies)
	f.Processes = slices.CompactFunc(f.Processes, func(p, kept *Process) bool {
		if kept.Instance == p.Instance {
			f.twice = append(f.twice, p)
		}
		return kept.Instance == p.Instance
	})
	f.trimTraces()
	f.sort()
}

// sort sorts processes by when they began.
func (f *Found) sort() {
	slices.SortFunc(f.Processes, func(a, b *Process) int {
		return cmp.Or(cmp.Compare(a.began(), b.began()), cmp.Compare(a.Instance, b.Instance))
	})
}

// joinCopies gives each process what its copies have beyond it: dumps from different times are one
// recording, each with what the ring held then. Chunk files given by name are not extended.
func (f *Found) joinCopies() {
	kept := map[uint64]*Process{}
	for _, p := range f.Processes {
		kept[p.Instance] = p
	}
	for _, q := range f.twice {
		p := kept[q.Instance]
		if p == nil { // a trace, of which others have all
			continue
		}
		before := size(p)
		if p.only == nil && p.Join(q.Process) > 0 {
			q.lent = int64(size(p) - before)
			p.anchors = decode.Anchors(p.Process)
		}
	}
	f.sort()
}

// compareCopies orders processes by instance, and the better of two copies first: the one that goes
// on longer, else with more whole blocks. Other differences are ordered independently of the order
// of inputs.
func compareCopies(a, b *Process) int {
	c := cmp.Or(cmp.Compare(a.Instance, b.Instance), cmp.Compare(rangeEnd(b), rangeEnd(a)), cmp.Compare(size(b), size(a)))
	if c != 0 || a.disk != "" && a.disk == b.disk {
		return c
	}
	x, y := a.worth(), b.worth()
	return cmp.Or(cmp.Compare(y.blocks, x.blocks), cmp.Compare(x.digest, y.digest))
}

// worth is the contents of a process's files.
type worth struct {
	blocks int64 // whole ones
	digest string
}

// worth reads all files of a process, once.
func (p *Process) worth() *worth {
	if p.foreign != nil { // its instance is that of its content
		return new(worth)
	}
	if p.known != nil {
		return p.known
	}
	p.known = &worth{blocks: p.verify().Blocks}
	entries, _ := fs.ReadDir(p.files, p.Dir) // what cannot be read has no digest
	h := sha256.New()
	for _, e := range entries {
		kind, _ := chunks.Named(e.Name())
		if kind.MaxSize() == 0 || !e.Type().IsRegular() {
			continue
		}
		if data, err := p.files.Open(path.Join(p.Dir, e.Name())); err == nil {
			fmt.Fprintf(h, "%s\x00", e.Name())
			io.Copy(h, io.LimitReader(data, kind.MaxSize()))
			data.Close()
		}
	}
	p.known.digest = string(h.Sum(nil))
	return p.known
}

// began is the real time of p's first clock reading, 0 for none.
func (p *Process) began() int64 {
	if p.foreign != nil {
		return int64(p.foreign.start)
	}
	if len(p.anchors) == 0 {
		return 0
	}
	return p.anchors[0].Realtime
}

// Usable returns an error if everything found is damaged: no process has a readable chunk, and some
// have had any.
func (f *Found) Usable() error {
	var first *chunks.Problem
	for _, p := range f.Processes {
		if len(p.Chunks) > 0 || p.foreign != nil {
			return nil
		}
		for i := range p.Problems {
			if first == nil && !harmless[p.Problems[i].Class] {
				first = &p.Problems[i]
			}
		}
	}
	if first == nil {
		return nil
	}
	return fmt.Errorf("%w: no chunk can be read: %v", ErrNothing, first)
}

// rangeEnd is the index after the last committed byte.
func rangeEnd(p *Process) (end uint64) {
	for _, im := range p.Chunks {
		end = max(end, im.Header.RangeStart+uint64(im.Header.Commit.Offset()))
	}
	return end
}

// size is the committed bytes.
func size(p *Process) (n uint64) {
	if p.foreign != nil {
		return uint64(p.foreign.size)
	}
	for _, im := range p.Chunks {
		n += uint64(im.Payload())
	}
	return n
}

// Bytes is the committed payload of p; for a foreign file, its size.
func (p *Process) Bytes() int64 {
	if p.foreign != nil {
		return p.foreign.size
	}
	return int64(size(p))
}

// findTwins finds for each process sampled from outside its own recording, or the sampler that was
// first. They may be of different sessions.
func findTwins(rows []stream.Process, processes []*Process, ledger *stream.Ledger) {
	same := map[string][]int{}
	for i, p := range processes {
		if p.foreign == nil {
			if key := decode.Machine(p.Process); key != "" {
				same[key] = append(same[key], i)
			}
		}
	}
	for i, p := range processes {
		if p.foreign != nil || !decode.IsSampled(p.Process) {
			continue
		}
		for _, j := range same[decode.Machine(p.Process)] {
			if !prefers(rows, processes, i, j) {
				continue
			}
			rows[i].Twin = rows[j].Instance
			ledger.Add(stream.Line{Process: p.Name(), Reason: stream.ReasonTwin, What: "processes", Where: fmt.Sprintf("sums take the samples and waits of %016x", rows[j].Instance), Count: 1})
			break
		}
	}
}

// featureWaits is how a recorder says that it looks at waits.
const featureWaits = "waits"

// prefers reports whether the samples of j count instead of those of i, which was sampled from
// outside: j recorded itself, or was sampled earlier, at the same time.
func prefers(rows []stream.Process, processes []*Process, i, j int) bool {
	a, b := &rows[i], &rows[j]
	if i == j || b.Interval == 0 && !slices.Contains(b.Settings.Features, featureWaits) || b.Twin != 0 || isOver(b, processes[j], a.Start) || isOver(a, processes[i], b.Start) {
		return false
	}
	return !decode.IsSampled(processes[j].Process) || j < i
}

// isOver reports whether a process had ended at that time. Its row doesn't tell that of one that still records, or was
// killed: its last event does.
func isOver(row *stream.Process, p *Process, at stream.Time) bool {
	if row.End >= at {
		return false
	}
	last, ok := p.latest()
	return !ok || last < at
}
