package chunks

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"gprof/rawformat"
)

// order sorts the chunks by range start and leaves out copies and overlaps. A process
// never hands out an index twice, so of two chunks with the same range one is a copy, or
// of an earlier use of its file.
func (o *opening) order() {
	o.p.Chunks = slices.DeleteFunc(o.p.Chunks, o.part())
	images := o.p.Chunks
	slices.SortFunc(images, func(a, b *Image) int { // the latest use first
		return cmp.Or(cmp.Compare(b.Header.Epoch, a.Header.Epoch), cmp.Compare(a.Name, b.Name))
	})
	var kept []*Image // by range, none overlaps another
	for _, im := range images {
		at, _ := slices.BinarySearchFunc(kept, im, func(k, im *Image) int {
			return cmp.Compare(k.End(), im.Header.RangeStart+1)
		})
		if at == len(kept) || kept[at].Header.RangeStart >= im.End() {
			kept = slices.Insert(kept, at, im)
			continue
		}
		kept[at] = o.choose(kept[at], im)
	}
	o.p.Chunks = kept
	slices.SortFunc(o.p.LeftOut, func(a, b *Image) int {
		return cmp.Or(cmp.Compare(a.Header.RangeStart, b.Header.RangeStart), cmp.Compare(a.Name, b.Name))
	})
}

// part divides chunks of which there are several parts, as slices of one recording have them, among these, and returns a
// function that says which parts are not needed. Each is read from its beginning, where the pages are that the rest of it
// refers to, and up to that of the next one.
func (o *opening) part() (unneeded func(*Image) bool) {
	parts := map[rawformat.Header][]*Image{} // by chunk
	for _, im := range o.p.Chunks {
		im.until = 0
		chunk := chunkOf(im.Header)
		parts[chunk] = append(parts[chunk], im)
	}
	without := map[*Image]bool{}
	for _, all := range parts {
		slices.SortFunc(all, byRange)
		if !slices.ContainsFunc(all, func(im *Image) bool { return !sameUse(im.Header, all[0].Header) }) {
			continue // copies, or the only one
		}
		last := all[0]
		for _, im := range all[1:] {
			switch from := im.Header.RangeStart - last.Header.RangeStart; {
			case sameUse(im.Header, last.Header):
				better := o.choose(last, im)
				without[im], without[last] = better == last, better == im
				last = better
			case im.committed() <= last.committed():
				without[im] = true
			case im.Header.RangeStart >= last.End() || from%rawformat.PageSize != 0: // nothing to share, or no slices
				last = im
			default:
				last.until, last = im.Header.RangeStart, im
			}
		}
	}
	return func(im *Image) bool { return without[im] }
}

// chunkOf is what the headers of all parts of a chunk have in common.
func chunkOf(h rawformat.Header) rawformat.Header {
	h.RangeStart, h.Capacity, h.FirstBlock = 0, 0, 0
	h.Commit, h.State, h.Close = 0, 0, rawformat.Anchor{}
	return h
}

// byRange sorts parts by where they begin, of those that begin together the longest first.
func byRange(a, b *Image) int {
	return cmp.Or(cmp.Compare(a.Header.RangeStart, b.Header.RangeStart), cmp.Compare(b.committed(), a.committed()), cmp.Compare(a.Name, b.Name))
}

// markCut marks the chunks of which a slice left out the front.
func (p *Process) markCut() {
	fronts := map[uint64]bool{} // by epoch
	for _, im := range p.LeftOut {
		fronts[im.Header.Epoch] = true
	}
	for _, im := range p.Chunks {
		im.Cut = fronts[im.Header.Epoch]
	}
}

// known returns all chunks by range start, including those of which only the header is
// left.
func (p *Process) known() []*Image {
	all := slices.Concat(p.Chunks, p.LeftOut)
	slices.SortStableFunc(all, func(a, b *Image) int { return cmp.Compare(a.Header.RangeStart, b.Header.RangeStart) })
	return all
}

// choose returns the better of two images that hold the same indexes. The epoch of the
// second is not higher than that of the first.
func (o *opening) choose(a, b *Image) *Image {
	if !sameUse(a.Header, b.Header) {
		o.report(Problem{Class: Damaged, Where: b.where(), What: "overlaps " + a.where() + ", which is later",
			Blocks: int64(b.Header.Commit.Blocks()), Bytes: int64(b.Header.Commit.Offset())})
		return a
	}
	if worth(b) > worth(a) {
		a, b = b, a
	}
	o.report(Problem{Class: Duplicate, Where: b.where(), What: "same as " + a.where(),
		Blocks: int64(b.Header.Commit.Blocks()), Bytes: int64(b.Header.Commit.Offset())})
	return a
}

// sameUse reports whether two headers are of the same use of a chunk: everything that was
// fixed when it was opened is equal.
func sameUse(a, b rawformat.Header) bool {
	a.Commit, a.State, a.Close = b.Commit, b.State, b.Close
	return a == b
}

// worth is how many bytes of an image can be read; proven ones count twice.
func worth(im *Image) (bytes int64) {
	var c content
	if c.load(im) != nil {
		return 0
	}
	for i, p := range c.pages {
		bytes += int64(p.verdict) * int64(p.end-pageStart(i))
	}
	return bytes
}

