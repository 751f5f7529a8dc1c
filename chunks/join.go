package chunks

import (
	"cmp"
	"slices"
)

// Join adds to p what another copy of the same process holds besides: chunks that
// p's recorder has discarded since or a slice left out, and dictionaries of
// generations that p does not have. Chunks that are missing around one that was
// opened alone are still no gaps. It returns how many chunks were added.
func (p *Process) Join(q *Process) (added int) {
	have := map[uint64]int{} // by epoch, of which each use of a file has its own: place in p.Chunks
	for i, im := range p.Chunks {
		have[im.Header.Epoch] = i
	}
	for _, im := range q.Chunks {
		i, ok := have[im.Header.Epoch]
		switch {
		case !ok:
			have[im.Header.Epoch] = len(p.Chunks)
			p.Chunks = append(p.Chunks, im)
		case im.Header.RangeStart < p.Chunks[i].Header.RangeStart && im.committed() >= p.Chunks[i].committed():
			p.Chunks[i] = im // of which p has what a slice left
		default:
			continue
		}
		added++
	}
	if added == 0 {
		return 0
	}
	sorted := slices.SortedFunc(slices.Values(p.Chunks), func(a, b *Image) int { return cmp.Compare(a.Header.RangeStart, b.Header.RangeStart) })
	p.LeftOut = slices.DeleteFunc(p.LeftOut, func(im *Image) bool { return covered(im, sorted) })
	p.joinDicts(q)
	p.Problems = slices.DeleteFunc(p.Problems, Problem.ofWhole)
	o := opening{p: p}
	o.order()
	p.markCut()
	if p.alone = p.alone && q.alone; !p.alone {
		o.gaps()
		o.missing()
	}
	return added
}

// joinDicts adds the generations that p does not have.
func (p *Process) joinDicts(q *Process) {
	for _, d := range q.Dicts {
		if !slices.ContainsFunc(p.Dicts, func(e *Dict) bool { return e.Generation == d.Generation }) {
			p.Dicts = append(p.Dicts, d)
		}
	}
	slices.SortFunc(p.Dicts, func(a, b *Dict) int { return cmp.Compare(a.Generation, b.Generation) })
}

// ofWhole reports whether a problem is what all files together lack.
func (pr Problem) ofWhole() bool {
	return pr.Class == Gap || pr.Class == LeftOut || pr.Class == Missing && (kindOf(pr.Where) == MetaFile || kindOf(pr.Where) == DictFile)
}
