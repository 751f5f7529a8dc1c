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
)

// order sorts the processes and sets copies aside: of two with one instance
// the one that goes on longer is kept. Of what several execution traces have, one
// keeps it.
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

// sort puts processes in the order in which they began.
func (f *Found) sort() {
	slices.SortFunc(f.Processes, func(a, b *Process) int {
		return cmp.Or(cmp.Compare(a.began(), b.began()), cmp.Compare(a.Instance, b.Instance))
	})
}

// joinCopies gives each process what its other copies hold besides: dumps from
// different times are one recording, of which each has what the ring held then.
// Single chunk files that were given by name are all that is wanted.
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

// compareCopies orders processes by instance, and puts the better of two copies
// of one first: that which goes on longer, else that with more whole blocks. Of
// two that differ in another way it is always the same one, whichever was given
// first.
func compareCopies(a, b *Process) int {
	c := cmp.Or(cmp.Compare(a.Instance, b.Instance), cmp.Compare(rangeEnd(b), rangeEnd(a)), cmp.Compare(size(b), size(a)))
	if c != 0 || a.disk != "" && a.disk == b.disk {
		return c
	}
	x, y := a.worth(), b.worth()
	return cmp.Or(cmp.Compare(y.blocks, x.blocks), cmp.Compare(x.digest, y.digest))
}

// worth is what is in a process' files.
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

// began is the real time of the first reading of p's clocks, 0 if it has none.
func (p *Process) began() int64 {
	if p.foreign != nil {
		return int64(p.foreign.row().Start)
	}
	if len(p.anchors) == 0 {
		return 0
	}
	return p.anchors[0].Realtime
}

// Usable returns an error if all that was found is damaged: no process has a
// chunk that can be read. A process that has not recorded anything is fine.
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

// rangeEnd is the index past the last committed byte, size the committed bytes.
func rangeEnd(p *Process) (end uint64) {
	for _, im := range p.Chunks {
		end = max(end, im.Header.RangeStart+uint64(im.Header.Commit.Offset()))
	}
	return end
}

func size(p *Process) (n uint64) {
	if p.foreign != nil {
		return uint64(p.foreign.size)
	}
	for _, im := range p.Chunks {
		n += uint64(im.Header.Commit.Offset())
	}
	return n
}

// Bytes is how many payload bytes of p are committed; of a file of another tool,
// its size.
func (p *Process) Bytes() int64 {
	if p.foreign != nil {
		return p.foreign.size
	}
	return int64(size(p))
}