// gaps reports what is missing between the process' range start and its hand-out mark, as
// far as these are known:
//  1. Everything below the range start was discarded.
//  2. The latest header, or the exit record, says how many chunks were discarded. Those
//     that are not below the range start are the lowest missing ones, because the oldest
//     are discarded first.
//  3. A chunk that was being reused is discarded as well, though no header says so.
//  4. Anything else that is missing is a gap.
func (o *opening) gaps() {
	p := o.p
	discarded := o.discarded()
	known := p.known()
	at := p.Held
	if at == 0 && len(known) > 0 {
		at = known[0].Header.RangeStart
	}
	discarded -= min(discarded, max(at, 1)-1)
	for _, im := range known {
		discarded -= o.gap(at, im.Header.RangeStart, discarded)
		at = max(at, im.End())
	}
	if p.Exit != nil && at != 0 {
		o.gap(at, p.Exit.RangeEnd, discarded)
	}
}

// discarded is how many bytes of the index space were discarded, as far as known. All
// chunks of a process have the same capacity.
func (o *opening) discarded() uint64 {
	chunks, capacity := o.p.discarded()
	for _, pr := range o.p.Problems {
		if pr.Class == Stale {
			chunks++
		}
	}
	return chunks * capacity
}

// gap reports a missing range except for its first discarded bytes, and returns how many
// of these there were.
func (o *opening) gap(from, to, discarded uint64) uint64 {
	to = min(to, o.sure)
	if from >= to {
		return 0
	}
	discarded = min(discarded, to-from)
	if from += discarded; from < to {
		o.report(Problem{Class: Gap, Where: fmt.Sprintf("index %d to %d", from, to-1), What: "no chunk holds it",
			Blocks: -1, Bytes: int64(min(to-from, 1<<62))})
	}
	return discarded
}

// Removed reports whether everything that was recorded has been removed to make room.
func (p *Process) Removed() bool {
	return p.Exit != nil && p.Exit.Discarded > 0 && p.Exit.RangeStart >= p.Exit.RangeEnd && len(p.known()) == 0 && len(p.Rest) == 0
}

// Discarded is how much of a recording was discarded to make room, according to its own
// files: chunks, and their bytes.
func (p *Process) Discarded() (chunks, bytes int64) {
	told, capacity := p.discarded()
	for _, im := range p.known() {
		if im.End() <= p.Held && told > 0 { // it was copied before it was removed
			told--
		}
	}
	if capacity == 0 && p.Exit != nil {
		return int64(told), int64(min(p.Exit.RangeEnd, 1<<62))
	}
	return int64(told), int64(told * capacity)
}

// AfterDiscards is the oldest chunk that is younger than all that were discarded, as their gaps tell; nil if none was, or none
// is known. Chunks that were in use were kept, and may be older.
func (p *Process) AfterDiscards() (oldest *Image) {
	known := p.known()
	if told, _ := p.discarded(); told == 0 || len(known) == 0 {
		return nil
	}
	end := max(1, p.Held)
	for _, im := range known {
		if im.Header.RangeStart > end {
			oldest = im
		}
		end = max(end, im.End())
	}
	return oldest
}

// discarded is how many chunks were discarded according to headers, meta and exit, and
// the capacity of a chunk, 0 if it is not known.
func (p *Process) discarded() (chunks, capacity uint64) {
	chunks = min(p.Number(rawformat.MetaDiscarded), 1<<32)
	for _, im := range p.known() {
		chunks = max(chunks, uint64(im.Header.Discarded))
		capacity = max(capacity, uint64(im.Header.Capacity))
	}
	if p.Exit != nil {
		chunks = max(chunks, min(p.Exit.Discarded, 1<<32))
	}
	return chunks, capacity
}

// Join adds to p what only q holds, another copy of the same process: chunks that the
// recorder has discarded since or that a slice left out, and dictionaries of other
// generations. If both are single chunks, what is missing around them is still not a
// gap. Join returns how many chunks were added.
func (p *Process) Join(q *Process) (added int) {
	have := map[uint64][]*Image{} // by epoch, of which each use of a file has its own
	for _, im := range p.Chunks {
		have[im.Header.Epoch] = append(have[im.Header.Epoch], im)
	}
	for _, im := range q.Chunks {
		parts := have[im.Header.Epoch]
		if len(parts) > 0 && covered(im, parts) {
			continue
		}
		parts = slices.DeleteFunc(parts, func(of *Image) bool { return covered(of, []*Image{im}) })
		parts = append(parts, im)
		slices.SortFunc(parts, byRange)
		have[im.Header.Epoch] = parts
		added++
	}
	if added == 0 {
		return 0
	}
	p.Chunks = slices.Concat(slices.Collect(maps.Values(have))...)
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

// EndsLeftOut reports whether a slice left out the end of a chunk that is open there, or all of such a one. Chunks that were
// closed tell nothing: those that others wrote to may end later, whatever the order of their indexes.
func (p *Process) EndsLeftOut() bool {
	ends := map[uint64]uint64{} // of what was kept, by epoch
	for _, im := range p.Chunks {
		ends[im.Header.Epoch] = max(ends[im.Header.Epoch], im.End())
	}
	return slices.ContainsFunc(p.LeftOut, func(im *Image) bool {
		return !im.Closed && im.Header.RangeStart >= ends[im.Header.Epoch] && im.Header.Commit.Blocks() > 0
	})
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

// ofWhole reports whether a problem is about what is missing among all files.
func (pr Problem) ofWhole() bool {
	return pr.Class == Gap || pr.Class == LeftOut || pr.Class == Missing && (KindOf(pr.Where) == MetaFile || KindOf(pr.Where) == DictFile)
}
