package keeper

import (
	"fmt"

	"gprof/rawformat"
	"gprof/recorder/internal/page"
)

// pageShare is how many bytes of the limit there must be for each page, which takes up to 1
// KiB in each half of the ring.
const pageShare = 16 << 10

// pageKeeper restates open pages before their blocks are discarded. It belongs to the
// keeper.
type pageKeeper struct {
	opened int    // how many pages had ever been opened at the last look
	floor  uint64 // no open page's last block lay below this index then
	warned bool   // it has been logged that there are too many
}

// round states the pages that this recording does not have yet, or will soon discard.
func (p *pageKeeper) round(k *Keeper) {
	if !k.config.Markers {
		return
	}
	fresh, turned := page.Opened(), p.nearDiscard(k)
	if fresh == 0 || fresh == p.opened && !turned {
		return
	}
	p.opened = fresh
	if turned {
		p.floor = k.middle()
	}
	for _, open := range p.list(k) {
		open.Keep(k.rec, p.floor)
		if k.ring.Low() {
			k.maintainRing()
		}
	}
}

// nearDiscard reports whether blocks of pages may be discarded soon, which can't be before
// the ring has grown.
func (p *pageKeeper) nearDiscard(k *Keeper) bool {
	start, end := k.ring.RangeStart(), k.ring.RangeEnd()
	return p.floor < start+(end-start)/4 && (start > 1 || end > uint64(k.limit)/4)
}

// list returns the open pages that are restated.
func (p *pageKeeper) list(k *Keeper) []*page.Page {
	most := int(k.limit / pageShare)
	list, all := page.List(most)
	if !all && !p.warned {
		p.warned = true
		k.rec.Log(rawformat.LogWarn, fmt.Sprintf("pages: more than %d are open; those opened last are forgotten when the ring has turned", len(list)))
	}
	return list
}
